//! Finite projective planes: the lines through the sites.

use crate::difference::{ORDER_MAX, is_prime_power, order_for, perfect, points};
use crate::measure::{self, LoadBounds, ratio};
use crate::price::DEAD;
use crate::{Prices, QuorumError, QuorumSystem, Shape, SiteId, SiteSet, check_sites};

/// The lines of a projective plane whose points are the sites (Maekawa 1985).
///
/// The plane of order q has q² + q + 1 points and as many lines, of q + 1 points each; any two meet
/// in exactly one. No system spreads its load better. There is one for every q that is a power of a
/// prime, so for 7, 13, 21, 31, 57, 73, 91, 133, 183, 273, 307, … sites. Any other n *folds* the
/// next larger plane: point i is played by site i mod n. Lines still meet, some become shorter, and
/// those that then contain another are left out.
///
/// Line i is B + i for a perfect difference set B with 0 in it, so line i is the quorum of site i.
///
/// ```
/// use quorate_quorum::{Plane, QuorumSystem};
/// let lines: Vec<_> = Plane::new(7)?.quorums().map(|line| line.to_string()).collect();
/// assert_eq!(lines[..3], ["{1 2 4}", "{2 3 5}", "{3 4 6}"]);
/// assert_eq!(Plane::new(10)?.name(), "plane of 10, folded from 13");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plane {
    n: usize,
    /// B, as points of the plane.
    base: Vec<usize>,
    /// How many points, and lines, the plane has: n or more.
    points: usize,
    /// Which lines the minimal form has, unless it has all of them.
    fewer: Option<Fewer>,
}

/// The lines of a folded plane in which some lines contain others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fewer {
    /// The lines of the minimal form.
    lines: Vec<usize>,
    /// The line of each site.
    own: Vec<usize>,
}

impl Plane {
    /// The lines of the plane with `n` points, or of the next larger one folded onto `n` sites.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn new(n: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        let order = order_for(n);
        let mut plane = Self { n, base: perfect(order), points: points(order), fewer: None };
        if plane.is_crowded() {
            let lines = plane.minimal();
            if lines.len() < plane.points {
                plane.fewer = Some(Fewer { own: plane.owners(&lines), lines });
            }
        }
        Ok(plane)
    }

    /// The lines of the plane of this order: order² + order + 1 sites.
    ///
    /// # Errors
    ///
    /// [`QuorumError::NoPlane`] unless the order is a power of a prime, and its plane has no more
    /// points than [`SITES_MAX`](crate::SITES_MAX).
    pub fn of_order(order: usize) -> Result<Self, QuorumError> {
        if order > ORDER_MAX || !is_prime_power(order) {
            return Err(QuorumError::NoPlane(order));
        }
        Self::new(points(order))
    }

    /// The points on a line, before they are folded.
    fn points_of(&self, line: usize) -> impl Iterator<Item = usize> + '_ {
        self.base.iter().map(move |at| (at + line) % self.points)
    }

    /// The sites on a line, one as often as it plays several of its points.
    fn sites_of(&self, line: usize) -> impl Iterator<Item = SiteId> + '_ {
        self.points_of(line).map(|point| SiteId::new(point % self.n))
    }

    /// Whether all sites of a line are in `set`.
    fn is_inside(&self, line: usize, set: &SiteSet) -> bool {
        self.sites_of(line).all(|site| set.contains(site))
    }

    /// The lines of the minimal form, in order.
    fn lines(&self) -> impl Iterator<Item = usize> + '_ {
        let all = if self.fewer.is_none() { 0..self.points } else { 0..0 };
        self.fewer.iter().flat_map(|fewer| fewer.lines.iter().copied()).chain(all)
    }

    /// Whether a line is in the minimal form.
    fn is_left(&self, line: usize) -> bool {
        self.fewer.as_ref().is_none_or(|fewer| fewer.lines.binary_search(&line).is_ok())
    }

    /// The line of a site; where all lines are left, the one with its number.
    fn own(&self, site: SiteId) -> usize {
        self.fewer.as_ref().map_or(site.index(), |fewer| fewer.own[site.index()])
    }

    /// Whether a line may have all its points but one among those played by sites that play
    /// several; only such a line can lie inside another.
    ///
    /// Those points are neighbours in the circle of all points, and a line is a rotation of `base`:
    /// what it leaves out between two of its points, or three, must be as long as the rest of
    /// the circle. Large planes have no such line, and need not be searched for one.
    fn is_crowded(&self) -> bool {
        let shared = 2 * (self.points - self.n);
        let at = |place: usize| {
            self.base[place % self.base.len()] + place / self.base.len() * self.points
        };
        let gap = |place: usize| at(place + 2) - at(place);
        shared > 0
            && (shared >= self.points
                || (0..self.base.len()).any(|place| gap(place) > self.points - shared))
    }

    /// The sites that play several points of a line, once for each point too many, as a function
    /// of the line.
    ///
    /// Such points are n apart. Every distance occurs once in a line, so that there is one site at
    /// most, unless so few play the plane that distances of 2n matter too.
    fn played_twice(&self) -> impl Fn(usize) -> Vec<SiteId> + '_ {
        let shared = self.points - self.n;
        let is_first = |point: &usize| self.base.contains(&((*point + self.n) % self.points));
        let first = self.base.iter().copied().find(|point| shared > 0 && is_first(point));
        move |line| {
            if shared > self.n {
                let mut seen = SiteSet::new();
                return self.sites_of(line).filter(|site| !seen.insert(*site)).collect();
            }
            let point = first.map(|point| (point + line) % self.points);
            point.filter(|point| *point < shared).map(SiteId::new).into_iter().collect()
        }
    }

    /// A value of each point, twice around: the points of line i are then `base` from i on.
    fn around<T: Copy>(&self, value: impl Fn(usize) -> T) -> Vec<T> {
        (0..self.points).map(value).collect::<Vec<_>>().repeat(2)
    }

    fn line(&self, line: usize) -> SiteSet {
        self.sites_of(line).collect()
    }

    /// The lines through a site, starting with its own by number.
    fn lines_through(&self, site: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        (site..self.points).step_by(self.n).flat_map(move |point| {
            self.base.iter().map(move |at| (self.points + point - at) % self.points)
        })
    }

    /// The folded lines that contain no other, one of each that are equal.
    ///
    /// Two lines share one point. If all sites of one are on the other too, each further point of
    /// the first is played by a site that plays several: few lines can lie inside another.
    fn minimal(&self) -> Vec<usize> {
        let single = self.around(|point| point % self.n + self.n >= self.points);
        let inner = (0..self.points)
            .filter(|line| self.base.iter().filter(|at| single[*at + line]).take(2).count() <= 1);
        let mut minimal = vec![true; self.points];
        for inner in inner {
            let set = self.line(inner);
            for outer in (0..self.points).filter(|outer| *outer != inner) {
                let inside = set.iter().all(|site| self.sites_of(outer).any(|at| at == site));
                if inside && (outer > inner || !self.line(outer).is_subset(&set)) {
                    minimal[outer] = false;
                }
            }
        }
        (0..self.points).filter(|line| minimal[*line]).collect()
    }

    /// A line for each site: its own by number if that is left, else another through it that is
    /// still free, else any; and if there is none, a line inside its own by number.
    ///
    /// From the last site down, this finds different lines for all sites wherever there are enough.
    fn owners(&self, lines: &[usize]) -> Vec<usize> {
        let mut left = vec![false; self.points];
        for line in lines {
            left[*line] = true;
        }
        let mut free = left.clone();
        let mut own: Vec<_> = (0..self.n)
            .rev()
            .map(|site| {
                let mut through = self.lines_through(site).filter(|line| left[*line]);
                let line = through.clone().find(|line| free[*line]).or(through.next());
                let line = line.unwrap_or_else(|| self.line_inside(site, lines));
                free[line] = false;
                line
            })
            .collect();
        own.reverse();
        own
    }

    /// A line of the minimal form inside a line that is not in it.
    fn line_inside(&self, line: usize, lines: &[usize]) -> usize {
        let set = self.line(line);
        *lines
            .iter()
            .find(|line| self.is_inside(**line, &set))
            .expect("a line left out contains one that is not")
    }

    fn sizes(&self) -> (usize, usize) {
        let most = self.base.len();
        match &self.fewer {
            Some(fewer) => {
                let size = |line: &usize| self.line(*line).len();
                let sizes = || fewer.lines.iter().map(size);
                (sizes().min().unwrap_or(most), sizes().max().unwrap_or(most))
            }
            // Of a folded plane some lines have a site twice, but not all: see `played_twice`.
            None => (most - usize::from(self.n < self.points), most),
        }
    }
}

impl QuorumSystem for Plane {
    fn name(&self) -> String {
        if self.n == self.points {
            return format!("plane of {}", self.n);
        }
        format!("plane of {}, folded from {}", self.n, self.points)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        self.lines().any(|line| self.is_inside(line, set))
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        Box::new(self.lines().map(|line| self.line(line)))
    }

    fn min_size(&self) -> usize {
        self.sizes().0
    }

    fn max_size(&self) -> usize {
        self.sizes().1
    }

    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let cost = |site: SiteId| prices.of(site).unwrap_or(DEAD);
        let costs = self.around(|point| cost(SiteId::new(point % self.n)));
        let twice = self.played_twice();
        let price = |line: usize| {
            let twice: u64 = twice(line).into_iter().map(cost).sum();
            self.base.iter().map(|at| costs[at + line]).sum::<u64>() - twice
        };
        let (price, line) = self.lines().map(|line| (price(line), line)).min()?;
        (price < DEAD).then(|| self.line(line))
    }

    /// The site's own line, else the next live one through the site, else the next live one.
    ///
    /// Every other line has one point in common with its own, and the best to keep is the site
    /// itself. The lines through a point have no other in common: one that fails stops one of them.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n {
            return None;
        }
        let mut own = self.line(self.own(site));
        own.insert(site);
        if own.is_subset(live) {
            return Some(own);
        }
        let through = self.lines_through(site.index()).filter(|_| live.contains(site));
        let after = (site.index()..self.points).chain(0..site.index());
        let mut lines = through.chain(after).filter(|line| self.is_left(*line));
        lines.find(|line| self.is_inside(*line, live)).map(|line| self.line(line))
    }

    /// A line of a whole plane, if all sites cost the same; by search otherwise.
    fn transversal(&self, costs: &[u64]) -> Result<u64, QuorumError> {
        let equal = costs.iter().all(|cost| *cost == costs[0]);
        if self.n == self.points && equal {
            return Ok(self.base.len() as u64 * costs[0]);
        }
        measure::transversal_by_search(self, costs)
    }

    fn load_bounds(&self) -> LoadBounds {
        if self.n == self.points {
            return LoadBounds::exactly(ratio(self.base.len(), self.n));
        }
        measure::load_by_size(self)
    }

    /// Lines are rotations of one.
    fn shape(&self) -> Shape {
        Shape::ring(SiteId::all(self.n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shortcut by distances gives the same result as a search of all lines.
    #[test]
    fn large_planes_need_no_search() {
        for n in (1..=400).chain([993, 994, 1_500]) {
            let plane = Plane::new(n).expect("every number of sites fits");
            let lines = plane.minimal();
            assert_eq!(plane.lines().collect::<Vec<_>>(), lines, "{n}");
            let owners = plane.owners(&lines);
            assert_eq!(SiteId::all(n).map(|site| plane.own(site)).collect::<Vec<_>>(), owners);
            let sizes: Vec<_> = lines.iter().map(|line| plane.line(*line).len()).collect();
            let extremes = sizes.iter().min().copied().zip(sizes.iter().max().copied());
            assert_eq!(Some(plane.sizes()), extremes, "{n}");
            let twice = plane.played_twice();
            for line in &lines {
                let mut seen = SiteSet::new();
                let again = plane.sites_of(*line).filter(|site| !seen.insert(*site));
                assert_eq!(twice(*line), again.collect::<Vec<_>>(), "line {line} of {n}");
            }
        }
        let searched = (1..=2_000).filter(|n| Plane::new(*n).is_ok_and(|plane| plane.is_crowded()));
        assert_eq!(searched.max(), Some(42), "larger planes are not crowded");
    }

    #[test]
    fn a_pick_goes_through_its_site_while_it_can() {
        for n in [7, 13, 31, 100, 993, 1_000] {
            let plane = Plane::new(n).expect("every number of sites fits");
            for site in SiteId::all(n).step_by(1 + n / 50) {
                let mut live = SiteSet::full(n);
                for _ in 0..plane.base.len() / 2 {
                    let line = plane.pick_for(site, &live).expect("a line through it is left");
                    assert!(line.contains(site) && line.is_subset(&live), "{site} of {n}: {line}");
                    let lost = line.iter().find(|other| *other != site);
                    live.remove(lost.expect("a line has other sites"));
                }
                live.remove(site);
                let line = plane.pick_for(site, &live);
                assert_eq!(line.is_some(), plane.is_quorum(&live), "{site} of {n}");
            }
        }
    }
}

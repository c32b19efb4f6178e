//! Finite projective planes: the lines through the sites.

use crate::difference::{ORDER_MAX, is_prime_power, order_for, perfect, points};
use crate::measure::{self, LoadBounds, ratio};
use crate::price::{DEAD, nearest};
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
    /// The lines of the minimal form.
    lines: Vec<usize>,
    /// The line of each site.
    own: Vec<usize>,
    /// For each line of a folded plane the sites that play several of its points, once for each
    /// point too many.
    twice: Vec<Vec<SiteId>>,
    sizes: (usize, usize),
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
        let points = points(order);
        let sizes = (order + 1, order + 1);
        let all: Vec<_> = (0..points).collect();
        let own = all[..n].to_vec();
        let (base, twice) = (perfect(order), Vec::new());
        let mut plane = Self { n, base, points, lines: all, own, twice, sizes };
        if n < points {
            plane.lines = plane.minimal();
            plane.own = plane.owners();
            plane.twice = plane.played_twice();
            let sizes = plane.lines.iter().map(|line| order + 1 - plane.twice[*line].len());
            let least = sizes.clone().min().expect("a plane has lines");
            plane.sizes = (least, sizes.max().unwrap_or(least));
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

    /// See `twice`.
    fn played_twice(&self) -> Vec<Vec<SiteId>> {
        let mut last_line = vec![usize::MAX; self.n];
        let mut seen = |line: usize, site: SiteId| {
            std::mem::replace(&mut last_line[site.index()], line) == line
        };
        let of = |line: usize| self.sites_of(line).filter(|site| seen(line, *site)).collect();
        (0..self.points).map(of).collect()
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
    fn owners(&self) -> Vec<usize> {
        let mut left = vec![false; self.points];
        for line in &self.lines {
            left[*line] = true;
        }
        let mut free = left.clone();
        let mut own: Vec<_> = (0..self.n)
            .rev()
            .map(|site| {
                let mut through = self.lines_through(site).filter(|line| left[*line]);
                let line = through.clone().find(|line| free[*line]).or(through.next());
                let line = line.unwrap_or_else(|| self.line_inside(site));
                free[line] = false;
                line
            })
            .collect();
        own.reverse();
        own
    }

    /// A line of the minimal form inside a line that is not in it.
    fn line_inside(&self, line: usize) -> usize {
        let set = self.line(line);
        let inside = |line: &&usize| self.sites_of(**line).all(|site| set.contains(site));
        *self.lines.iter().find(inside).expect("a line left out contains one that is not")
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
        self.lines.iter().any(|line| self.sites_of(*line).all(|site| set.contains(site)))
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        Box::new(self.lines.iter().map(|line| self.line(*line)))
    }

    fn min_size(&self) -> usize {
        self.sizes.0
    }

    fn max_size(&self) -> usize {
        self.sizes.1
    }

    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let cost = |site: SiteId| prices.of(site).unwrap_or(DEAD);
        let costs = self.around(|point| cost(SiteId::new(point % self.n)));
        let price = |line: usize| {
            let twice = self.twice.get(line).into_iter().flatten().map(|site| cost(*site));
            self.base.iter().map(|at| costs[at + line]).sum::<u64>() - twice.sum::<u64>()
        };
        let (price, line) = self.lines.iter().map(|line| (price(*line), *line)).min()?;
        (price < DEAD).then(|| self.line(line))
    }

    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        let mut own = self.line(*self.own.get(site.index())?);
        own.insert(site);
        nearest(self, site, own, live)
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

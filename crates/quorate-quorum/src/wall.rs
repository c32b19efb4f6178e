//! Crumbling walls: a full row, and a site of every row below.

use crate::measure::{self, LoadBounds, ratio};
use crate::price::nearest;
use crate::rows::Rows;
use crate::{Prices, QuorumError, QuorumSystem, Shape, SiteId, SiteSet, check_sites};

/// All sites of a row of a wall and one site of each row below it (Peleg & Wool 1995).
///
/// Of two quorums the one with the lower full row is met there by the other. No tie is possible if
/// the first row has one site and the others have more. A later row of one site is a quorum with
/// a site of each row below it, so that rows above it are in no quorum.
///
/// ```
/// use quorate_quorum::{QuorumSystem, Wall};
/// let wall = Wall::new(&[1, 2, 3])?;
/// assert_eq!((wall.min_size(), wall.max_size(), wall.resilience()?), (3, 3, 2));
/// assert_eq!(wall.quorums().count(), 10);
/// assert_eq!(Wall::triangle(9)?, Wall::new(&[1, 2, 3, 3])?);
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wall {
    rows: Rows,
    /// The first row that is in a quorum.
    top: usize,
}

impl Wall {
    /// The wall with rows of these widths, from top to bottom.
    ///
    /// # Errors
    ///
    /// There are no rows, too many sites, or a row has none.
    pub fn new(widths: &[usize]) -> Result<Self, QuorumError> {
        check_sites(widths.iter().fold(0, |sum: usize, width| sum.saturating_add(*width)))?;
        if let Some(row) = widths.iter().position(|width| *width == 0) {
            return Err(QuorumError::EmptyRow(row + 1));
        }
        let top = widths.iter().rposition(|width| *width == 1).unwrap_or(0);
        Ok(Self { rows: Rows::new(widths), top })
    }

    /// Rows of 1, 2, 3, … sites, or nearly so: all quorums have about √(2n) sites, and no site is
    /// much busier than others.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn triangle(n: usize) -> Result<Self, QuorumError> {
        Self::fitted(n, |row| row)
    }

    /// Rows of ⌊log₂ 2i⌋ sites, 1, 2, 2, 3, 3, 3, 3, 4, …, or nearly so: the lowest rows are
    /// quorums of about log₂ n sites.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn logarithmic(n: usize) -> Result<Self, QuorumError> {
        Self::fitted(n, |row| row.ilog2() as usize + 1)
    }

    /// One site above all others: it and any of them, or all of them. For a privileged first site.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn wheel(n: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        if n == 1 { Self::new(&[1]) } else { Self::new(&[1, n - 1]) }
    }

    /// The wall of `n` sites whose rows are nearest to `width` of 1, 2, …: as many rows as fit,
    /// with the rest spread over them, or one row more, with some sites short. Of the two the one
    /// with the larger smallest quorum, which survives more.
    fn fitted(n: usize, width: impl Fn(usize) -> usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        let (mut widths, mut sum) = (Vec::new(), 0);
        while sum < n {
            widths.push(width(widths.len() + 1));
            sum += widths[widths.len() - 1];
        }
        if sum == n {
            return Self::new(&widths);
        }
        let more = shrunk(widths.clone(), sum - n).map(|widths| Self::new(&widths)).transpose()?;
        let rest = n + widths.pop().unwrap_or(0) - sum;
        let fewer = grown(widths, rest).map(|widths| Self::new(&widths)).transpose()?;
        let best = fewer.into_iter().chain(more).max_by_key(QuorumSystem::min_size);
        best.map_or_else(|| Self::new(&[1, 1]), Ok) // neither way works for two sites
    }

    fn below(&self, row: usize) -> std::ops::Range<usize> {
        row + 1..self.rows.count()
    }

    /// How many sites a quorum with this row has.
    fn size(&self, row: usize) -> usize {
        self.rows.width(row) + self.below(row).len()
    }

    fn sizes(&self) -> impl Iterator<Item = usize> {
        (self.top..self.rows.count()).map(|row| self.size(row))
    }
}

/// These rows with `missing` sites taken away, each from the first of the widest rows, unless one
/// would have to go below two.
fn shrunk(mut widths: Vec<usize>, missing: usize) -> Option<Vec<usize>> {
    for _ in 0..missing {
        let widest = widths.iter().copied().max().filter(|widest| *widest > 2)?;
        *widths.iter_mut().find(|width| **width == widest)? -= 1;
    }
    Some(widths)
}

/// These rows with `rest` sites more, one for each row from the bottom upwards and again, but none
/// for the first.
fn grown(mut widths: Vec<usize>, rest: usize) -> Option<Vec<usize>> {
    let rows = widths.len();
    if rows < 2 {
        return None;
    }
    for step in 0..rest {
        widths[rows - 1 - step % (rows - 1)] += 1;
    }
    Some(widths)
}

impl QuorumSystem for Wall {
    fn name(&self) -> String {
        format!("wall of {} in {} rows", self.n(), self.rows.count())
    }

    fn n(&self) -> usize {
        self.rows.n()
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        self.rows.all().fold(false, |above, row| {
            let (mut all, mut any) = (true, false);
            for site in row {
                all &= set.contains(site);
                any |= set.contains(site);
            }
            all || any && above
        })
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        let with =
            |row: usize| self.rows.choices(self.below(row).collect(), self.rows.row(row).collect());
        Box::new((self.top..self.rows.count()).flat_map(with))
    }

    fn min_size(&self) -> usize {
        self.sizes().min().expect("a wall has a row")
    }

    fn max_size(&self) -> usize {
        self.sizes().max().expect("a wall has a row")
    }

    /// From the bottom upwards, with a live site of each row passed; the first row that is cheapest
    /// in full.
    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let (full, least) = (self.rows.full(prices), self.rows.least(prices));
        let (mut passed, mut best) = (0, None);
        for row in (0..self.rows.count()).rev() {
            if let Some(full) = full[row]
                && best.is_none_or(|(price, _)| passed + full < price)
            {
                best = Some((passed + full, row));
            }
            let Some((price, _)) = least[row] else { break };
            passed += price;
        }
        let (_, row) = best?;
        let below = self.below(row).filter_map(|row| Some(least[row]?.1));
        Some(self.rows.row(row).chain(below).collect())
    }

    /// The smallest quorum through `site`: its own row, or a row above it, with sites at its place
    /// in the other rows.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n() {
            return None;
        }
        let (row, place) = self.rows.find(site);
        let full = (self.top..=row).rev().min_by_key(|row| self.size(*row)).unwrap_or(self.top);
        let mut own = self.rows.pick(full, self.below(full).filter(|other| *other != row), place);
        own.insert(site);
        nearest(self, site, own, live)
    }

    /// Each row either goes down as a whole, or loses its cheapest site and the rows above have to
    /// be stopped too.
    fn transversal(&self, costs: &[u64]) -> Result<u64, QuorumError> {
        let cost = |site: SiteId| costs[site.index()];
        Ok(self.rows.all().fold(0, |above, row| {
            let (mut all, mut least) = (0, u64::MAX);
            for site in row {
                all += cost(site);
                least = least.min(cost(site));
            }
            all.min(least + above)
        }))
    }

    fn heaviest(&self, weights: &[u64]) -> u64 {
        let of = |row: usize| self.rows.row(row).map(|site| weights[site.index()]);
        let below = |row: usize| self.below(row).filter_map(|row| of(row).max()).sum::<u64>();
        let rows = self.top..self.rows.count();
        rows.map(|row| of(row).sum::<u64>() + below(row)).max().unwrap_or(0)
    }

    fn availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n(), up)?;
        let rows = self.rows.chances(up).into_iter();
        Ok(rows.fold(0.0, |above, (full, any)| full + (any - full) * above))
    }

    /// Exact. Let the rows above bear the load L, if they alone decide. With a row of width w below
    /// them, the share x of accesses takes that row in full, the others one of its sites and the
    /// rows above: the row bears x + (1 - x)/w, the rows above (1 - x)·L. Both are L/(1 + L - 1/w)
    /// for the best x; or no access takes the row in full, if it is busy enough without.
    fn load_bounds(&self) -> LoadBounds {
        let load = (0..self.rows.count()).fold(None, |above: Option<f64>, row| {
            let each = ratio(1, self.rows.width(row));
            Some(above.map_or(1.0, |above| each.max(above / (1.0 + above - each))))
        });
        LoadBounds::exactly(load.expect("a wall has a row"))
    }

    fn shape(&self) -> Shape {
        self.rows.shape()
    }
}

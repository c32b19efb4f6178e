//! The grid with a cover: a full row, and a site of every other row.

use crate::measure::{self, LoadBounds, ratio};
use crate::price::nearest;
use crate::rows::{Rows, shares};
use crate::{Prices, QuorumError, QuorumSystem, Reads, Shape, SiteId, SiteSet, check_sites};

/// All sites of a row and one site of each other row (Cheung, Ammar & Ahamad 1990).
///
/// As many sites as a row and a column, but far more such sets than in a [`Grid`](crate::Grid).
/// The rows are as many as there are in that grid, and differ by one site at most: a short row
/// would be a weak spot. Readers need only a *cover*, one site of each row, since that meets every
/// full row: [`Reads`].
///
/// ```
/// use quorate_quorum::{Cover, QuorumSystem, Reads, SiteSet};
/// let system = Cover::new(9)?;
/// assert_eq!((system.quorums().count(), system.min_size(), system.read_size()), (27, 5, 3));
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    rows: Rows,
}

impl Cover {
    /// The rows of `n` sites.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn new(n: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        let width = (n - 1).isqrt() + 1;
        Ok(Self { rows: Rows::new(&shares(n, n.div_ceil(width)).collect::<Vec<_>>()) })
    }

    fn others(&self, row: usize) -> impl Iterator<Item = usize> + use<> {
        let rows = self.rows.count();
        (0..rows).filter(move |other| *other != row)
    }

    /// The rows that are full in some quorum of the minimal form: if one has a single site, every
    /// cover contains it in full, and no other row needs to be.
    fn full_rows(&self) -> std::ops::Range<usize> {
        let last = self.rows.count() - 1;
        if self.rows.width(last) == 1 { last..last + 1 } else { 0..last + 1 }
    }

    fn sizes(&self) -> impl Iterator<Item = usize> {
        self.full_rows().map(|row| self.rows.width(row) + self.rows.count() - 1)
    }
}

impl QuorumSystem for Cover {
    fn name(&self) -> String {
        format!("cover of {}", self.n())
    }

    fn n(&self) -> usize {
        self.rows.n()
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        let full = |row: usize| self.rows.row(row).all(|site| set.contains(site));
        self.is_read_quorum(set) && (0..self.rows.count()).any(full)
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        let with = |row: usize| {
            self.rows.choices(self.others(row).collect(), self.rows.row(row).collect())
        };
        Box::new(self.full_rows().flat_map(with))
    }

    fn min_size(&self) -> usize {
        self.sizes().min().expect("a cover has a row")
    }

    fn max_size(&self) -> usize {
        self.sizes().max().expect("a cover has a row")
    }

    /// The cheapest cover, and the row that costs least more in full.
    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let least: Vec<_> = self.rows.least(prices).into_iter().collect::<Option<_>>()?;
        let full = self.rows.full(prices).into_iter().zip(&least).enumerate();
        let more = full.filter_map(|(row, (full, (least, _)))| Some((full? - least, row)));
        let (_, row) = more.min()?;
        Some(self.rows.row(row).chain(self.others(row).map(|other| least[other].1)).collect())
    }

    /// The row of `site`, and the sites at its place in the other rows.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n() {
            return None;
        }
        let (row, place) = self.rows.find(site);
        let full = if self.full_rows().contains(&row) { row } else { self.full_rows().start };
        let others = self.others(full).filter(|other| *other != row);
        let mut own = self.rows.pick(full, others, place);
        own.insert(site);
        nearest(self, site, own, live)
    }

    /// A whole row, or a site of every row.
    fn transversal(&self, costs: &[u64]) -> Result<u64, QuorumError> {
        let prices = Prices::of_all(costs);
        let rows = self.rows.full(&prices).into_iter().flatten();
        let cover = self.rows.least(&prices).into_iter().flatten().map(|(cost, _)| cost);
        Ok(cover.sum::<u64>().min(rows.min().unwrap_or(u64::MAX)))
    }

    fn heaviest(&self, weights: &[u64]) -> u64 {
        let of = |row: usize| self.rows.row(row).map(|site| weights[site.index()]);
        let most = |row: usize| of(row).max().unwrap_or(0);
        let all: u64 = (0..self.rows.count()).map(most).sum();
        self.full_rows().map(|row| all - most(row) + of(row).sum::<u64>()).max().unwrap_or(0)
    }

    /// A cover is live, less the case that it is and no row is live in full.
    fn availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n(), up)?;
        let rows = self.rows.chances(up);
        let covered: f64 = rows.iter().map(|(_, any)| any).product();
        let without: f64 = rows.iter().map(|(full, any)| any - full).product();
        Ok(covered - without)
    }

    /// Exact. A row of width w that is full in the share x of accesses bears x + (1 - x)/w. At the
    /// least load that all rows can bear, their shares add up to 1; it is found by halving.
    fn load_bounds(&self) -> LoadBounds {
        let each = |row| ratio(1, self.rows.width(row));
        let busiest = (0..self.rows.count()).map(each).fold(0.0, f64::max);
        let share =
            |load: f64, each: f64| if each < load { (load - each) / (1.0 - each) } else { 0.0 };
        let (mut low, mut high) = (busiest, 1.0);
        for _ in 0..60 {
            let load = f64::midpoint(low, high);
            let shares: f64 = (0..self.rows.count()).map(|row| share(load, each(row))).sum();
            if shares < 1.0 { low = load } else { high = load }
        }
        LoadBounds::exactly(high)
    }

    fn shape(&self) -> Shape {
        self.rows.shape()
    }
}

impl Reads for Cover {
    fn is_read_quorum(&self, set: &SiteSet) -> bool {
        self.rows.all().all(|mut row| row.any(|site| set.contains(site)))
    }

    fn read_quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        self.rows.choices((0..self.rows.count()).collect(), SiteSet::new())
    }

    fn read_size(&self) -> usize {
        self.rows.count()
    }

    fn pick_read(&self, prices: &Prices) -> Option<SiteSet> {
        self.rows.least(prices).into_iter().map(|least| Some(least?.1)).collect()
    }

    fn read_availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n(), up)?;
        Ok(self.rows.chances(up).iter().map(|(_, any)| any).product())
    }
}

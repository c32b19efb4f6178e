//! Maekawa's grid: a row and a column.

use crate::measure::{self, LoadBounds, ratio};
use crate::price::nearest;
use crate::{Prices, QuorumError, QuorumSystem, Shape, SiteId, SiteSet, check_sites};

/// The exact availability takes 2^rows steps.
const ROWS_SUMMED_MAX: usize = 20;

/// All sites of a row and of a column, when the sites stand in a square (Maekawa 1985).
///
/// With `width` = ⌈√n⌉ the sites fill row by row, and the last row may be short. Any row with any
/// column is a quorum, also where they do not cross. Two quorums still meet: where the row of one
/// misses the column of the other, the other way round they cross, or both contain the short row.
/// A site's own quorum is its row and its column.
///
/// ```
/// use quorate_quorum::{Grid, QuorumSystem, SiteId, SiteSet};
/// let system = Grid::new(9)?;
/// let own = system.pick_for(SiteId::new(4), &SiteSet::full(9)).expect("all are up");
/// assert_eq!(own.to_string(), "{2 4 5 6 8}");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    n: usize,
    width: usize,
    rows: usize,
}

impl Grid {
    /// The rows and columns of `n` sites.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn new(n: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        let root = n.isqrt();
        let width = if root * root == n { root } else { root + 1 };
        Ok(Self { n, width, rows: n.div_ceil(width) })
    }

    fn row(&self, row: usize) -> impl ExactSizeIterator<Item = SiteId> + use<> {
        (row * self.width..((row + 1) * self.width).min(self.n)).map(SiteId::new)
    }

    fn column(&self, column: usize) -> impl ExactSizeIterator<Item = SiteId> + use<> {
        (column..self.n).step_by(self.width).map(SiteId::new)
    }

    /// A row and a column; not always without a smaller quorum inside.
    fn cross(&self, row: usize, column: usize) -> SiteSet {
        self.row(row).chain(self.column(column)).collect()
    }

    /// The row and column that stand for these in the minimal form; the crossing is in them too.
    ///
    /// A short row leaves two ways for a quorum to contain another. With two rows the columns that
    /// miss the short one add nothing to the first row, which so is a quorum alone. And the first
    /// column alone is one if the short row is a single site.
    fn minimal(&self, row: usize, column: usize) -> (usize, usize) {
        let last = self.rows - 1;
        let short = self.n - last * self.width;
        if last == 0 {
            (0, 0)
        } else if short == self.width {
            (row, column)
        } else if last == 1 && row == 0 {
            (0, self.width - 1)
        } else if short == 1 && column == 0 {
            (last, 0)
        } else {
            (row, column)
        }
    }

    /// The pairs of a row and a column that are the minimal form.
    fn cells(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let cells = (0..self.rows * self.width).map(|at| (at / self.width, at % self.width));
        cells.filter(|cell| self.minimal(cell.0, cell.1) == *cell)
    }

    fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.cells().map(|(row, column)| {
            let twice = usize::from(row * self.width + column < self.n);
            self.row(row).len() + self.column(column).len() - twice
        })
    }

    /// The probability that all rows of `full` are up and no column is.
    fn only_rows(&self, full: u32, up: &[f64]) -> f64 {
        let is_full = |row: usize| full >> row & 1 == 1;
        let rows = (0..self.rows).filter(|row| is_full(*row)).map(|row| all_up(self.row(row), up));
        let columns = (0..self.width).map(|column| {
            let others = self.column(column).filter(|site| !is_full(site.index() / self.width));
            1.0 - all_up(others, up)
        });
        rows.product::<f64>() * columns.product::<f64>()
    }
}

/// The probability that all of `sites` are up.
fn all_up(sites: impl Iterator<Item = SiteId>, up: &[f64]) -> f64 {
    sites.map(|site| up[site.index()]).product()
}

impl QuorumSystem for Grid {
    fn name(&self) -> String {
        format!("grid of {}", self.n)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        let row = (0..self.rows).any(|row| self.row(row).all(|site| set.contains(site)));
        row && (0..self.width).any(|column| self.column(column).all(|site| set.contains(site)))
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        Box::new(self.cells().map(|(row, column)| self.cross(row, column)))
    }

    fn min_size(&self) -> usize {
        self.sizes().min().expect("a grid has a quorum")
    }

    fn max_size(&self) -> usize {
        self.sizes().max().expect("a grid has a quorum")
    }

    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let rows: Vec<_> = (0..self.rows).map(|row| prices.total(self.row(row))).collect();
        let columns: Vec<_> = (0..self.width).map(|at| prices.total(self.column(at))).collect();
        let mut best = None;
        for (row, across) in rows.into_iter().enumerate() {
            for (column, down) in columns.iter().enumerate() {
                let (Some(across), Some(down)) = (across, *down) else {
                    continue;
                };
                let twice = prices.of(SiteId::new(row * self.width + column)).unwrap_or(0);
                let cost = across + down - twice;
                if best.is_none_or(|(least, _, _)| cost < least) {
                    best = Some((cost, row, column));
                }
            }
        }
        best.map(|(_, row, column)| self.cross(row, column))
    }

    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n {
            return None;
        }
        let (row, column) = self.minimal(site.index() / self.width, site.index() % self.width);
        nearest(self, site, self.cross(row, column), live)
    }

    /// To stop all quorums takes a site in every row, or in every column.
    fn transversal(&self, costs: &[u64]) -> Result<u64, QuorumError> {
        let least = |sites: &mut dyn Iterator<Item = SiteId>| {
            sites.map(|site| costs[site.index()]).min().expect("rows and columns have sites")
        };
        let rows: u64 = (0..self.rows).map(|row| least(&mut self.row(row))).sum();
        let columns: u64 = (0..self.width).map(|column| least(&mut self.column(column))).sum();
        Ok(rows.min(columns))
    }

    /// Inclusion and exclusion over the rows that are up.
    fn availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n, up)?;
        if self.rows > ROWS_SUMMED_MAX {
            return Err(QuorumError::TooLarge {
                what: "the availability of a grid",
                limit: format!("up to {ROWS_SUMMED_MAX} rows"),
            });
        }
        let no_row: f64 = (0..self.rows).map(|row| 1.0 - all_up(self.row(row), up)).product();
        let no_column = self.only_rows(0, up);
        let sign = |full: u32| if full.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        let neither: f64 =
            (0..1 << self.rows).map(|full| sign(full) * self.only_rows(full, up)).sum();
        Ok((1.0 - (no_row + no_column - neither)).clamp(0.0, 1.0))
    }

    /// Exact for a full rectangle: all sites are alike in it.
    fn load_bounds(&self) -> LoadBounds {
        if self.n == self.rows * self.width {
            return LoadBounds::exactly(ratio(self.width + self.rows - 1, self.n));
        }
        measure::load_by_size(self)
    }

    fn shape(&self) -> Shape {
        Shape::rows((0..self.rows).map(|row| self.row(row)))
    }
}

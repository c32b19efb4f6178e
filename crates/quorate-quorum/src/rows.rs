//! Sites in rows of any widths, numbered from the top left.

use std::iter::once;

use crate::{Prices, Shape, SiteId, SiteSet};

/// Rows of sites, none of them empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The first site of each row, and the number of sites.
    first: Vec<usize>,
}

impl Rows {
    pub(crate) fn new(widths: &[usize]) -> Self {
        let ends = widths.iter().scan(0, |end, width| {
            *end += width;
            Some(*end)
        });
        Self { first: once(0).chain(ends).collect() }
    }

    /// How many sites there are.
    pub(crate) fn n(&self) -> usize {
        self.first[self.count()]
    }

    /// How many rows there are.
    pub(crate) fn count(&self) -> usize {
        self.first.len() - 1
    }

    pub(crate) fn width(&self, row: usize) -> usize {
        self.first[row + 1] - self.first[row]
    }

    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = SiteId> + use<> {
        (self.first[row]..self.first[row + 1]).map(SiteId::new)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = impl Iterator<Item = SiteId>> {
        (0..self.count()).map(|row| self.row(row))
    }

    /// The row in which a site stands, and its place in that row.
    pub(crate) fn find(&self, site: SiteId) -> (usize, usize) {
        let row = self.first.partition_point(|first| *first <= site.index()) - 1;
        (row, site.index() - self.first[row])
    }

    /// The site at a place of a row; places beyond its end start again.
    pub(crate) fn at(&self, row: usize, place: usize) -> SiteId {
        SiteId::new(self.first[row] + place % self.width(row))
    }

    /// All of a row, and a site of each of `others` at this place.
    pub(crate) fn pick(
        &self,
        row: usize,
        others: impl Iterator<Item = usize>,
        place: usize,
    ) -> SiteSet {
        self.row(row).chain(others.map(|other| self.at(other, place))).collect()
    }

    /// Every choice of a site of each of `rows`, with `so_far`.
    pub(crate) fn choices(
        &self,
        mut rows: Vec<usize>,
        so_far: SiteSet,
    ) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        let Some(row) = rows.pop() else {
            return Box::new(once(so_far));
        };
        Box::new(self.row(row).flat_map(move |site| {
            let mut more = so_far.clone();
            more.insert(site);
            self.choices(rows.clone(), more)
        }))
    }

    /// What all of each row costs; `None` where a site is dead.
    pub(crate) fn full(&self, prices: &Prices) -> Vec<Option<u64>> {
        self.all().map(|row| prices.total(row)).collect()
    }

    /// The cheapest live site of each row, and what it costs.
    pub(crate) fn least(&self, prices: &Prices) -> Vec<Option<(u64, SiteId)>> {
        self.all().map(|row| prices.least(row)).collect()
    }

    /// For each row the probabilities that all its sites are up, and that one is.
    pub(crate) fn chances(&self, up: &[f64]) -> Vec<(f64, f64)> {
        let chances = |row: usize| {
            let up = &up[self.first[row]..self.first[row + 1]];
            (up.iter().product(), 1.0 - up.iter().map(|up| 1.0 - up).product::<f64>())
        };
        (0..self.count()).map(chances).collect()
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape::rows(self.all())
    }
}

/// `n` sites in `parts` rows or groups, the first of them larger by one if need be.
pub(crate) fn shares(n: usize, parts: usize) -> impl Iterator<Item = usize> {
    (0..parts).map(move |part| n / parts + usize::from(part < n % parts))
}

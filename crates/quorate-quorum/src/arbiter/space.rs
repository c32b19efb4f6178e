//! Projective space: sites are points, quorums are subspaces.

use std::iter::{once, repeat_n};

use crate::field::Field;
use crate::{QuorumError, SiteId, SiteSet};

/// The most subspaces of one codimension, and points, for which quorums are listed.
const SUBSPACES_MAX: usize = 20_000;
const POINTS_MAX: usize = 1 << 12;

/// The points of PG(d, q): vectors of d + 1 coordinates, not all 0, of which multiples are the
/// same point.
pub(super) struct Space {
    field: Field,
    /// The vector of each point, with 1 as its first coordinate that is not 0.
    points: Vec<Vec<usize>>,
}

impl Space {
    /// The space of dimension k + 1 over the smallest field that gives it at least `n` points.
    pub(super) fn around(n: usize, k: usize) -> Result<Self, QuorumError> {
        let mut fields = (2..).filter_map(Field::new).map(|field| (count(&field, k + 2), field));
        let enough = fields.find(|(points, _)| points.is_none_or(|points| points >= n));
        let (points, field) = enough.expect("there are fields of any size");
        if points.is_none_or(|points| points > POINTS_MAX) {
            let limit = format!("up to {POINTS_MAX} points");
            return Err(QuorumError::TooLarge { what: "a projective space", limit });
        }
        let points = normalised(&field, k + 2);
        Ok(Self { field, points })
    }

    /// The subspaces of this codimension; where there are more points than sites, point i is played
    /// by site i mod `n`.
    pub(super) fn subspaces(
        &self,
        codimension: usize,
        n: usize,
    ) -> Result<Vec<SiteSet>, QuorumError> {
        let width = self.points[0].len();
        let mut systems = vec![Vec::new()];
        for _ in 0..codimension {
            let longer = systems.iter().flat_map(|rows| self.longer(rows, width));
            systems = longer.take(SUBSPACES_MAX + 1).collect();
            if systems.len() > SUBSPACES_MAX {
                let limit = format!("while there are at most {SUBSPACES_MAX} subspaces");
                return Err(QuorumError::TooLarge { what: "a projective space", limit });
            }
        }
        let quorum = |rows: &Vec<Vec<usize>>| {
            let inside =
                |at: &usize| rows.iter().all(|row| self.product(row, &self.points[*at]) == 0);
            (0..self.points.len()).filter(inside).map(|at| SiteId::new(at % n)).collect()
        };
        Ok(systems.iter().map(quorum).collect())
    }

    /// Systems of equations in reduced form, each of which is one subspace: these rows with another
    /// above them, whose leading 1 is further left and which is 0 where a row below leads.
    fn longer(&self, rows: &[Vec<usize>], width: usize) -> Vec<Vec<Vec<usize>>> {
        let leads = |row: &Vec<usize>| row.iter().position(|part| *part == 1);
        let taken: Vec<_> = rows.iter().filter_map(leads).collect();
        let left = taken.iter().min().copied().unwrap_or(width);
        let fits = |row: &&Vec<usize>| {
            leads(row).is_some_and(|lead| lead < left) && taken.iter().all(|at| row[*at] == 0)
        };
        let above = self.points.iter().filter(fits);
        above.map(|row| once(row).chain(rows).cloned().collect()).collect()
    }

    fn product(&self, a: &[usize], b: &[usize]) -> usize {
        a.iter().zip(b).fold(0, |sum, (a, b)| self.field.add(sum, self.field.mul(*a, *b)))
    }
}

/// How many points vectors of `width` coordinates make: 1 + q + q² + …; `None` if far too many.
fn count(field: &Field, width: usize) -> Option<usize> {
    let step = |sum: usize| sum.checked_mul(field.order())?.checked_add(1);
    (0..width).try_fold(0_usize, |sum, _| step(sum))
}

/// All vectors whose first coordinate that is not 0 is 1, the latest such coordinate first.
fn normalised(field: &Field, width: usize) -> Vec<Vec<usize>> {
    let mut points = Vec::new();
    for lead in (0..width).rev() {
        let free = width - lead - 1;
        let mut tails = vec![Vec::new()];
        for _ in 0..free {
            let more = |tail: Vec<usize>| {
                (0..field.order()).map(move |part| [&tail[..], &[part]].concat())
            };
            tails = tails.into_iter().flat_map(more).collect();
        }
        let point = |tail| repeat_n(0, lead).chain(once(1)).chain(tail).collect();
        points.extend(tails.into_iter().map(point));
    }
    points
}

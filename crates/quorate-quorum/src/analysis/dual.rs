//! All minimal sets that hit every quorum.

use std::collections::BTreeMap;

use super::sets::{in_order, minimal_form};
use crate::{QuorumError, SiteId, SiteSet};

/// The most sets kept at any time.
const SETS_MAX: usize = 20_000;
/// The most sets looked at, and pairs of them compared.
const WORK_MAX: usize = 20_000_000;
/// The longest list whose dual is looked for.
const QUORUMS_MAX: usize = 5_000;

/// The minimal sets that have a site in common with each of `quorums`: what must fail to stop all.
///
/// A coterie that equals its dual is non-dominated. For reads the dual is the best list of writes.
///
/// # Errors
///
/// [`QuorumError::TooLarge`]: there are too many, or too many on the way.
///
/// ```
/// use quorate_quorum::{Kind, analysis::{dual, listed}, build};
/// let rows_and_columns = listed(&*build(Kind::Grid, 4)?)?;
/// let sets: Vec<_> = dual(&rows_and_columns)?.iter().map(ToString::to_string).collect();
/// assert_eq!(sets, ["{1 2}", "{1 3}", "{1 4}", "{2 3}", "{2 4}", "{3 4}"]);
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
pub fn dual(quorums: &[SiteSet]) -> Result<Vec<SiteSet>, QuorumError> {
    Ok(in_order(Dual::of(&short_form(quorums)?)?.sets))
}

/// The minimal form of a list short enough to have its dual looked for.
pub(super) fn short_form(quorums: &[SiteSet]) -> Result<Vec<SiteSet>, QuorumError> {
    if quorums.len() > QUORUMS_MAX {
        let limit = format!("up to {QUORUMS_MAX} quorums");
        return Err(QuorumError::TooLarge { what: "the dual of a list of quorums", limit });
    }
    Ok(minimal_form(quorums.iter().cloned()))
}

/// The dual of the quorums multiplied into it so far (Berge 1989).
#[derive(Clone, Debug)]
pub(super) struct Dual {
    pub(super) sets: Vec<SiteSet>,
    work: usize,
}

impl Default for Dual {
    /// Of no quorums: nothing needs to be hit.
    fn default() -> Self {
        Self { sets: vec![SiteSet::new()], work: 0 }
    }
}

impl Dual {
    /// The dual of quorums in minimal form.
    pub(super) fn of(quorums: &[SiteSet]) -> Result<Self, QuorumError> {
        let mut dual = Self::default();
        for quorum in quorums {
            dual.multiply(quorum)?;
        }
        Ok(dual)
    }

    /// Makes every set hit `quorum` too.
    ///
    /// A set that misses it grows by any one of its members. That is minimal unless it contains a
    /// set that hit `quorum` before, and such a set hits it in that member alone.
    pub(super) fn multiply(&mut self, quorum: &SiteSet) -> Result<(), QuorumError> {
        let (missing, mut hitting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.sets).into_iter().partition(|set| set.is_disjoint(quorum));
        let mut alone: BTreeMap<SiteId, Vec<SiteSet>> = BTreeMap::new();
        for set in &hitting {
            let mut common = set.iter().filter(|site| quorum.contains(*site));
            if let (Some(site), None) = (common.next(), common.next()) {
                alone.entry(site).or_default().push(set.clone());
            }
        }
        self.work += missing.len() + hitting.len();
        for member in quorum.iter() {
            let before = alone.get(&member).map(Vec::as_slice).unwrap_or_default();
            self.work += missing.len() * (1 + before.len());
            if hitting.len() > SETS_MAX || self.work > WORK_MAX {
                let limit = format!("up to {SETS_MAX} sets that hit all quorums, found soon");
                return Err(QuorumError::TooLarge { what: "the dual of a list of quorums", limit });
            }
            for set in &missing {
                let mut grown = set.clone();
                grown.insert(member);
                if !before.iter().any(|other| other.is_subset(&grown)) {
                    hitting.push(grown);
                }
            }
        }
        self.sets = hitting;
        Ok(())
    }
}

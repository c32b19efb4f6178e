//! All minimal sets that hit every quorum.

use super::sets::minimal_form;
use crate::{QuorumError, SiteSet};

/// The most sets kept at any time.
const SETS_MAX: usize = 20_000;
/// The most pairs of sets compared.
const PAIRS_MAX: usize = 100_000_000;

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
    let mut dual = Dual::default();
    for quorum in minimal_form(quorums.iter().cloned()) {
        dual.multiply(&quorum)?;
    }
    Ok(minimal_form(dual.sets))
}

/// The dual of the quorums multiplied into it so far (Berge 1989).
#[derive(Clone, Debug)]
pub(super) struct Dual {
    pub(super) sets: Vec<SiteSet>,
    pairs: usize,
}

impl Default for Dual {
    /// Of no quorums: nothing needs to be hit.
    fn default() -> Self {
        Self { sets: vec![SiteSet::new()], pairs: 0 }
    }
}

impl Dual {
    /// Makes every set hit `quorum` too.
    ///
    /// A set that misses it grows by any one of its members. That is minimal unless it contains a
    /// set that hit `quorum` before, and such a set hits it in that member alone.
    pub(super) fn multiply(&mut self, quorum: &SiteSet) -> Result<(), QuorumError> {
        let (missing, mut hitting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.sets).into_iter().partition(|set| set.is_disjoint(quorum));
        let kept = hitting.len();
        for member in quorum.iter() {
            let alone = |set: &&SiteSet| {
                set.contains(member)
                    && set.iter().filter(|site| quorum.contains(*site)).count() == 1
            };
            let before: Vec<SiteSet> = hitting[..kept].iter().filter(alone).cloned().collect();
            self.pairs += missing.len() * before.len();
            for set in &missing {
                let mut grown = set.clone();
                grown.insert(member);
                if !before.iter().any(|other| other.is_subset(&grown)) {
                    hitting.push(grown);
                }
            }
            if hitting.len() > SETS_MAX || self.pairs > PAIRS_MAX {
                let limit = format!("up to {SETS_MAX} sets that hit all quorums");
                return Err(QuorumError::TooLarge { what: "the dual of a list of quorums", limit });
            }
        }
        self.sets = hitting;
        Ok(())
    }
}

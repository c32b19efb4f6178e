//! Lists of quorums: minimal form, whether they meet, and what stops them.

use crate::{QuorumError, QuorumSystem, SiteSet, measure};

/// The longest list of quorums that is looked at whole.
pub const QUORUMS_MAX: usize = 20_000;

/// The sets that contain no other, each once, small ones first.
///
/// ```
/// use quorate_quorum::{SiteId, SiteSet, analysis::minimal_form};
/// let set = |sites: &[usize]| sites.iter().map(|site| SiteId::new(*site)).collect::<SiteSet>();
/// let sets = minimal_form([set(&[0, 1, 2]), set(&[1, 2]), set(&[2, 1]), set(&[0, 3])]);
/// assert_eq!(sets, [set(&[0, 3]), set(&[1, 2])]);
/// ```
pub fn minimal_form(sets: impl IntoIterator<Item = SiteSet>) -> Vec<SiteSet> {
    let mut minimal: Vec<SiteSet> = Vec::new();
    for set in in_order(sets) {
        // A subset is no longer, so it has been kept already.
        if !minimal.iter().any(|other| other.is_subset(&set)) {
            minimal.push(set);
        }
    }
    minimal
}

/// Small sets first, and those with early sites.
pub(super) fn in_order(sets: impl IntoIterator<Item = SiteSet>) -> Vec<SiteSet> {
    let mut sets: Vec<_> = sets.into_iter().collect();
    sets.sort_by_cached_key(|set| (set.len(), set.iter().collect::<Vec<_>>()));
    sets
}

/// The quorums of `system`, if they are not too many to look at.
///
/// # Errors
///
/// [`QuorumError::TooLarge`]: there are more than [`QUORUMS_MAX`].
pub fn listed(system: &dyn QuorumSystem) -> Result<Vec<SiteSet>, QuorumError> {
    let quorums: Vec<_> = system.quorums().take(QUORUMS_MAX + 1).collect();
    if quorums.len() > QUORUMS_MAX {
        let limit = format!("up to {QUORUMS_MAX} quorums");
        return Err(QuorumError::TooLarge { what: "the list of all quorums", limit });
    }
    Ok(quorums)
}

/// The first two of `quorums` that have no site in common; `None` if all meet.
pub fn disjoint_pair(quorums: &[SiteSet]) -> Option<(&SiteSet, &SiteSet)> {
    // Two disjoint sets of equal members can only be empty ones, which meet nothing.
    quorums.iter().enumerate().find_map(|(at, one)| {
        let other = quorums[at..].iter().find(|other| one.is_disjoint(other))?;
        Some((one, other))
    })
}

/// A quorum of each list that have no site in common; `None` if each of `ones` meets all `others`.
///
/// Reads and writes must meet so, and the quorums before and after a change of the system.
pub fn disjoint_pair_between<'a>(
    ones: &'a [SiteSet],
    others: &'a [SiteSet],
) -> Option<(&'a SiteSet, &'a SiteSet)> {
    ones.iter().find_map(|one| Some((one, others.iter().find(|other| one.is_disjoint(other))?)))
}

/// Whether `ones` dominate `others`, both in minimal form: they differ, and wherever a quorum of
/// `others` is live, one of `ones` is.
pub fn dominates(ones: &[SiteSet], others: &[SiteSet]) -> bool {
    let covers = |ones: &[SiteSet], others: &[SiteSet]| {
        others.iter().all(|other| ones.iter().any(|one| one.is_subset(other)))
    };
    covers(ones, others) && !covers(others, ones)
}

/// A smallest set of sites whose failure leaves no quorum; one less may fail, whichever they are.
///
/// # Errors
///
/// An empty quorum, which nothing stops, or [`QuorumError::TooLarge`].
pub fn smallest_stop(n: usize, quorums: &[SiteSet]) -> Result<SiteSet, QuorumError> {
    if quorums.iter().any(SiteSet::is_empty) {
        return Err(QuorumError::NoQuorum);
    }
    measure::cheapest_hitting(quorums, &vec![1; n])
}

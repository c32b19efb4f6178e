//! The condition of (h,k)-arbiters, checked on explicit quorums.

use crate::listed::minimal;
use crate::{QuorumError, SiteSet};

/// The most partial intersections kept at a time.
const PARTIALS_MAX: usize = 100_000;

/// Refuses quorums for 1, 2, … units of `n` sites under which requests for too many units need not
/// have a common site, and names quorums that have none.
///
/// Follows the critical patterns from their largest request on, and keeps of all intersections so
/// far only those that contain no other: if one of the others would become empty, so would one of
/// these. Patterns that begin alike share that work.
///
/// # Errors
///
/// [`QuorumError::NoCommonSite`] with the witnessing quorums; no quorum for some number of units,
/// an empty one, or one with an unknown site; [`QuorumError::TooLarge`] if the intersections are
/// too many.
pub fn check_arbiters(n: usize, sets: &[Vec<SiteSet>]) -> Result<(), QuorumError> {
    let k = sets.len();
    if let Some(place) = sets.iter().position(Vec::is_empty) {
        return Err(QuorumError::UnitsWithoutQuorum { h: place + 1, k });
    }
    for (h, set) in (1..).zip(sets).flat_map(|(h, sets)| sets.iter().map(move |set| (h, set))) {
        match set.iter().last() {
            None => return Err(QuorumError::EmptyForUnits(h)),
            Some(site) if site.index() >= n => return Err(QuorumError::UnknownSite { site, n }),
            Some(_) => {}
        }
    }
    let sets: Vec<_> = sets.iter().map(minimal).collect();
    let all = Partial { common: SiteSet::full(n), chosen: Vec::new() };
    follow(&sets, &[all], k, 0)
}

/// What quorums chosen so far have in common.
#[derive(Clone)]
struct Partial {
    common: SiteSet,
    chosen: Vec<(usize, SiteSet)>,
}

/// Adds requests of at most `most` units to a pattern that does not conflict yet.
fn follow(
    sets: &[Vec<SiteSet>],
    partials: &[Partial],
    most: usize,
    sum: usize,
) -> Result<(), QuorumError> {
    for h in 1..=most {
        let next = intersect(partials, h, &sets[h - 1])?;
        if let Some(none) = next.iter().find(|partial| partial.common.is_empty()) {
            // Fewer requests than conflict may have no common site either: then with any further.
            let quorums = complete(sets, none.chosen.clone());
            return Err(QuorumError::NoCommonSite { k: sets.len(), quorums });
        }
        if sum + h <= sets.len() {
            follow(sets, &next, h, sum + h)?;
        }
    }
    Ok(())
}

/// The intersections of `partials` with one more quorum each that contain no other.
fn intersect(
    partials: &[Partial],
    h: usize,
    quorums: &[SiteSet],
) -> Result<Vec<Partial>, QuorumError> {
    let mut next: Vec<Partial> = Vec::new();
    for partial in partials {
        for quorum in quorums {
            let common = partial.common.intersection(quorum);
            if next.iter().any(|other| other.common.is_subset(&common)) {
                continue;
            }
            next.retain(|other| !common.is_subset(&other.common));
            let mut chosen = partial.chosen.clone();
            chosen.push((h, quorum.clone()));
            next.push(Partial { common, chosen });
            if next.len() > PARTIALS_MAX {
                let limit = format!("while at most {PARTIALS_MAX} intersections have to be kept");
                return Err(QuorumError::TooLarge { what: "the condition of arbiters", limit });
            }
        }
    }
    Ok(next)
}

/// Adds requests for one unit until there are too many.
fn complete(sets: &[Vec<SiteSet>], mut chosen: Vec<(usize, SiteSet)>) -> Vec<(usize, SiteSet)> {
    let sum: usize = chosen.iter().map(|(h, _)| h).sum();
    let missing = (sets.len() + 1).saturating_sub(sum);
    chosen.extend(std::iter::repeat_n((1, sets[0][0].clone()), missing));
    chosen
}

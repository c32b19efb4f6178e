//! The condition of (h,k)-arbiters, checked on explicit quorums.

use crate::listed::minimal;
use crate::{PoolError, QuorumError, SiteSet};

/// How far the check goes: patterns grow fast with the units, and intersections with the quorums.
const UNITS_MAX: usize = 32;
const WORK_MAX: usize = 300_000_000;

/// Refuses quorums for 1, 2, … units of `n` sites under which requests for too many units need not
/// have a common site, and names quorums that have none (Manabe & Tajima, Theorem 1).
///
/// Follows the critical patterns from their largest request on, and keeps of all intersections so
/// far only those that contain no other: if one of the others would become empty, so would one of
/// these. Patterns that begin alike share that work.
///
/// # Errors
///
/// [`PoolError::NoCommonSite`] with the witnessing quorums; no quorum for some number of units, an
/// empty one, or one with an unknown site; [`QuorumError::TooLarge`] if there are too many units or
/// intersections.
pub fn check_arbiters(n: usize, sets: &[Vec<SiteSet>]) -> Result<(), QuorumError> {
    let k = sets.len();
    if let Some(place) = sets.iter().position(Vec::is_empty) {
        return Err(PoolError::NoQuorum { h: place + 1, k }.into());
    }
    for (h, set) in (1..).zip(sets).flat_map(|(h, sets)| sets.iter().map(move |set| (h, set))) {
        match set.iter().last() {
            None => return Err(PoolError::EmptyQuorum(h).into()),
            Some(site) if site.index() >= n => return Err(QuorumError::UnknownSite { site, n }),
            Some(_) => {}
        }
    }
    if k > UNITS_MAX {
        return Err(too_large());
    }
    let mut search = Search { sets: sets.iter().map(minimal).collect(), work: 0 };
    let all = Partial { common: SiteSet::full(n), chosen: Vec::new() };
    search.follow(&[all], k, 0)
}

/// What quorums chosen so far have in common.
struct Partial {
    common: SiteSet,
    chosen: Vec<(usize, SiteSet)>,
}

struct Search {
    /// The quorums for 1, 2, … units, in minimal form.
    sets: Vec<Vec<SiteSet>>,
    /// The comparisons made so far; an intersection takes as long as some of them.
    work: usize,
}

impl Search {
    /// Adds requests of at most `most` units to a pattern that does not conflict yet.
    fn follow(&mut self, partials: &[Partial], most: usize, sum: usize) -> Result<(), QuorumError> {
        for h in 1..=most {
            let next = self.intersect(partials, h)?;
            if let Some(none) = next.iter().find(|partial| partial.common.is_empty()) {
                let quorums = self.complete(none.chosen.clone());
                return Err(PoolError::NoCommonSite { k: self.sets.len(), quorums }.into());
            }
            if sum + h <= self.sets.len() {
                self.follow(&next, h, sum + h)?;
            }
        }
        Ok(())
    }

    /// The intersections of `partials` with one more quorum each that contain no other.
    fn intersect(&mut self, partials: &[Partial], h: usize) -> Result<Vec<Partial>, QuorumError> {
        let mut next: Vec<Partial> = Vec::new();
        for partial in partials {
            for quorum in &self.sets[h - 1] {
                self.work += 16 + next.len();
                if self.work > WORK_MAX {
                    return Err(too_large());
                }
                let common = partial.common.intersection(quorum);
                if next.iter().any(|other| other.common.is_subset(&common)) {
                    continue;
                }
                next.retain(|other| !common.is_subset(&other.common));
                let mut chosen = partial.chosen.clone();
                chosen.push((h, quorum.clone()));
                next.push(Partial { common, chosen });
            }
        }
        Ok(next)
    }

    /// Requests without a common site may not even conflict; with enough others for one unit they
    /// do.
    fn complete(&self, mut chosen: Vec<(usize, SiteSet)>) -> Vec<(usize, SiteSet)> {
        let sum: usize = chosen.iter().map(|(h, _)| h).sum();
        let missing = (self.sets.len() + 1).saturating_sub(sum);
        chosen.extend(std::iter::repeat_n((1, self.sets[0][0].clone()), missing));
        chosen
    }
}

fn too_large() -> QuorumError {
    let limit = format!("up to {UNITS_MAX} units, and while intersections are few");
    QuorumError::TooLarge { what: "the condition of listed arbiters", limit }
}

//! Whether some other coterie has a live quorum whenever this one has, and more often.

use super::dual::{Dual, short_form};
use super::sets::{in_order, listed, smallest_stop};
use crate::{QuorumError, QuorumSystem, SiteId, SiteSet};

/// Up to here every number on the way to the probability at 1/2 is a multiple of 2^-52, and so
/// exact.
const SITES_HALVED_MAX: usize = 50;
/// How often the search for a witness asks whether a set contains a quorum.
const QUESTIONS_MAX: usize = 2_000_000;
/// How many quorums are compared with sets that hit all, when a coterie is repaired.
const PAIRS_MAX: usize = 30_000_000;
/// The tolerance for rounding errors.
const ROUNDING: f64 = 1e-9;

/// A coterie that another one dominates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominated {
    /// A set that meets every quorum and contains none, so could be one too; `None` if the search
    /// for it would take too long.
    pub witness: Option<SiteSet>,
    /// A non-dominated coterie to use instead; `None` where it cannot be listed.
    pub better: Option<Vec<SiteSet>>,
}

/// Whether `system` is dominated, and what to use instead.
///
/// A coterie is non-dominated if and only if of every set and its complement one contains a quorum,
/// that is, if half of all sets do. So the availability with p = 1/2 decides.
///
/// # Errors
///
/// [`QuorumError::TooLarge`] where that is not known, and no set that could be a quorum too is
/// found soon.
pub fn domination(system: &dyn QuorumSystem) -> Result<Option<Dominated>, QuorumError> {
    match is_dominated(system) {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(error) => {
            let witness = Some(undecided(system).ok_or(error)?);
            return Ok(Some(Dominated { witness, better: None }));
        }
    }
    let better = listed(system).and_then(|quorums| repaired(&quorums)).ok();
    let first = better
        .as_ref()
        .and_then(|better| better.iter().find(|quorum| !system.is_quorum(quorum)).cloned());
    Ok(Some(Dominated { witness: first.or_else(|| undecided(system)), better }))
}

fn is_dominated(system: &dyn QuorumSystem) -> Result<bool, QuorumError> {
    // In a non-dominated coterie the sets that stop everything are the quorums.
    if system.resilience().is_ok_and(|survived| survived + 1 < system.min_size()) {
        return Ok(true);
    }
    let n = system.n();
    let half = system.availability(&vec![0.5; n])?;
    let missing = 0.5 - half;
    if n <= SITES_HALVED_MAX {
        // An undecided pair of sets has a weight of 2^(1-n), and half of it is missing.
        let least = 0.5_f64.powi(i32::try_from(n).expect("at most 50"));
        return Ok(missing > least / 2.0);
    }
    if missing > ROUNDING {
        return Ok(true);
    }
    let limit = format!("up to {SITES_HALVED_MAX} sites where it is close");
    Err(QuorumError::TooLarge { what: "whether a coterie is dominated", limit })
}

/// A non-dominated coterie that dominates `quorums`, or is the same if nothing does.
///
/// Again and again a smallest set that hits all quorums and contains none becomes a quorum.
///
/// # Errors
///
/// [`QuorumError::TooLarge`]: the sets that hit all quorums are too many.
///
/// ```
/// use quorate_quorum::{Kind, analysis::{listed, repaired}, build};
/// let better = repaired(&listed(&*build(Kind::Majority, 4)?)?)?;
/// let better: Vec<_> = better.iter().map(ToString::to_string).collect();
/// assert_eq!(better, ["{1 2}", "{1 3}", "{1 4}", "{2 3 4}"], "site 1 got a second vote");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
pub fn repaired(quorums: &[SiteSet]) -> Result<Vec<SiteSet>, QuorumError> {
    let mut quorums = short_form(quorums)?;
    let mut dual = Dual::of(&quorums)?;
    let mut pairs = 0;
    while let Some(new) = missing(&quorums, &dual) {
        pairs += quorums.len() * dual.sets.len();
        if pairs > PAIRS_MAX {
            let limit = "while few sets must be added".to_owned();
            return Err(QuorumError::TooLarge { what: "a coterie to use instead", limit });
        }
        quorums.retain(|quorum| !new.is_subset(quorum));
        dual.multiply(&new)?;
        quorums.push(new);
    }
    Ok(in_order(quorums))
}

/// The first of the smallest sets of the dual that contain no quorum.
fn missing(quorums: &[SiteSet], dual: &Dual) -> Option<SiteSet> {
    let none = |set: &&SiteSet| !quorums.iter().any(|quorum| quorum.is_subset(set));
    let key = |set: &&SiteSet| (set.len(), set.iter().collect::<Vec<_>>());
    dual.sets.iter().filter(none).min_by_key(key).cloned()
}

/// A minimal set such that neither it nor its complement contains a quorum, if it is found soon.
fn undecided(system: &dyn QuorumSystem) -> Option<SiteSet> {
    if let Ok(stop) = listed(system).and_then(|quorums| smallest_stop(system.n(), &quorums))
        && !system.is_quorum(&stop)
    {
        return Some(stop);
    }
    let mut search = Undecided { system, questions: 0, sides: [SiteSet::new(), SiteSet::new()] };
    if !search.from(0) {
        return None;
    }
    let [mut set, mut rest] = search.sides;
    for site in SiteId::all(system.n()) {
        if set.contains(site) {
            rest.insert(site);
            if system.is_quorum(&rest) {
                rest.remove(site);
            } else {
                set.remove(site);
            }
        }
    }
    Some(set)
}

/// The search for two complementary sets without a quorum, site by site.
struct Undecided<'a> {
    system: &'a dyn QuorumSystem,
    questions: usize,
    sides: [SiteSet; 2],
}

impl Undecided<'_> {
    fn from(&mut self, at: usize) -> bool {
        if at == self.system.n() {
            return true;
        }
        let site = SiteId::new(at);
        // The smaller side first: a balance is where neither side has a quorum.
        let small = usize::from(self.sides[1].len() < self.sides[0].len());
        for side in [small, 1 - small] {
            self.questions += 1;
            if self.questions > QUESTIONS_MAX {
                return false;
            }
            self.sides[side].insert(site);
            if !self.system.is_quorum(&self.sides[side]) && self.from(at + 1) {
                return true;
            }
            self.sides[side].remove(site);
        }
        false
    }
}

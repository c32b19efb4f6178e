//! Which sites matter most, and which not at all.

use super::sets::QUORUMS_MAX;
use crate::{QuorumError, QuorumSystem, SiteId, SiteSet, measure};

/// Up to so many sites, one pass over all sets of live sites gives the importance of every site.
const SITES_WALKED_MAX: usize = 24;
/// Beyond that, two exact availabilities for each site are asked for.
const SITES_ASKED_MAX: usize = 200;

/// The sites that a system stands or falls with, and those it does without.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeakSpots {
    /// In every quorum: each can stop everything alone.
    pub vetoers: Vec<SiteId>,
    /// In no quorum of the minimal form: their failure changes nothing.
    pub idle: Vec<SiteId>,
}

/// The sites in every quorum, and those in none.
///
/// A site whose quorums are too many to look at is taken to be in one.
pub fn weak_spots(system: &dyn QuorumSystem) -> WeakSpots {
    let all = SiteSet::full(system.n());
    let without = |set: &SiteSet, site| {
        let mut rest = set.clone();
        rest.remove(site);
        rest
    };
    let vetoes = |site: &SiteId| !system.is_quorum(&without(&all, *site));
    // Most are needed in their own quorum; only for the others the list is searched.
    let needed = |site: SiteId| {
        let own = system.pick_for(site, &all);
        own.is_some_and(|own| own.contains(site) && !system.is_quorum(&without(&own, site)))
    };
    let idle = |site: &SiteId| {
        if needed(*site) {
            return false;
        }
        let mut listed = 0;
        let mut quorums = system.quorums().take(QUORUMS_MAX).inspect(|_| listed += 1);
        !quorums.any(|quorum| quorum.contains(*site)) && listed < QUORUMS_MAX
    };
    WeakSpots {
        vetoers: SiteId::all(system.n()).filter(vetoes).collect(),
        idle: SiteId::all(system.n()).filter(idle).collect(),
    }
}

/// How much the availability gains if a site that is down comes up, for each site (Birnbaum 1969).
///
/// # Errors
///
/// `up` is not one probability for each site, or [`QuorumError::TooLarge`]: there are more than 24
/// sites and no way to the exact availability.
pub fn importance(system: &dyn QuorumSystem, up: &[f64]) -> Result<Vec<f64>, QuorumError> {
    measure::check_probabilities(system.n(), up)?;
    let n = system.n();
    if n <= SITES_WALKED_MAX {
        return Ok(walked(system, up));
    }
    if n <= SITES_ASKED_MAX {
        return asked(system, up);
    }
    let limit = format!("up to {SITES_ASKED_MAX} sites");
    Err(QuorumError::TooLarge { what: "the importance of each site", limit })
}

fn asked(system: &dyn QuorumSystem, up: &[f64]) -> Result<Vec<f64>, QuorumError> {
    let mut up = up.to_vec();
    let mut importance = Vec::new();
    for at in 0..up.len() {
        let usual = up[at];
        up[at] = 1.0;
        let with = system.availability(&up)?;
        up[at] = 0.0;
        importance.push(with - system.availability(&up)?);
        up[at] = usual;
    }
    Ok(importance)
}

fn walked(system: &dyn QuorumSystem, up: &[f64]) -> Vec<f64> {
    let (live, possible) = (SiteSet::new(), SiteSet::full(system.n()));
    let mut walk = Walk { system, up, live, possible, importance: vec![0.0; up.len()] };
    walk.from(0, 1.0);
    walk.importance
}

/// Decides one site after the other until the rest no longer matters.
struct Walk<'a> {
    system: &'a dyn QuorumSystem,
    up: &'a [f64],
    live: SiteSet,
    possible: SiteSet,
    importance: Vec<f64>,
}

impl Walk<'_> {
    /// The availability, given the states of the sites before `at`, which have probability `here`.
    fn from(&mut self, at: usize, here: f64) -> f64 {
        if self.system.is_quorum(&self.live) {
            return 1.0;
        }
        if !self.system.is_quorum(&self.possible) {
            return 0.0;
        }
        let (site, up) = (SiteId::new(at), self.up[at]);
        self.live.insert(site);
        let with = self.from(at + 1, here * up);
        self.live.remove(site);
        self.possible.remove(site);
        let without = self.from(at + 1, here * (1.0 - up));
        self.possible.insert(site);
        self.importance[at] += here * (with - without);
        up * with + (1.0 - up) * without
    }
}

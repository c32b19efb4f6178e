//! What must hold in every world, one property a file.
//!
//! All are incremental: an event costs the same in a cluster of three and of ten thousand. They
//! serve scripts, seeds and the checker alike.

mod contract;
mod exclusion;
mod fences;
mod progress;
mod units;
mod vacancy;

use std::fmt;

use quorate_protocol::{ClaimId, Violation};
use quorate_quorum::SiteId;

use self::exclusion::Exclusion;
use self::fences::Fences;
use self::units::Units;
use crate::Subject;

/// The names of all properties, in the order of their files.
pub const PROPERTIES: [&str; 6] =
    [contract::NAME, exclusion::NAME, fences::NAME, progress::NAME, units::NAME, vacancy::NAME];

/// The names of those that say something of protocol `P`.
pub fn properties<P: Subject>() -> impl Iterator<Item = &'static str> {
    PROPERTIES.into_iter().filter(|&name| P::POOLED || name != units::NAME)
}

/// A property that does not hold, and how one can see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Breach {
    /// Its name, one of [`PROPERTIES`].
    pub property: &'static str,
    /// What was seen.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.property, self.what)
    }
}

/// Watches one world, and remembers the first property that broke.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Judge<P: Subject> {
    exclusion: Exclusion<P>,
    fences: Fences,
    units: Units,
    breach: Option<Breach>,
}

/// How many of what there are, once an action is complete.
pub(crate) struct Standing {
    pub(crate) in_flight: usize,
    pub(crate) inside: usize,
    pub(crate) waiting: usize,
    pub(crate) occupied: usize,
}

impl<P: Subject> Judge<P> {
    pub(crate) fn new() -> Self {
        let (exclusion, fences, units) = (Exclusion::new(), Fences::default(), Units::default());
        Self { exclusion, fences, units, breach: None }
    }

    pub(crate) fn breach(&self) -> Option<&Breach> {
        self.breach.as_ref()
    }

    pub(crate) fn on_enter(&mut self, site: SiteId, claim: ClaimId, grant: &P::Grant) {
        let verdict = self.exclusion.on_enter(site, claim, grant);
        self.note(exclusion::NAME, verdict);
        if P::POOLED {
            let verdict = self.units.on_enter(site, P::units(grant));
            self.note(units::NAME, verdict);
        }
        let verdict = self.fences.on_enter(P::fence(grant), &P::marks(grant));
        self.note(fences::NAME, verdict);
    }

    pub(crate) fn on_leave(&mut self, site: SiteId, claim: ClaimId) {
        if let Some(grant) = self.exclusion.on_leave(site, claim).filter(|_| P::POOLED) {
            self.units.on_leave(P::units(&grant));
        }
    }

    /// What somebody inside has.
    pub(crate) fn grant(&self, site: SiteId, claim: ClaimId) -> Option<&P::Grant> {
        self.exclusion.grant(site, claim)
    }

    pub(crate) fn on_violation(&mut self, site: SiteId, violation: Violation) {
        self.note(contract::NAME, Err(contract::of_violation(site, violation)));
    }

    pub(crate) fn on_panic(&mut self, site: SiteId, message: &str) {
        self.note(contract::NAME, Err(contract::of_panic(site, message)));
    }

    pub(crate) fn on_action_done(&mut self, standing: &Standing) {
        self.note(progress::NAME, progress::judge(standing));
        self.note(vacancy::NAME, vacancy::judge(standing));
    }

    fn note(&mut self, property: &'static str, verdict: Result<(), String>) {
        if let (None, Err(what)) = (&self.breach, verdict) {
            self.breach = Some(Breach { property, what });
        }
    }
}

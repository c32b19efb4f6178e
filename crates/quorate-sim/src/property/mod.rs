//! What must hold in every world, one property a file.
//!
//! All are incremental: an event costs the same in a cluster of three and of ten thousand. They
//! serve scripts, seeds and the checker alike.

mod blocking;
mod contract;
mod exclusion;
mod fences;
mod progress;
mod tokens;
mod units;
mod vacancy;

use std::fmt;

use quorate_protocol::{ClaimId, Violation};
use quorate_quorum::SiteId;

use self::blocking::Blocking;
use self::exclusion::Exclusion;
use self::fences::Fences;
use self::tokens::Tokens;
use self::units::Units;
use crate::{Facts, SimProtocol};

/// The names of all properties, in the order of their files.
pub const PROPERTIES: [&str; 8] = [
    blocking::NAME,
    contract::NAME,
    exclusion::NAME,
    fences::NAME,
    progress::NAME,
    tokens::NAME,
    units::NAME,
    vacancy::NAME,
];

/// The names of those that apply to a protocol.
pub fn properties(facts: Facts) -> impl Iterator<Item = &'static str> {
    PROPERTIES.into_iter().filter(move |&name| match name {
        blocking::NAME => facts.joined,
        tokens::NAME => facts.tokens,
        units::NAME => facts.pooled,
        _ => true,
    })
}

/// A property that does not hold, and what shows it.
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

/// Checks the properties of one world, and remembers the first that broke.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Monitor<P: SimProtocol> {
    blocking: Blocking<P>,
    exclusion: Exclusion<P>,
    fences: Fences,
    tokens: Tokens,
    units: Units,
    breach: Option<Breach>,
}

/// Counts of a world after a complete action.
pub(crate) struct WorldCounts {
    pub(crate) in_flight: usize,
    /// Timers that will run out.
    pub(crate) armed: usize,
    /// Timers that ran out one after the other without an effect.
    pub(crate) futile: u32,
    pub(crate) inside: usize,
    pub(crate) waiting: usize,
    /// How many of them have no quorum, if nothing else is under way.
    pub(crate) unservable: usize,
    pub(crate) occupied: usize,
    /// Whether everything that is lost comes back, so that all sites can be reached in the end.
    pub(crate) mended: bool,
}

impl<P: SimProtocol> Monitor<P> {
    pub(crate) fn new() -> Self {
        Self {
            blocking: Blocking::new(),
            exclusion: Exclusion::new(),
            fences: Fences::default(),
            tokens: Tokens::default(),
            units: Units::default(),
            breach: None,
        }
    }

    pub(crate) fn breach(&self) -> Option<&Breach> {
        self.breach.as_ref()
    }

    pub(crate) fn on_wait(
        &mut self,
        options: &P::Options,
        site: SiteId,
        id: ClaimId,
        claim: &P::Claim,
    ) {
        if P::joined(options) {
            self.blocking.on_wait(site, id, claim);
        }
    }

    /// A claim does not wait any longer, and is not inside.
    pub(crate) fn on_end(&mut self, site: SiteId, id: ClaimId) {
        self.blocking.on_end(site, id);
    }

    pub(crate) fn on_enter(&mut self, site: SiteId, claim: ClaimId, grant: &P::Grant) {
        self.blocking.on_end(site, claim);
        let verdict = self.exclusion.on_enter(site, claim, grant);
        self.note(exclusion::NAME, verdict);
        if P::POOLED {
            let verdict = self.units.on_enter(site, P::units(grant));
            self.note(units::NAME, verdict);
        }
        if let Some(stage) = P::stage_fence(grant) {
            let verdict = self.fences.on_stage(stage);
            self.note(fences::NAME, verdict);
        }
        let verdict =
            self.fences.on_enter(P::fence(grant), P::fence_owner(grant), &P::fence_order(grant));
        self.note(fences::NAME, verdict);
    }

    pub(crate) fn on_leave(&mut self, site: SiteId, claim: ClaimId) {
        if let Some(grant) = self.exclusion.on_leave(site, claim).filter(|_| P::POOLED) {
            self.units.on_leave(P::units(&grant));
        }
    }

    /// A token, at a site or under way, appears or vanishes.
    pub(crate) fn on_token(&mut self, before: Option<u64>, after: Option<u64>) {
        if before != after {
            self.tokens.change(before, after);
        }
    }

    /// The grant of a claim that is inside.
    pub(crate) fn grant(&self, site: SiteId, claim: ClaimId) -> Option<&P::Grant> {
        self.exclusion.grant(site, claim)
    }

    pub(crate) fn on_violation(&mut self, site: SiteId, violation: Violation) {
        self.note(contract::NAME, Err(contract::of_violation(site, violation)));
    }

    pub(crate) fn on_panic(&mut self, site: SiteId, message: &str) {
        self.note(contract::NAME, Err(contract::of_panic(site, message)));
    }

    pub(crate) fn on_action_done(&mut self, counts: &WorldCounts, options: &P::Options) {
        if P::joined(options) && counts.in_flight == 0 && counts.mended {
            let verdict = self.blocking.monitor(options, self.exclusion.inside());
            self.note(blocking::NAME, verdict);
        }
        self.note(tokens::NAME, self.tokens.monitor());
        self.note(progress::NAME, progress::monitor(counts));
        self.note(vacancy::NAME, vacancy::monitor(counts));
    }

    fn note(&mut self, property: &'static str, verdict: Result<(), String>) {
        if let (None, Err(what)) = (&self.breach, verdict) {
            self.breach = Some(Breach { property, what });
        }
    }
}

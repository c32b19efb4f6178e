//! Never two conflicting grants at one time.
//!
//! Cao & Singhal 2001, theorem 1: mutual exclusion is achieved.

use quorate_protocol::ClaimId;
use quorate_quorum::SiteId;

use crate::SimProtocol;

pub(super) const NAME: &str = "exclusion";

/// Who is inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exclusion<P: SimProtocol> {
    inside: Vec<(SiteId, ClaimId, P::Grant)>,
}

impl<P: SimProtocol> Exclusion<P> {
    pub(super) fn new() -> Self {
        Self { inside: Vec::new() }
    }

    pub(super) fn on_enter(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        grant: &P::Grant,
    ) -> Result<(), String> {
        let other = self.inside.iter().find(|(_, _, inside)| P::conflict(inside, grant));
        let verdict = match other {
            Some((other, ..)) => Err(format!("{other} and {site} are inside together")),
            None => Ok(()),
        };
        self.inside.push((site, claim, grant.clone()));
        verdict
    }

    /// Removes a claim that has left.
    pub(super) fn on_leave(&mut self, site: SiteId, claim: ClaimId) -> Option<P::Grant> {
        let place = self.inside.iter().position(|&(s, c, _)| (s, c) == (site, claim))?;
        Some(self.inside.remove(place).2)
    }

    /// All who are inside.
    pub(super) fn inside(&self) -> &[(SiteId, ClaimId, P::Grant)] {
        &self.inside
    }

    /// The grant of a claim that is inside.
    pub(super) fn grant(&self, site: SiteId, claim: ClaimId) -> Option<&P::Grant> {
        let found = self.inside.iter().find(|&&(s, c, _)| (s, c) == (site, claim));
        found.map(|(_, _, grant)| grant)
    }
}

//! No unnecessary blocking: when nothing is under way, no claim waits that could join a pivot.
//!
//! Manabe & Park 2004, theorem 4, with erratum E2 of `docs/protocols/group.md`: a pivot has entered
//! with the votes of a whole quorum. Checked only when all is quiet.

use std::collections::BTreeMap;

use quorate_protocol::ClaimId;
use quorate_quorum::SiteId;

use crate::SimProtocol;

pub(super) const NAME: &str = "no blocking";

/// The waiting claims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Blocking<P: SimProtocol> {
    waiting: BTreeMap<(SiteId, ClaimId), P::Claim>,
}

impl<P: SimProtocol> Blocking<P> {
    pub(super) fn new() -> Self {
        Self { waiting: BTreeMap::new() }
    }

    pub(super) fn on_wait(&mut self, site: SiteId, id: ClaimId, claim: &P::Claim) {
        self.waiting.insert((site, id), claim.clone());
    }

    pub(super) fn on_end(&mut self, site: SiteId, id: ClaimId) {
        self.waiting.remove(&(site, id));
    }

    /// To be asked when all is quiet.
    pub(super) fn monitor(
        &self,
        options: &P::Options,
        inside: &[(SiteId, ClaimId, P::Grant)],
    ) -> Result<(), String> {
        for ((site, _), claim) in &self.waiting {
            if let Some((pivot, ..)) =
                inside.iter().find(|(_, _, grant)| P::must_join(options, claim, grant))
            {
                return Err(format!("{site} waits for what {pivot} would share with it"));
            }
        }
        Ok(())
    }
}

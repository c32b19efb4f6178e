//! No unnecessary blocking: when nothing is under way, nobody waits who could join a pivot inside.
//!
//! Manabe & Park 2004, theorem 4, with their erratum E2: a pivot is who entered with the votes of a
//! whole quorum. Looked at only when all is quiet, so it costs nothing while things move.

use std::collections::BTreeMap;

use quorate_protocol::ClaimId;
use quorate_quorum::SiteId;

use crate::Subject;

pub(super) const NAME: &str = "no blocking";

/// Who waits, and for what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Blocking<P: Subject> {
    waiting: BTreeMap<(SiteId, ClaimId), P::Claim>,
}

impl<P: Subject> Blocking<P> {
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
    pub(super) fn judge(
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

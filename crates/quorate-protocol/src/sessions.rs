//! The sessions of a site, as its protocols see them.

use std::collections::BTreeMap;

use quorate_quorum::{SiteId, SiteSet};

use crate::SessionNo;

/// The sessions of one site: outbound ones, which it has at other sites, and inbound ones, which
/// other sites have here.
///
/// In the papers' model every session is open for ever. A session that was never set is therefore
/// open with number 0, and only the others take room.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sessions {
    outbound: BTreeMap<SiteId, OutboundSession>,
    inbound: BTreeMap<SiteId, Option<SessionNo>>,
}

/// Our session at another site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OutboundSession {
    /// Its number, if it is open.
    pub number: Option<SessionNo>,
    /// Whether the site has not replied for half a lease.
    pub silent: bool,
    /// Whether the site has restarted and lends nothing yet.
    pub quarantined: bool,
}

impl OutboundSession {
    const ALWAYS_OPEN: Self =
        Self { number: Some(SessionNo(0)), silent: false, quarantined: false };
}

impl Sessions {
    /// Our session at `site`.
    pub fn outbound(&self, site: SiteId) -> OutboundSession {
        self.outbound.get(&site).copied().unwrap_or(OutboundSession::ALWAYS_OPEN)
    }

    /// Updates our session at `site`.
    pub fn set_outbound(&mut self, site: SiteId, session: OutboundSession) {
        self.outbound.insert(site, session);
    }

    /// The number of `site`'s session here, if it has one.
    pub fn inbound(&self, site: SiteId) -> Option<SessionNo> {
        self.inbound.get(&site).copied().unwrap_or(Some(SessionNo(0)))
    }

    /// Updates the session of `site` here.
    pub fn set_inbound(&mut self, site: SiteId, number: Option<SessionNo>) {
        self.inbound.insert(site, number);
    }

    /// The sites at which we have no session.
    pub fn closed(&self) -> SiteSet {
        let closed = self.outbound.iter().filter(|(_, session)| session.number.is_none());
        closed.map(|(&site, _)| site).collect()
    }

    /// The sites of a cluster of `n` whose outbound session satisfies `predicate`.
    pub fn sites(&self, n: usize, predicate: impl Fn(OutboundSession) -> bool) -> SiteSet {
        let by_default = predicate(OutboundSession::ALWAYS_OPEN);
        let mut sites = if by_default { SiteSet::full(n) } else { SiteSet::new() };
        for (&site, &session) in &self.outbound {
            if predicate(session) {
                sites.insert(site);
            } else {
                sites.remove(site);
            }
        }
        sites
    }
}

//! What a site knows of its sessions.

use std::collections::BTreeMap;

use quorate_quorum::{SiteId, SiteSet};

use crate::SessionNo;

/// The sessions of one site, as its protocols see them: its own at other sites, and those of other
/// sites here.
///
/// In the papers' world every session is open for ever. So a session that nothing was said of
/// is open and has number 0, and only the others take room.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sessions {
    ours: BTreeMap<SiteId, Ours>,
    theirs: BTreeMap<SiteId, Option<SessionNo>>,
}

/// Our session at some site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ours {
    /// Its number, if it is open.
    pub number: Option<SessionNo>,
    /// Whether nothing was heard in it for half a lease.
    pub silent: bool,
    /// Whether the site lends nothing yet, because it has just restarted.
    pub quarantined: bool,
}

impl Ours {
    const ALWAYS: Ours = Ours { number: Some(SessionNo(0)), silent: false, quarantined: false };
}

impl Sessions {
    /// Our session at `site`.
    pub fn ours(&self, site: SiteId) -> Ours {
        self.ours.get(&site).copied().unwrap_or(Ours::ALWAYS)
    }

    /// Notes what has become of our session at `site`.
    pub fn set_ours(&mut self, site: SiteId, ours: Ours) {
        self.ours.insert(site, ours);
    }

    /// The number of `site`'s session here, if it has one.
    pub fn theirs(&self, site: SiteId) -> Option<SessionNo> {
        self.theirs.get(&site).copied().unwrap_or(Some(SessionNo(0)))
    }

    /// Notes what has become of the session of `site` here.
    pub fn set_theirs(&mut self, site: SiteId, number: Option<SessionNo>) {
        self.theirs.insert(site, number);
    }

    /// The sites at which we have no session.
    pub fn gone(&self) -> SiteSet {
        let gone = self.ours.iter().filter(|(_, ours)| ours.number.is_none());
        gone.map(|(&site, _)| site).collect()
    }

    /// The sites of a cluster of `n` for which `good` is true of our session there.
    pub fn sites(&self, n: usize, good: impl Fn(Ours) -> bool) -> SiteSet {
        let mut sites = if good(Ours::ALWAYS) { SiteSet::full(n) } else { SiteSet::new() };
        for (&site, &ours) in &self.ours {
            if good(ours) {
                sites.insert(site);
            } else {
                sites.remove(site);
            }
        }
        sites
    }
}

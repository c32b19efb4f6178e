//! Sessions by their contract: what may become of one, whatever the reason.
//!
//! The session layer promises S1 to S6 (`docs/site.md`). Here a session is just the order in which
//! its two ends learn of its fate; time is only order. Everything above sessions is the
//! production code.

use std::collections::BTreeMap;

use quorate_protocol::SessionNo;
use quorate_quorum::SiteId;

/// What has become of the session of a client at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fate {
    /// Both ends are open.
    Open,
    /// The client has lost it; the server has not learnt of it yet.
    Lost,
    /// The server crashed and has forgotten it; the client has not learnt of it yet.
    Orphaned,
    /// Neither end is open.
    Closed,
    /// The server has opened the next one; the client has not learnt of it yet.
    Opening,
}

/// The session of a client at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Link {
    pub(super) number: SessionNo,
    pub(super) fate: Fate,
    pub(super) silent: bool,
}

impl Link {
    const ALWAYS: Link = Link { number: SessionNo(0), fate: Fate::Open, silent: false };
}

/// All sessions of a world; one that nothing happened to takes no room.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Links {
    links: BTreeMap<(SiteId, SiteId), Link>,
}

impl Links {
    /// The session of `client` at `server`.
    pub(super) fn get(&self, client: SiteId, server: SiteId) -> Link {
        self.links.get(&(client, server)).copied().unwrap_or(Link::ALWAYS)
    }

    pub(super) fn set(&mut self, client: SiteId, server: SiteId, link: Link) {
        self.links.insert((client, server), link);
    }

    pub(super) fn set_fate(&mut self, client: SiteId, server: SiteId, fate: Fate) {
        self.links.entry((client, server)).or_insert(Link::ALWAYS).fate = fate;
    }

    /// The sessions something happened to.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SiteId, SiteId, Link)> + '_ {
        self.links.iter().map(|(&(client, server), &link)| (client, server, link))
    }
}

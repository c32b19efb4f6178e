//! Sessions by their contract: the states that one may be in, whatever the reason.
//!
//! The session layer promises S1 to S6 (`docs/site.md`). Here a session is just the order in which
//! its two ends learn of its state; time is only order. Everything above sessions is production
//! code.

use std::collections::BTreeMap;

use quorate_protocol::SessionNo;
use quorate_quorum::SiteId;

/// The state of the session of a client at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LinkState {
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
    pub(super) state: LinkState,
    pub(super) silent: bool,
}

impl Link {
    const ALWAYS: Link = Link { number: SessionNo(0), state: LinkState::Open, silent: false };
}

/// All sessions of a world; an untouched one takes no room.
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

    pub(super) fn set_state(&mut self, client: SiteId, server: SiteId, state: LinkState) {
        self.links.entry((client, server)).or_insert(Link::ALWAYS).state = state;
    }

    /// The sessions that were touched.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SiteId, SiteId, Link)> + '_ {
        self.links.iter().map(|(&(client, server), &link)| (client, server, link))
    }
}

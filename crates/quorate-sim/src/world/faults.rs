//! Faults of sessions and sites, and how both ends learn of them.

use quorate_protocol::{ClaimId, Input, OutboundSession, SessionNo, ValidityBasis};
use quorate_quorum::{SiteId, SiteSet};

use super::links::{Link, LinkState};
use super::{ClaimState, Contract, World};
use crate::channels::Lane;
use crate::{Event, Observer, SimProtocol};

/// A fault of a session or of a site, or its repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The client has no reply from the server for half a lease.
    Silence(SiteId, SiteId),
    /// The client's lease at the server has run out by its own clock.
    Lose(SiteId, SiteId),
    /// The client's lease at the server has run out by the server's clock.
    Close(SiteId, SiteId),
    /// The server takes a new session of the client.
    Reopen(SiteId, SiteId),
    /// The client learns that it has a new session at the server.
    Open(SiteId, SiteId),
    /// A site loses everything but its disk. Its callers go on until their own deadline.
    Crash(SiteId),
    /// A site starts again.
    Restart(SiteId),
    /// The quarantine of a restarted site is over.
    Clear(SiteId),
}

/// How many faults one history may have, and whether they are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// How many sessions may be lost.
    pub lose: u32,
    /// How many sessions may fall silent.
    pub silent: u32,
    /// How many sites may crash.
    pub crash: u32,
    /// Whether lost sessions and crashed sites come back.
    pub contract: Contract,
}

impl Faults {
    /// Sessions without faults.
    pub const NONE: Self = Self { lose: 0, silent: 0, crash: 0, contract: Contract::MENDED };
}

/// How many faults one history may have where there are no sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionlessFaults {
    /// How many messages may be lost, in a search.
    pub drop: u32,
    /// How many timers may run out before their time, in a search.
    pub early: u32,
    /// How many sites may crash; they start again.
    pub crash: u32,
    /// How many of a hundred messages are lost, in a random run.
    pub loss_percent: u32,
    /// How often the sites are cut into two sides for a while, in a random run.
    pub cut: u32,
}

impl Fault {
    /// A word for the kind of fault, for counts.
    pub fn word(self) -> &'static str {
        match self {
            Fault::Silence(..) => "silent",
            Fault::Lose(..) => "lose",
            Fault::Close(..) => "close",
            Fault::Reopen(..) => "reopen",
            Fault::Open(..) => "open",
            Fault::Crash(_) => "crash",
            Fault::Restart(_) => "restart",
            Fault::Clear(_) => "clear",
        }
    }

    /// The sites it names.
    pub(crate) fn sites(self) -> Vec<SiteId> {
        match self {
            Fault::Silence(client, server)
            | Fault::Lose(client, server)
            | Fault::Close(client, server)
            | Fault::Reopen(client, server)
            | Fault::Open(client, server) => vec![client, server],
            Fault::Crash(site) | Fault::Restart(site) | Fault::Clear(site) => vec![site],
        }
    }

    /// The site that notices it.
    pub fn site(self) -> SiteId {
        match self {
            Fault::Silence(client, _) | Fault::Lose(client, _) | Fault::Open(client, _) => client,
            Fault::Close(_, server) | Fault::Reopen(_, server) => server,
            Fault::Crash(site) | Fault::Restart(site) | Fault::Clear(site) => site,
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Silence(client, server) => write!(f, "{client} hears nothing of {server}"),
            Fault::Lose(client, server) => write!(f, "{client} loses its session at {server}"),
            Fault::Close(client, server) => write!(f, "{server} closes the session of {client}"),
            Fault::Reopen(client, server) => write!(f, "{server} opens a session of {client}"),
            Fault::Open(client, server) => write!(f, "{client} has a session at {server}"),
            Fault::Crash(site) => write!(f, "{site} crashes"),
            Fault::Restart(site) => write!(f, "{site} restarts"),
            Fault::Clear(site) => write!(f, "{site} leaves its quarantine"),
        }
    }
}

/// A caller of a crashed site whose grant is still valid, and the sites that support it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CrashedHolder {
    site: SiteId,
    claim: ClaimId,
    supporters: SiteSet,
}

impl<P: SimProtocol> World<P> {
    /// Whether `site` runs.
    pub(crate) fn is_up(&self, site: SiteId) -> bool {
        self.nodes[site.index()].up
    }

    /// The faults that must follow from those that have happened, sooner or later, in any order.
    /// `reopens` and `restarts`: whether sessions and sites come back.
    pub(crate) fn owed(&self, reopens: bool, restarts: bool) -> Vec<Fault> {
        let mut owed = Vec::new();
        for (client, server, link) in self.links.iter() {
            let both_up = self.is_up(client) && self.is_up(server);
            match link.state {
                LinkState::Lost => owed.push(Fault::Close(client, server)),
                LinkState::Orphaned => owed.push(Fault::Lose(client, server)),
                LinkState::Opening => owed.push(Fault::Open(client, server)),
                LinkState::Closed if reopens && both_up => owed.push(Fault::Reopen(client, server)),
                LinkState::Closed | LinkState::Open => {}
            }
        }
        for site in SiteId::all(self.n()) {
            let node = &self.nodes[site.index()];
            if !node.up && restarts {
                owed.push(Fault::Restart(site));
            }
            if node.up && node.shared.quarantined && !self.is_remembered(site) {
                owed.push(Fault::Clear(site));
            }
        }
        owed
    }

    /// Whether a client still counts on what `site` lent before it restarted.
    fn is_remembered(&self, site: SiteId) -> bool {
        let mut links = self.links.iter();
        links.any(|(_, server, link)| server == site && link.state == LinkState::Orphaned)
    }

    /// Whether the session can fall silent, or be lost. A session that never carries a message has
    /// no faults: nothing depends on it, and in a search its states would multiply all others.
    pub(crate) fn is_open(&self, client: SiteId, server: SiteId) -> bool {
        let isolated = self.fixed.0.isolated.contains(&(client, server));
        !isolated && self.links.get(client, server).state == LinkState::Open
    }

    /// The other sites with which `site` communicates.
    fn peers(&self, site: SiteId) -> Vec<SiteId> {
        let isolated = |peer| self.fixed.0.isolated.contains(&(site, peer));
        SiteId::all(self.n()).filter(|&peer| peer != site && !isolated(peer)).collect()
    }

    /// The number of the client's session at the server: the last one, if it is not open.
    pub(crate) fn session(&self, client: SiteId, server: SiteId) -> SessionNo {
        self.links.get(client, server).number
    }

    /// Whether the client has yet to learn that it has a new session at the server. Until then the
    /// server's messages in it wait.
    pub(crate) fn is_opening(&self, client: SiteId, server: SiteId) -> bool {
        self.links.get(client, server).state == LinkState::Opening
    }

    /// Whether the client has had no reply from the server for half a lease.
    pub(crate) fn is_silent(&self, client: SiteId, server: SiteId) -> bool {
        self.links.get(client, server).silent
    }

    /// Applies `fault`.
    pub(crate) fn suffer(&mut self, fault: Fault, watch: &mut dyn Observer) {
        watch.see(0, &Event::Suffers(fault));
        match fault {
            Fault::Silence(client, server) => self.silence(client, server, watch),
            Fault::Lose(client, server) => self.lose(client, server, watch),
            Fault::Close(client, server) => self.close(client, server, watch),
            Fault::Reopen(client, server) => self.reopen(client, server, watch),
            Fault::Open(client, server) => self.open(client, server, watch),
            Fault::Crash(site) => self.crash(site),
            Fault::Restart(site) => self.restart(site),
            Fault::Clear(site) => self.clear(site, watch),
        }
        self.check_properties();
    }

    fn notify(&mut self, site: SiteId, input: Input<P>, watch: &mut dyn Observer) {
        if let Err(violation) = self.step(site, 1, input, watch) {
            self.monitor.on_violation(site, violation);
        }
        self.finish(site, watch);
    }

    fn silence(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        let link = Link { silent: true, ..self.links.get(client, server) };
        self.links.set(client, server, link);
        let sessions = &mut self.begin(client).shared.sessions;
        sessions
            .set_outbound(server, OutboundSession { silent: true, ..sessions.outbound(server) });
        self.notify(client, Input::Silent(server), watch);
    }

    fn lose(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        let orphaned = self.links.get(client, server).state == LinkState::Orphaned;
        let state = if orphaned { LinkState::Closed } else { LinkState::Lost };
        let link = Link { silent: false, state, ..self.links.get(client, server) };
        self.links.set(client, server, link);
        self.lose_lane(server, client, Lane::Down);
        if orphaned {
            self.lose_lane(client, server, Lane::Up);
        }
        self.begin(client).shared.sessions.set_outbound(server, OutboundSession::default());
        self.expire_rights(client, server, watch);
        let roots = self.roots(client);
        if let Err(violation) = self.step(client, 1, Input::Lost(server), watch) {
            self.monitor.on_violation(client, violation);
        }
        let still = self.roots(client);
        let over: Vec<_> = roots.into_iter().filter(|root| !still.contains(root)).collect();
        self.expire_roots(&over, watch);
        self.finish(client, watch);
    }

    fn close(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        self.expire_delegations_of_closed(client, server, watch);
        self.links.set_state(client, server, LinkState::Closed);
        self.lose_lane(client, server, Lane::Up);
        self.end_crashed_holders_at(client, server);
        self.begin(server).shared.close_session_of(client);
        self.notify(server, Input::Closed(client), watch);
    }

    fn reopen(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        let number = self.links.get(client, server).number.next();
        self.links.set(client, server, Link { number, state: LinkState::Opening, silent: false });
        self.begin(server).shared.sessions.set_inbound(client, Some(number));
        self.notify(server, Input::Opened(client, number), watch);
    }

    fn open(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        self.links.set_state(client, server, LinkState::Open);
        let number: SessionNo = self.links.get(client, server).number;
        let quarantined = self.nodes[server.index()].shared.quarantined;
        let ours = OutboundSession { number: Some(number), silent: false, quarantined };
        self.begin(client).shared.sessions.set_outbound(server, ours);
        self.notify(client, Input::Open(server, number), watch);
    }

    fn crash(&mut self, site: SiteId) {
        self.disarm_all(site);
        self.keep_delegations_of_crashed(site);
        let node = &self.nodes[site.index()];
        for (&claim, &state) in &node.claims {
            match state {
                ClaimState::Waiting => {
                    self.waiting -= 1;
                    self.monitor.on_end(site, claim);
                }
                ClaimState::Inside => {
                    self.inside -= 1;
                    if self.contract.is_none() {
                        let until = node.protocol.valid_until(claim).unwrap_or(self.now);
                        self.lingering.push((site, claim, until));
                    } else if let ValidityBasis::Permissions(supporters) =
                        node.protocol.validity_basis(claim)
                    {
                        self.crashed_holders.push(CrashedHolder { site, claim, supporters });
                    }
                }
                ClaimState::Lost => {}
            }
        }
        let node = self.nodes[site.index()].make_mut();
        node.claims.clear();
        node.up = false;
        let held = node.held_token.take();
        self.occupied -= usize::from(!node.vacant);
        node.vacant = true;
        self.monitor.on_token(held, None);
        self.end_lingering();
        if self.contract.is_some() {
            for peer in self.peers(site) {
                self.break_link(site, peer);
            }
        }
    }

    /// What the crash of `site` does to its sessions with `peer`, both ways.
    fn break_link(&mut self, site: SiteId, peer: SiteId) {
        let as_client = match self.links.get(site, peer).state {
            LinkState::Open | LinkState::Lost | LinkState::Opening => LinkState::Lost,
            LinkState::Orphaned | LinkState::Closed => LinkState::Closed,
        };
        self.links.set_state(site, peer, as_client);
        self.lose_lane(peer, site, Lane::Down);
        let as_server = match self.links.get(peer, site).state {
            LinkState::Open | LinkState::Orphaned => LinkState::Orphaned,
            LinkState::Lost | LinkState::Closed | LinkState::Opening => LinkState::Closed,
        };
        self.links.set_state(peer, site, as_server);
        self.lose_lane(peer, site, Lane::Up);
        if as_server == LinkState::Closed {
            self.lose_lane(site, peer, Lane::Down);
        }
    }

    fn restart(&mut self, site: SiteId) {
        let (peers, fixed) = (self.peers(site), self.fixed.clone());
        let node = self.nodes[site.index()].make_mut();
        let mut shared = node.shared.restarted(node.shared.clock, node.disk_ceil);
        if self.contract.is_some() {
            for peer in peers {
                shared.sessions.set_outbound(peer, OutboundSession::default());
                shared.sessions.set_inbound(peer, None);
            }
        } else {
            shared.quarantined = false; // a protocol without sessions sees to it itself
        }
        node.protocol = P::restarted(site, &fixed.0.quorums, &fixed.0.options, node.disk.as_ref());
        node.disk_ceil = shared.ceil();
        (node.shared, node.vacant, node.up) = (shared, true, true);
    }

    fn clear(&mut self, site: SiteId, watch: &mut dyn Observer) {
        self.end_crashed_holders_of_past_life(site);
        self.expire_delegations_of_past_life(site, watch);
        self.begin(site).shared.quarantined = false;
        for peer in SiteId::all(self.n()).filter(|&peer| peer != site) {
            let sessions = &mut self.begin(peer).shared.sessions;
            let ours = sessions.outbound(site);
            if ours.quarantined {
                sessions.set_outbound(site, OutboundSession { quarantined: false, ..ours });
            }
        }
        self.notify(site, Input::Cleared, watch);
    }

    /// The callers of a crashed site that need the permission of `server` stop before it closes the
    /// session: the client's deadline comes first.
    fn end_crashed_holders_at(&mut self, client: SiteId, server: SiteId) {
        for holder in self.crashed_holders.iter_mut().filter(|holder| holder.site == client) {
            holder.supporters.remove(server);
        }
        self.drop_unsupported_holders();
    }

    /// A quarantine outlasts every loan from before the crash: those to the site's own callers, and
    /// those to sites that crashed too and so never learnt that their session ended.
    fn end_crashed_holders_of_past_life(&mut self, restarted: SiteId) {
        for holder in &mut self.crashed_holders {
            if holder.site == restarted {
                holder.supporters = SiteSet::new();
            } else {
                holder.supporters.remove(restarted);
            }
        }
        self.drop_unsupported_holders();
    }

    /// Callers of crashed sites have stopped if the remaining sites are no quorum.
    fn drop_unsupported_holders(&mut self) {
        let (quorums, monitor) = (&self.fixed.0.quorums, &mut self.monitor);
        self.crashed_holders.retain(|CrashedHolder { site, claim, supporters }| {
            let grant = monitor.grant(*site, *claim).expect("a crashed holder is inside");
            let valid = P::is_quorum_for(quorums, grant, supporters);
            if !valid {
                monitor.on_leave(*site, *claim);
            }
            valid
        });
    }
}

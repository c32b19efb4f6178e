//! What can go wrong in a world of sessions, and how its ends learn of it.

use quorate_protocol::{Basis, ClaimId, Input, Ours, SessionNo};
use quorate_quorum::{SiteId, SiteSet};

use super::links::{Fate, Link};
use super::{Contract, Standpoint, World};
use crate::channels::Lane;
use crate::{Event, Observer, Subject};

/// Something that happens to a session or to a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The client hears nothing of the server for half a lease.
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

/// How much may go wrong in one history, and whether it is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// How many sessions may be lost.
    pub lose: u32,
    /// How many sessions may fall silent.
    pub silent: u32,
    /// How many sites may crash.
    pub crash: u32,
    /// What becomes of them.
    pub contract: Contract,
}

impl Faults {
    /// Sessions, and nothing goes wrong; if anything did, it would be mended.
    pub const NONE: Self = Self { lose: 0, silent: 0, crash: 0, contract: Contract::MENDED };
}

/// How much may go wrong in one history where there are no sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slips {
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

/// A caller of a crashed site that still believes in its grant, and those it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ghost {
    site: SiteId,
    claim: ClaimId,
    vouchers: SiteSet,
}

impl<P: Subject> World<P> {
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
            match link.fate {
                Fate::Lost => owed.push(Fault::Close(client, server)),
                Fate::Orphaned => owed.push(Fault::Lose(client, server)),
                Fate::Opening => owed.push(Fault::Open(client, server)),
                Fate::Closed if reopens && both_up => owed.push(Fault::Reopen(client, server)),
                Fate::Closed | Fate::Open => {}
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
        links.any(|(_, server, link)| server == site && link.fate == Fate::Orphaned)
    }

    /// Whether the session can fall silent, or be lost. One in which nobody ever speaks is left
    /// alone: nothing depends on it, and in a search its fate would multiply all others.
    pub(crate) fn is_open(&self, client: SiteId, server: SiteId) -> bool {
        let mute = self.fixed.0.mute.contains(&(client, server));
        !mute && self.links.get(client, server).fate == Fate::Open
    }

    /// The other sites to which `site` has anything to say.
    fn peers(&self, site: SiteId) -> Vec<SiteId> {
        let mute = |peer| self.fixed.0.mute.contains(&(site, peer));
        SiteId::all(self.n()).filter(|&peer| peer != site && !mute(peer)).collect()
    }

    /// The number of the client's session at the server: the last one, if it is not open.
    pub(crate) fn session(&self, client: SiteId, server: SiteId) -> SessionNo {
        self.links.get(client, server).number
    }

    /// Whether the client has yet to learn that it has a new session at the server. What the
    /// server says in it meanwhile waits.
    pub(crate) fn is_opening(&self, client: SiteId, server: SiteId) -> bool {
        self.links.get(client, server).fate == Fate::Opening
    }

    /// Whether the client has heard nothing of the server for half a lease.
    pub(crate) fn is_silent(&self, client: SiteId, server: SiteId) -> bool {
        self.links.get(client, server).silent
    }

    /// Lets `fault` happen.
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
        self.judge_standing();
    }

    fn tell(&mut self, site: SiteId, input: Input<P>, watch: &mut dyn Observer) {
        if let Err(violation) = self.step(site, 1, input, watch) {
            self.judge.on_violation(site, violation);
        }
        self.finish(site, watch);
    }

    fn silence(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        let link = Link { silent: true, ..self.links.get(client, server) };
        self.links.set(client, server, link);
        let sessions = &mut self.begin(client).shared.sessions;
        sessions.set_ours(server, Ours { silent: true, ..sessions.ours(server) });
        self.tell(client, Input::Silent(server), watch);
    }

    fn lose(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        let orphaned = self.links.get(client, server).fate == Fate::Orphaned;
        let fate = if orphaned { Fate::Closed } else { Fate::Lost };
        let link = Link { silent: false, fate, ..self.links.get(client, server) };
        self.links.set(client, server, link);
        self.lose_lane(server, client, Lane::Down);
        if orphaned {
            self.lose_lane(client, server, Lane::Up);
        }
        self.begin(client).shared.sessions.set_ours(server, Ours::default());
        self.end_right(client, server, watch);
        let leads = self.leads(client);
        if let Err(violation) = self.step(client, 1, Input::Lost(server), watch) {
            self.judge.on_violation(client, violation);
        }
        let still = self.leads(client);
        let over: Vec<_> = leads.into_iter().filter(|lead| !still.contains(lead)).collect();
        self.end_leads(&over, watch);
        self.finish(client, watch);
    }

    fn close(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        self.end_ghosts(client, server, watch);
        self.links.set_fate(client, server, Fate::Closed);
        self.lose_lane(client, server, Lane::Up);
        self.bury(client, server);
        self.begin(server).shared.sessions.set_theirs(client, None);
        self.tell(server, Input::Closed(client), watch);
    }

    fn reopen(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        let number = self.links.get(client, server).number.next();
        self.links.set(client, server, Link { number, fate: Fate::Opening, silent: false });
        self.begin(server).shared.sessions.set_theirs(client, Some(number));
        self.tell(server, Input::Opened(client, number), watch);
    }

    fn open(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        self.links.set_fate(client, server, Fate::Open);
        let number: SessionNo = self.links.get(client, server).number;
        let quarantined = self.nodes[server.index()].shared.quarantined;
        let ours = Ours { number: Some(number), silent: false, quarantined };
        self.begin(client).shared.sessions.set_ours(server, ours);
        self.tell(client, Input::Open(server, number), watch);
    }

    fn crash(&mut self, site: SiteId) {
        self.disarm_all(site);
        self.haunt(site);
        let node = &self.nodes[site.index()];
        for (&claim, &standpoint) in &node.claims {
            match standpoint {
                Standpoint::Waiting => {
                    self.waiting -= 1;
                    self.judge.on_end(site, claim);
                }
                Standpoint::Inside => {
                    self.inside -= 1;
                    if self.contract.is_none() {
                        let until = node.protocol.believes_until(claim).unwrap_or(self.now);
                        self.lingering.push((site, claim, until));
                    } else if let Basis::Permissions(vouchers) = node.protocol.rests_on(claim) {
                        self.ghosts.push(Ghost { site, claim, vouchers });
                    }
                }
                Standpoint::Lost => {}
            }
        }
        let node = self.nodes[site.index()].make_mut();
        node.claims.clear();
        node.up = false;
        let held = node.holds.take();
        self.occupied -= usize::from(!node.vacant);
        node.vacant = true;
        self.judge.on_token(held, None);
        self.end_lingering();
        if self.contract.is_some() {
            for peer in self.peers(site) {
                self.break_link(site, peer);
            }
        }
    }

    /// What the crash of `site` does to its sessions with `peer`, both ways.
    fn break_link(&mut self, site: SiteId, peer: SiteId) {
        let as_client = match self.links.get(site, peer).fate {
            Fate::Open | Fate::Lost | Fate::Opening => Fate::Lost,
            Fate::Orphaned | Fate::Closed => Fate::Closed,
        };
        self.links.set_fate(site, peer, as_client);
        self.lose_lane(peer, site, Lane::Down);
        let as_server = match self.links.get(peer, site).fate {
            Fate::Open | Fate::Orphaned => Fate::Orphaned,
            Fate::Lost | Fate::Closed | Fate::Opening => Fate::Closed,
        };
        self.links.set_fate(peer, site, as_server);
        self.lose_lane(peer, site, Lane::Up);
        if as_server == Fate::Closed {
            self.lose_lane(site, peer, Lane::Down);
        }
    }

    fn restart(&mut self, site: SiteId) {
        let (peers, fixed) = (self.peers(site), self.fixed.clone());
        let node = self.nodes[site.index()].make_mut();
        let mut shared = node.shared.restarted(node.shared.clock, node.disk_ceil);
        if self.contract.is_some() {
            for peer in peers {
                shared.sessions.set_ours(peer, Ours::default());
                shared.sessions.set_theirs(peer, None);
            }
        } else {
            shared.quarantined = false; // a protocol without sessions sees to it itself
        }
        node.protocol = P::restarted(site, &fixed.0.quorums, &fixed.0.options, node.disk.as_ref());
        node.disk_ceil = shared.ceil();
        (node.shared, node.vacant, node.up) = (shared, true, true);
    }

    fn clear(&mut self, site: SiteId, watch: &mut dyn Observer) {
        self.bury_all(site);
        self.end_former_life(site, watch);
        self.begin(site).shared.quarantined = false;
        for peer in SiteId::all(self.n()).filter(|&peer| peer != site) {
            let sessions = &mut self.begin(peer).shared.sessions;
            let ours = sessions.ours(site);
            if ours.quarantined {
                sessions.set_ours(site, Ours { quarantined: false, ..ours });
            }
        }
        self.tell(site, Input::Cleared, watch);
    }

    /// The callers of a crashed site stop before `server` closes its session: the client's
    /// deadline comes first.
    fn bury(&mut self, client: SiteId, server: SiteId) {
        for ghost in self.ghosts.iter_mut().filter(|ghost| ghost.site == client) {
            ghost.vouchers.remove(server);
        }
        self.drop_ghosts();
    }

    /// A quarantine outlasts all that was lent before the crash: to the callers of the site itself,
    /// and to those of sites that crashed too and so never learnt that their session ended.
    fn bury_all(&mut self, restarted: SiteId) {
        for ghost in &mut self.ghosts {
            if ghost.site == restarted {
                ghost.vouchers = SiteSet::new();
            } else {
                ghost.vouchers.remove(restarted);
            }
        }
        self.drop_ghosts();
    }

    /// Who is inside on the word of too few has stopped.
    fn drop_ghosts(&mut self) {
        let (quorums, judge) = (&self.fixed.0.quorums, &mut self.judge);
        self.ghosts.retain(|ghost| {
            let grant = judge.grant(ghost.site, ghost.claim).expect("a ghost is inside");
            let stays = P::vouch(quorums, grant, &ghost.vouchers);
            if !stays {
                judge.on_leave(ghost.site, ghost.claim);
            }
            stays
        });
    }
}

//! Sites that speak to each other in memory, and their clients: the true part of a run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::session::{Packet, Rule, Seq};
use quorate_session::{
    Access, Group, GroupSpec, LockSpec, Name, PoolSpec, Role, RoleSpec, SessionNo, Tick, TokenSpec,
    Units,
};
use quorate_site::client_gateway::GatewayEffect;
use quorate_site::kinds::PoolProtocol;
use quorate_site::{Effect, SitePacket};
use quorate_wire::ClientPacket;

use super::case::{Case, START};
use super::chance::Chance;
use super::clients::Client;
use super::judge::caught;
use super::victim::{Event, Victim};

/// The kinds of lock that the callers of a run use.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Locks {
    /// Mutexes.
    Mutex,
    /// Pools, which are ledger pools except in runs of `Arbiters`.
    Pool,
    /// Pools by arbiters.
    Arbiters,
    /// Group locks.
    Group,
    /// Read-write locks.
    Rw,
    /// Role locks.
    Role,
    /// Group locks by token.
    Token,
    /// All but `Arbiters`, each under names of its own.
    Mixed,
}

impl Locks {
    /// Which protocol the pools of a run have.
    fn pools(self) -> PoolProtocol {
        if self == Locks::Arbiters { PoolProtocol::Arbiters } else { PoolProtocol::Ledger }
    }
}

/// How many sites a run has.
pub(super) const SITES: usize = 3;

/// What arrives at a site next.
#[derive(Clone, Debug)]
pub(super) enum Arrival {
    Site { from: usize, to: usize, packet: SitePacket },
    Client { client: usize, to: usize, packet: ClientPacket },
}

/// The last frames that arrived on a connection, in both streams that it carries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Streams {
    pub(super) up: (SessionNo, Seq),
    pub(super) down: (SessionNo, Seq),
}

/// The sites of a run and their clients.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) locks: Locks,
    pub(super) now: Tick,
    pub(super) sites: Vec<Victim>,
    pub(super) histories: Vec<Vec<(Tick, Event)>>,
    pub(super) clients: Vec<Client>,
    pub(super) streams: BTreeMap<(usize, usize), Streams>,
    links: BTreeMap<(usize, usize), VecDeque<SitePacket>>,
    requests: Vec<VecDeque<ClientPacket>>,
    cut: BTreeSet<(usize, usize)>,
}

impl Cluster {
    pub(super) fn new(locks: Locks, undone: Option<Rule>) -> Self {
        let mut cluster = Self {
            locks,
            now: START,
            sites: Vec::new(),
            histories: vec![Vec::new(); SITES],
            clients: (0..2 * SITES as u128).map(|id| Client::new(id + 1)).collect(),
            streams: BTreeMap::new(),
            links: BTreeMap::new(),
            requests: vec![VecDeque::new(); 2 * SITES],
            cut: BTreeSet::new(),
        };
        for site in SiteId::all(SITES) {
            let pools = locks.pools();
            let (victim, effects) = Victim::start(site, SITES, START, pools, undone);
            cluster.sites.push(victim);
            cluster.carry_out(site.index(), effects);
        }
        cluster
    }

    /// The history of a site, with what happened to it in the end.
    pub(super) fn case(&self, site: usize, end: &[(Tick, Event)]) -> Case {
        let mut events = self.histories[site].clone();
        events.extend_from_slice(end);
        Case { site: SiteId::new(site), n: SITES, pools: self.locks.pools(), events }
    }

    /// Lets something happen to a site.
    pub(super) fn apply(&mut self, site: usize, event: Event) -> Result<(), String> {
        self.histories[site].push((self.now, event.clone()));
        let (now, victim) = (self.now, &mut self.sites[site]);
        let effects = caught(|| victim.apply(now, event))?;
        self.carry_out(site, effects);
        Ok(())
    }

    pub(super) fn carry_out(&mut self, site: usize, effects: Vec<GatewayEffect>) {
        for effect in effects {
            match effect {
                GatewayEffect::Site(Effect::Packet(to, packet)) => {
                    if let Some(link) = self.links.get_mut(&(site, to.index())) {
                        link.push_back(packet);
                    }
                }
                GatewayEffect::Site(Effect::Refuse(peer, _)) => {
                    self.cut.insert((site.min(peer.index()), site.max(peer.index())));
                }
                GatewayEffect::Client(id, packet) => {
                    let found = self.clients.iter().position(|client| client.id == id);
                    let Some(place) = found else { continue };
                    if self.clients[place].on_packet(&packet) {
                        let hello = self.clients[place].hello();
                        self.requests[place].push_back(hello);
                    }
                }
                GatewayEffect::Site(_) => {}
            }
        }
    }

    /// Something happens. A packet that arrives is returned, and not handled yet.
    pub(super) fn step(&mut self, chance: &mut Chance) -> Result<Option<Arrival>, String> {
        match chance.below(100) {
            0..60 => return Ok(self.next_arrival(chance)),
            60..75 => self.client_acts(chance),
            75..88 => self.pass(chance)?,
            88..97 => {
                let site = chance.index(SITES);
                if self.sites[site].is_writing() {
                    self.apply(site, Event::Saved)?;
                }
            }
            97 => self.disconnect(chance)?,
            98 if chance.percent(15) => self.restart(chance.index(SITES))?,
            99 if chance.percent(5) => {
                self.apply(chance.index(SITES), Event::Drain(Duration::from_secs(2)))?;
            }
            _ => self.connect()?,
        }
        Ok(None)
    }

    /// Connects all sites that are not connected.
    pub(super) fn connect(&mut self) -> Result<(), String> {
        for one in 0..SITES {
            for other in one + 1..SITES {
                let up = self.links.contains_key(&(one, other));
                if up && !self.cut.remove(&(one, other)) {
                    continue;
                }
                for (from, to) in [(one, other), (other, one)] {
                    self.links.insert((from, to), VecDeque::new());
                    self.streams.remove(&(from, to));
                }
                self.apply(one, Event::Up(SiteId::new(other)))?;
                self.apply(other, Event::Up(SiteId::new(one)))?;
            }
        }
        Ok(())
    }

    fn disconnect(&mut self, chance: &mut Chance) -> Result<(), String> {
        let (one, other) = [(0, 1), (0, 2), (1, 2)][chance.index(3)];
        if self.links.remove(&(one, other)).is_some() {
            self.links.remove(&(other, one));
            self.apply(one, Event::Down(SiteId::new(other)))?;
            self.apply(other, Event::Down(SiteId::new(one)))?;
        }
        Ok(())
    }

    fn restart(&mut self, site: usize) -> Result<(), String> {
        for peer in (0..SITES).filter(|peer| *peer != site) {
            if self.links.remove(&(site, peer)).is_some() {
                self.links.remove(&(peer, site));
                self.apply(peer, Event::Down(SiteId::new(site)))?;
            }
        }
        self.apply(site, Event::Restart)?;
        for client in (0..self.clients.len()).filter(|client| client % SITES == site) {
            self.requests[client].clear();
            let hello = self.clients[client].hello();
            self.requests[client].push_back(hello);
        }
        self.connect()
    }

    fn next_arrival(&mut self, chance: &mut Chance) -> Option<Arrival> {
        if chance.percent(30) {
            let client = chance.index(self.clients.len());
            let packet = self.requests[client].pop_front()?;
            return Some(Arrival::Client { client, to: client % SITES, packet });
        }
        let full: Vec<(usize, usize)> =
            self.links.iter().filter(|(_, link)| !link.is_empty()).map(|(pair, _)| *pair).collect();
        if full.is_empty() {
            return None;
        }
        let (from, to) = full[chance.index(full.len())];
        let packet = self.links.get_mut(&(from, to))?.pop_front()?;
        Some(Arrival::Site { from, to, packet })
    }

    /// Handles a packet that arrives.
    pub(super) fn deliver(&mut self, arrival: Arrival) -> Result<(), String> {
        match arrival {
            Arrival::Client { client, to, packet } => {
                let id = self.clients[client].id;
                self.apply(to, Event::Client(id, packet))
            }
            Arrival::Site { from, to, packet } => {
                if !self.links.contains_key(&(from, to)) {
                    return Ok(());
                }
                let streams = self.streams.entry((from, to)).or_default();
                match &packet {
                    SitePacket::Session(Packet::Up(number, frame)) => {
                        streams.up = (*number, frame.seq);
                    }
                    SitePacket::Session(Packet::Down(number, frame)) => {
                        streams.down = (*number, frame.seq);
                    }
                    _ => {}
                }
                self.apply(to, Event::Packet(SiteId::new(from), packet))
            }
        }
    }

    fn client_acts(&mut self, chance: &mut Chance) {
        let place = chance.index(self.clients.len());
        if !self.clients[place].is_open() {
            if self.requests[place].is_empty() {
                let hello = self.clients[place].hello();
                self.requests[place].push_back(hello);
            }
            return;
        }
        let (name, spec) = draw_lock(self.locks, chance);
        let request = self.clients[place].request(name, spec, chance);
        self.requests[place].push_back(request);
    }

    fn pass(&mut self, chance: &mut Chance) -> Result<(), String> {
        let step = if chance.percent(3) { 1000 } else { 60 };
        self.now = self.now + Duration::from_millis(chance.below(step));
        for site in 0..SITES {
            if self.sites[site].site().deadline().is_some_and(|when| when <= self.now) {
                self.apply(site, Event::Time)?;
            }
        }
        for place in 0..self.clients.len() {
            if self.clients[place].is_open() && chance.percent(10) {
                let renew = self.clients[place].renew();
                self.requests[place].push_back(renew);
            }
        }
        Ok(())
    }
}

/// A lock, and what a caller wants of it.
fn draw_lock(locks: Locks, chance: &mut Chance) -> (Name, LockSpec) {
    let all = [Locks::Mutex, Locks::Pool, Locks::Group, Locks::Rw, Locks::Role, Locks::Token];
    let kind = if locks == Locks::Mixed { all[chance.index(all.len())] } else { locks };
    let name = format!("{kind}/{}", chance.below(2)).parse().expect("a good name");
    (name, draw_spec(kind, chance))
}

fn draw_spec(locks: Locks, chance: &mut Chance) -> LockSpec {
    let some = 1 + chance.below(7);
    let groups: Vec<Group> = (0..3)
        .filter(|group| some >> group & 1 == 1)
        .map(|group| Group::new(["a", "b", "c"][group]))
        .collect();
    match locks {
        Locks::Mutex | Locks::Mixed => LockSpec::Mutex,
        Locks::Pool | Locks::Arbiters => {
            let units = Units { count: if chance.percent(60) { 1 } else { 2 }, of: 3 };
            LockSpec::Pool(PoolSpec { units, numbered: chance.percent(50) })
        }
        Locks::Group => LockSpec::Group(GroupSpec(groups.into_iter().collect())),
        Locks::Token => LockSpec::Token(TokenSpec(groups.into_iter().collect())),
        Locks::Rw => {
            LockSpec::Access(if chance.percent(60) { Access::Read } else { Access::Write })
        }
        Locks::Role => {
            let role = |chance: &mut Chance| {
                if chance.percent(40) { Role::Exclusive } else { Role::Shared }
            };
            let groups = groups.into_iter().map(|group| (group, role(chance))).collect();
            LockSpec::Role(RoleSpec { groups, time: Duration::from_millis(chance.below(900)) })
        }
    }
}

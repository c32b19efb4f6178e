//! One run: true sites, and at many moments copies of one of them to which a peer or a client lies.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::Tick;
use quorate_session::client::ClientId;
use quorate_session::session::{Packet, Rule, Seq};
use quorate_site::client_gateway::GatewayEffect;
use quorate_site::{Effect, SitePacket};
use quorate_wire::ClientPacket;

use super::case::{Case, place};
use super::chance::Chance;
use super::cluster::{Arrival, Cluster, Locks, Streams};
use super::judge::caught;
use super::mutator::{Dictionary, mutate};
use super::spans::Encoded;
use super::victim::{Event, Victim};

/// What a run does.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The locks of its callers.
    pub locks: Locks,
    /// It decides everything else.
    pub seed: u64,
    /// How many things happen in the true part.
    pub steps: u64,
    /// How many copies are lied to, at each packet that arrives.
    pub copies: u64,
    /// The rule that is undone.
    pub undone: Option<Rule>,
    /// The event before which to stop, and report the history so far as a failure.
    pub stop_before: Option<u64>,
}

/// Something that must not happen, and how it came about.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What is wrong.
    pub what: String,
    /// The history of the site.
    pub case: Case,
}

/// What runs have done, and found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many changed packets of sites were handled.
    pub of_peers: u64,
    /// How many changed packets of clients were handled.
    pub of_clients: u64,
    /// How many changed packets the decoder refused.
    pub undecodable: u64,
    /// How many a site rejected as violations.
    pub rejected: u64,
    /// The failures, by their place, with how often each was found.
    pub failures: BTreeMap<String, (u64, Failure)>,
}

impl Report {
    /// Adds another report.
    pub fn add(&mut self, other: Report) {
        self.of_peers += other.of_peers;
        self.of_clients += other.of_clients;
        self.undecodable += other.undecodable;
        self.rejected += other.rejected;
        for (at, (count, failure)) in other.failures {
            self.failures.entry(at).or_insert((0, failure)).0 += count;
        }
    }

    fn note(&mut self, what: String, case: Case) {
        let at = place(&what).to_owned();
        self.failures.entry(at).or_insert_with(|| (0, Failure { what, case })).0 += 1;
    }
}

/// Packets that arrived lately, as material for lies.
const RECENT: usize = 64;

struct Run<'a> {
    cluster: Cluster,
    dictionary: Dictionary,
    recent: Vec<SitePacket>,
    recent_requests: Vec<ClientPacket>,
    chance: Chance,
    report: Report,
    /// How many events copies have had.
    events: &'a AtomicU64,
    stop_before: Option<u64>,
}

/// A copy of a site, and what has happened to it since.
struct Copy {
    victim: Victim,
    events: Vec<(Tick, Event)>,
    streams: Streams,
}

/// Carries out a run, and counts its events.
pub fn run(plan: Plan, events: &AtomicU64) -> Report {
    events.store(0, Ordering::Relaxed);
    let mut run = Run {
        cluster: Cluster::new(plan.locks, plan.undone),
        dictionary: Dictionary::default(),
        recent: Vec::new(),
        recent_requests: Vec::new(),
        chance: Chance::new(plan.seed),
        report: Report::default(),
        events,
        stop_before: plan.stop_before,
    };
    let mut done = run.cluster.connect();
    for _ in 0..plan.steps {
        done = done.and_then(|()| run.step(plan.copies));
        if let Err(what) = done {
            // It came about because a lie was kept: the history of every site has all of it.
            let fails = |case: &Case| case.replay().is_err();
            let case = (0..3).map(|site| run.cluster.case(site, &[])).find(fails);
            run.report.note(what, case.unwrap_or_else(|| run.cluster.case(0, &[])));
            return run.report;
        }
    }
    run.report
}

impl Run<'_> {
    fn step(&mut self, copies: u64) -> Result<(), String> {
        if self.report.failures.contains_key("stopped") {
            return Ok(());
        }
        let Some(arrival) = self.cluster.step(&mut self.chance)? else { return Ok(()) };
        self.learn(&arrival);
        let mut kept = None;
        for _ in 0..copies {
            let to = match &arrival {
                Arrival::Site { to, .. } | Arrival::Client { to, .. } => *to,
            };
            match self.lie(to, &arrival) {
                Ok(copy) if self.chance.below(1000) == 0 => kept = Some((to, copy)),
                Ok(_) => {}
                Err((what, events)) => {
                    let case = self.cluster.case(to, &events);
                    self.report.note(what, case);
                }
            }
        }
        if let Some((to, copy)) = kept {
            // From now on this is the site. What it has sent meanwhile is lost.
            self.cluster.histories[to].extend(copy.events);
            self.cluster.now = self.cluster.now.max(copy.victim.now);
            self.cluster.sites[to] = copy.victim;
            return Ok(());
        }
        self.cluster.deliver(arrival)
    }

    fn learn(&mut self, arrival: &Arrival) {
        let encoded = match arrival {
            Arrival::Site { packet, .. } => Encoded::of(packet),
            Arrival::Client { packet, .. } => Encoded::of(packet),
        };
        if let Some(encoded) = encoded {
            self.dictionary.learn(&encoded, &mut self.chance);
        }
        match arrival {
            Arrival::Site { packet, .. } => keep(&mut self.recent, packet, &mut self.chance),
            Arrival::Client { packet, .. } => {
                keep(&mut self.recent_requests, packet, &mut self.chance);
            }
        }
    }

    /// Lies to a copy of a site: a few changed packets, among true events.
    fn lie(&mut self, to: usize, arrival: &Arrival) -> Result<Copy, (String, Vec<(Tick, Event)>)> {
        let streams = match arrival {
            Arrival::Site { from, to, .. } => self.cluster.streams.get(&(*from, *to)).copied(),
            Arrival::Client { .. } => None,
        };
        let victim = self.cluster.sites[to].clone();
        let mut copy = Copy { victim, events: Vec::new(), streams: streams.unwrap_or_default() };
        let mut now = self.cluster.now;
        let length = 1 + self.chance.below(3) * self.chance.below(3);
        for place in 0..=length {
            let event = if place < length { self.draw(arrival, &mut copy) } else { None };
            let Some(event) = event else { continue };
            if event == Event::Time {
                now = now + Duration::from_millis(1 << self.chance.below(11));
            }
            self.happen(&mut copy, now, event)?;
        }
        if self.chance.percent(8) {
            self.let_pass(&mut copy, now)?;
        }
        if self.chance.percent(8) {
            let now = copy.victim.now;
            self.happen(&mut copy, now, Event::Restart)?;
            self.happen(&mut copy, now, Event::Time)?;
        }
        Ok(copy)
    }

    fn happen(
        &mut self,
        copy: &mut Copy,
        now: Tick,
        event: Event,
    ) -> Result<(), (String, Vec<(Tick, Event)>)> {
        copy.events.push((now, event.clone()));
        if Some(self.events.fetch_add(1, Ordering::Relaxed) + 1) == self.stop_before {
            return Err(("stopped".to_owned(), std::mem::take(&mut copy.events)));
        }
        let victim = &mut copy.victim;
        match caught(|| victim.apply(now, event)) {
            Ok(effects) => {
                self.report.rejected +=
                    effects.iter().filter(|one| is_violation(one)).count() as u64;
                Ok(())
            }
            Err(what) => Err((what, std::mem::take(&mut copy.events))),
        }
    }

    /// Lets a few leases pass in which nobody is heard.
    fn let_pass(&mut self, copy: &mut Copy, now: Tick) -> Result<(), (String, Vec<(Tick, Event)>)> {
        let end = now + Duration::from_secs(10);
        for _ in 0..60 {
            let next = copy.victim.site().deadline().filter(|when| *when <= end);
            let Some(next) = next else { return Ok(()) };
            let now = next.max(copy.victim.now);
            self.happen(copy, now, Event::Time)?;
        }
        Ok(())
    }

    fn draw(&mut self, arrival: &Arrival, copy: &mut Copy) -> Option<Event> {
        match self.chance.below(20) {
            0 => return Some(Event::Time),
            1 if copy.victim.is_writing() => return Some(Event::Saved),
            2 if self.chance.percent(20) => {
                if let Arrival::Site { from, .. } = arrival {
                    let peer = SiteId::new(*from);
                    let up = self.chance.percent(70);
                    return Some(if up { Event::Up(peer) } else { Event::Down(peer) });
                }
            }
            _ => {}
        }
        match arrival {
            Arrival::Site { from, packet, .. } => {
                let packet = self.changed_packet(packet, &mut copy.streams);
                self.report.undecodable += u64::from(packet.is_none());
                self.report.of_peers += u64::from(packet.is_some());
                packet.map(|packet| Event::Packet(SiteId::new(*from), packet))
            }
            Arrival::Client { client, packet, .. } => {
                let id = self.cluster.clients[*client].id;
                let packet = self.changed_request(packet);
                self.report.undecodable += u64::from(packet.is_none());
                self.report.of_clients += u64::from(packet.is_some());
                packet.map(|packet| Event::Client(ClientId(id.0), packet))
            }
        }
    }

    /// A changed packet. Mostly its numbers in the stream are the next ones, so that it is read.
    fn changed_packet(&mut self, next: &SitePacket, streams: &mut Streams) -> Option<SitePacket> {
        let chance = &mut self.chance;
        let other = chance.percent(50) && !self.recent.is_empty();
        let packet = if other { &self.recent[chance.index(self.recent.len())] } else { next };
        let mut packet = if chance.percent(5) {
            packet.clone()
        } else {
            mutate(packet, &self.dictionary, chance)?
        };
        if chance.percent(90) {
            let (number, frame, stream) = match &mut packet {
                SitePacket::Session(Packet::Up(number, frame)) => (number, frame, &mut streams.up),
                SitePacket::Session(Packet::Down(number, frame)) => {
                    (number, frame, &mut streams.down)
                }
                _ => return Some(packet),
            };
            stream.1 = Seq(stream.1.0 + 1);
            (*number, frame.seq, frame.received) = (stream.0, stream.1, Seq(0));
        }
        Some(packet)
    }

    fn changed_request(&mut self, next: &ClientPacket) -> Option<ClientPacket> {
        let chance = &mut self.chance;
        let mut packet = mutate(next, &self.dictionary, chance)?;
        if let (Packet::Up(number, frame), Packet::Up(true_number, true_frame)) =
            (&mut packet, next)
            && chance.percent(90)
        {
            let other = chance.index(self.recent_requests.len());
            if let Packet::Up(_, recent) = &self.recent_requests[other]
                && chance.percent(30)
                && let Some(changed) = mutate(&recent.payload, &self.dictionary, chance)
            {
                frame.payload = changed;
            }
            (*number, frame.seq, frame.received) =
                (*true_number, true_frame.seq, true_frame.received);
        }
        Some(packet)
    }
}

fn is_violation(effect: &GatewayEffect) -> bool {
    matches!(effect, GatewayEffect::Site(Effect::Violation(..)))
}

fn keep<T: Clone>(recent: &mut Vec<T>, packet: &T, chance: &mut Chance) {
    if recent.len() < RECENT {
        recent.push(packet.clone());
    } else {
        let place = chance.index(RECENT);
        recent[place] = packet.clone();
    }
}

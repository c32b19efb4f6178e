//! All sessions of one site, in both roles.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quorate_quorum::SiteId;

use super::RelativeDeadline;
use super::{
    ClientEnd, ClientView, Context, Durable, Effect, Half, Incarnation, Packet, Payload, Rule,
    ServerEnd, ServerView, Terms,
};
use crate::{SessionNo, Tick};

/// Everything that can happen to the sessions of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input<M> {
    /// A connection with the peer is up. It replaces the one before.
    Up(SiteId),
    /// The connection with the peer is gone.
    Down(SiteId),
    /// A packet of the peer. None of an earlier connection comes after [`Input::Up`].
    Packet(SiteId, Packet<M>),
    /// Give our session at this site up before its deadline. Nobody may rely on anything of it any
    /// more: if we are connected, the next session is asked for at once.
    Abandon(SiteId),
    /// Send a payload to this half of a site's protocols: to the arbiter half in our session there,
    /// to the requester half in its session here.
    Send(SiteId, Half, M),
    /// We are about to stop: all clients are told.
    Drain,
    /// Time has passed.
    Time,
}

/// The roles of a site towards a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Roles {
    /// Two sites: a session in each direction.
    Both,
    /// Only we have a session there: a client at its site.
    Client,
    /// Only it has a session here: a site and its client.
    Server,
}

/// All sessions of one site, in both roles, as one value.
///
/// A site has no session with itself: messages to itself are delivered at once.
///
/// ```
/// use quorate_session::Tick;
/// use quorate_quorum::SiteId;
/// use quorate_session::session::{Durable, Effect, Event, Input, Roles, Sessions, Terms};
///
/// let [one, two] = [0, 1].map(SiteId::new);
/// let start = |me, peer| {
///     let peers = [(peer, Roles::Both)];
///     Sessions::<&str>::start(Tick::ZERO, me, peers, Terms::default(), Durable::default()).0
/// };
/// let (mut a, mut b) = (start(one, two), start(two, one));
///
/// // The driver connects them, and carries their packets.
/// let mut effects = Vec::new();
/// effects.extend(a.step(Tick(5), Input::Up(two)).into_iter().map(|effect| (one, effect)));
/// effects.extend(b.step(Tick(5), Input::Up(one)).into_iter().map(|effect| (two, effect)));
/// while let Some((from, effect)) = (!effects.is_empty()).then(|| effects.remove(0)) {
///     if let Effect::Packet(to, packet) = effect {
///         let to_site = if to == one { &mut a } else { &mut b };
///         let more = to_site.step(Tick(9), Input::Packet(from, packet));
///         effects.extend(more.into_iter().map(|effect| (to, effect)));
///     }
/// }
/// assert!(a.at(two).is_some_and(|session| !session.silent));
/// assert_eq!(b.of(one).map(|session| session.number), a.at(two).map(|session| session.number));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sessions<M> {
    me: SiteId,
    terms: Terms,
    durable: Durable,
    quarantine: Duration,
    quarantined_until: Tick,
    /// Whether we are about to stop.
    draining: bool,
    /// The time of the latest step.
    now: Tick,
    peers: BTreeMap<SiteId, Peer<M>>,
    /// The deadlines of all ends: ties by site, and our session there before its session here.
    deadlines: BTreeSet<Deadline>,
}

type Deadline = (Tick, SiteId, Half);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Peer<M> {
    client: Option<ClientEnd<M>>,
    server: Option<ServerEnd<M>>,
}

impl<M: Payload> Sessions<M> {
    /// Starts the sessions of `me` with the record of its disk. The effects come before all others:
    /// the next incarnation is synced before the first byte is sent. The quarantine runs from now.
    pub fn start(
        now: Tick,
        me: SiteId,
        peers: impl IntoIterator<Item = (SiteId, Roles)>,
        terms: Terms,
        disk: Durable,
    ) -> (Self, Vec<Effect<M>>) {
        let durable = disk.next_incarnation();
        let peers = peers.into_iter().filter(|(peer, _)| *peer != me);
        let peers: BTreeMap<SiteId, Peer<M>> =
            peers.map(|(peer, roles)| (peer, Peer::new(peer, roles))).collect();
        let quarantined_until = disk.quarantine(now, terms.drift);
        let quarantine = quarantined_until.since(now);
        let deadlines = peers.iter().flat_map(|(site, peer)| peer.deadlines(*site));
        let deadlines = deadlines.flatten().collect();
        let site = Self {
            me,
            terms,
            durable,
            quarantine,
            quarantined_until,
            draining: false,
            now,
            peers,
            deadlines,
        };
        (site, vec![Effect::Persist(durable)])
    }

    /// Handles the deadlines that are due by `now`, in order of time, then the input.
    ///
    /// So a process that slept loses its session before it reads an old reply.
    pub fn step(&mut self, now: Tick, input: Input<M>) -> Vec<Effect<M>> {
        assert!(now >= self.now, "a clock does not run backwards");
        self.now = now;
        let before = self.deadline();
        let mut out = Vec::new();
        if self.terms.keep(Rule::DeadlinesFirst) {
            self.on_deadlines(&mut out);
        }
        self.on_input(input, &mut out);
        self.on_deadlines(&mut out);
        let after = self.deadline();
        assert!(after.is_none_or(|when| when > now), "no deadline that is due is left");
        if let Some(when) = after.filter(|_| after != before) {
            out.push(Effect::Wake(when));
        }
        out
    }

    /// When [`Sessions::step`] must be called at the latest.
    pub fn deadline(&self) -> Option<Tick> {
        self.deadlines.first().map(|(when, ..)| *when)
    }

    /// Our session at `site`; `None` if there is none, as with ourselves.
    pub fn at(&self, site: SiteId) -> Option<ClientView> {
        self.peers.get(&site)?.client.as_ref()?.view()
    }

    /// The session of `site` here; `None` if there is none, as with ourselves.
    pub fn of(&self, site: SiteId) -> Option<ServerView> {
        self.peers.get(&site)?.server.as_ref()?.view()
    }

    /// The site itself.
    pub fn me(&self) -> SiteId {
        self.me
    }

    /// The incarnation of this start of the site.
    pub fn incarnation(&self) -> Incarnation {
        self.durable.incarnation
    }

    /// The terms of its sessions.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Until when this site lends nothing.
    pub fn quarantined_until(&self) -> Tick {
        self.quarantined_until
    }

    /// The quarantine runs from `now`, and not from the start.
    pub fn restart_quarantine(&mut self, now: Tick) {
        self.quarantined_until = now + self.quarantine;
    }

    /// The deadline `until` of ours, in a form that `to` can convert to its own clock.
    pub fn relative_deadline(&self, to: SiteId, until: Tick) -> Option<RelativeDeadline> {
        self.peers.get(&to)?.server.as_ref()?.relative_deadline(until)
    }

    /// Whether our session at `site` has room for a sender that can wait.
    pub fn has_room(&self, site: SiteId) -> bool {
        let client = self.peers.get(&site).and_then(|peer| peer.client.as_ref());
        client.is_some_and(|client| client.has_room(&self.terms))
    }

    /// Whether our session at `site` goes on; false if there is none, or its stream is over.
    pub fn goes_on(&self, site: SiteId) -> bool {
        let client = self.peers.get(&site).and_then(|peer| peer.client.as_ref());
        client.is_some_and(ClientEnd::has_stream)
    }

    /// Whether a message to this half of `site` waits for room, though `site` is connected.
    pub fn is_waiting(&self, site: SiteId, half: Half) -> bool {
        let Some(peer) = self.peers.get(&site) else { return false };
        match half {
            Half::Arbiter => peer.client.as_ref().is_some_and(ClientEnd::is_waiting),
            Half::Requester => peer.server.as_ref().is_some_and(ServerEnd::is_waiting),
        }
    }

    /// A deadline that `from` sent, by our clock.
    pub fn absolute_deadline(&self, from: SiteId, relative: RelativeDeadline) -> Option<Tick> {
        let client = self.peers.get(&from)?.client.as_ref()?;
        client.absolute_deadline(self.terms.drift, relative)
    }

    fn on_deadlines(&mut self, out: &mut Vec<Effect<M>>) {
        while let Some(&(_, site, half)) =
            self.deadlines.first().filter(|(when, ..)| *when <= self.now)
        {
            self.with(site, |cx, peer| match (half, &mut peer.client, &mut peer.server) {
                (Half::Requester, Some(client), _) => client.on_deadline(cx, out),
                (Half::Arbiter, _, Some(server)) => server.on_deadline(cx, out),
                _ => unreachable!("the end that has a deadline exists"),
            });
        }
    }

    fn on_input(&mut self, input: Input<M>, out: &mut Vec<Effect<M>>) {
        match input {
            Input::Time => {}
            Input::Up(site) => {
                self.with(site, |cx, peer| {
                    peer.on_down();
                    if let Some(client) = &mut peer.client {
                        client.on_up(cx, out);
                    }
                });
            }
            Input::Down(site) => {
                self.with(site, |_, peer| peer.on_down());
            }
            Input::Drain => self.drain(out),
            Input::Abandon(site) => {
                self.with(site, |cx, peer| {
                    if let Some(client) = &mut peer.client {
                        client.abandon(cx, out);
                    }
                });
            }
            Input::Packet(site, packet) => self.on_packet(site, packet, out),
            Input::Send(site, half, payload) => self.send(site, half, payload, out),
        }
    }

    fn on_packet(&mut self, site: SiteId, packet: Packet<M>, out: &mut Vec<Effect<M>>) {
        if let Packet::Hello(_) = packet {
            self.agree_to_lease(out);
        }
        if !self.peers.contains_key(&site) {
            return out.push(Effect::Note(site, "ignored: it is no peer"));
        }
        self.with(site, |cx, peer| peer.on_packet(cx, packet, site, out));
    }

    /// Tells all clients that we are about to stop; those that come later learn it when they are
    /// welcomed.
    fn drain(&mut self, out: &mut Vec<Effect<M>>) {
        self.draining = true;
        for server in self.peers.values().filter_map(|peer| peer.server.as_ref()) {
            server.send_draining(out);
        }
    }

    /// Sends a payload as [`Input::Send`] does, after a step of the same time.
    pub fn send(&mut self, site: SiteId, half: Half, payload: M, out: &mut Vec<Effect<M>>) {
        if site == self.me {
            return out.push(Effect::Deliver(site, half, SessionNo(0), payload));
        }
        if !self.peers.contains_key(&site) {
            return out.push(Effect::Note(site, "not sent: it is no peer"));
        }
        self.with(site, |cx, peer| match (half, &mut peer.client, &mut peer.server) {
            (Half::Arbiter, Some(client), _) => client.send(cx.terms, payload, out),
            (Half::Requester, _, Some(server)) => server.send(cx.terms, payload, out),
            _ => out.push(Effect::Note(site, "not sent: there can be no such session")),
        });
    }

    /// Every lock has been told that the last session of this half is over: ours there if it is the
    /// requester half, its session here if it is the arbiter half. Called after a step of the same
    /// time. Until then the next session is not opened.
    pub fn on_told(&mut self, site: SiteId, half: Half, out: &mut Vec<Effect<M>>) {
        self.with(site, |cx, peer| match (half, &mut peer.client, &mut peer.server) {
            (Half::Requester, Some(client), _) => client.on_told(cx, out),
            (Half::Arbiter, _, Some(server)) => server.on_told(cx, out),
            _ => {}
        });
    }

    /// Ends the stream in which a message came that cannot be true, after a step of the same time.
    /// The lease of the session runs out as if the stream had broken.
    pub fn reject(&mut self, site: SiteId, half: Half, out: &mut Vec<Effect<M>>) {
        self.with(site, |_, peer| match (half, &mut peer.client, &mut peer.server) {
            (Half::Requester, Some(client), _) => client.reject(out),
            (Half::Arbiter, _, Some(server)) => server.give_up_stream(out),
            _ => {}
        });
    }

    /// Writes the length of our lease to disk before the first Welcome that grants it.
    fn agree_to_lease(&mut self, out: &mut Vec<Effect<M>>) {
        let length = self.terms.lease.length();
        if length > self.durable.lease_max {
            self.durable.lease_max = length;
            out.push(Effect::Persist(self.durable));
        }
    }

    /// Calls `act` on the sessions of a peer, if `site` is one, and updates their deadlines.
    fn with(&mut self, site: SiteId, act: impl FnOnce(Context<'_>, &mut Peer<M>)) {
        let Some(peer) = self.peers.get_mut(&site) else { return };
        let before = peer.deadlines(site);
        let cx = Context {
            now: self.now,
            terms: &self.terms,
            incarnation: self.durable.incarnation,
            quarantined_until: self.quarantined_until,
            draining: self.draining,
        };
        act(cx, peer);
        let changed = before.into_iter().zip(peer.deadlines(site)).filter(|(old, new)| old != new);
        for (old, new) in changed {
            old.map(|old| self.deadlines.remove(&old));
            self.deadlines.extend(new);
        }
    }
}

impl<M: Payload> Peer<M> {
    fn new(peer: SiteId, roles: Roles) -> Self {
        Self {
            client: (roles != Roles::Server).then(|| ClientEnd::new(peer)),
            server: (roles != Roles::Client).then(|| ServerEnd::new(peer)),
        }
    }

    /// The deadlines of both ends.
    fn deadlines(&self, site: SiteId) -> [Option<Deadline>; 2] {
        let client = self.client.as_ref().and_then(ClientEnd::deadline);
        let server = self.server.as_ref().and_then(ServerEnd::deadline);
        let client = client.map(|when| (when, site, Half::Requester));
        [client, server.map(|when| (when, site, Half::Arbiter))]
    }

    fn on_packet(
        &mut self,
        cx: Context<'_>,
        packet: Packet<M>,
        site: SiteId,
        out: &mut Vec<Effect<M>>,
    ) {
        if packet.is_from_client() {
            let Some(server) = &mut self.server else {
                return out.push(Effect::Note(site, "ignored: it can have no session here"));
            };
            match packet {
                Packet::Hello(hello) => server.on_hello(cx, hello, out),
                Packet::Renew(number, k, received) => {
                    server.on_renew(cx, number, k, received, out);
                }
                Packet::Up(number, frame) => server.on_frame(cx.terms, number, frame, out),
                Packet::UpAck(number, received) => server.on_ack(cx.terms, number, received, out),
                _ => unreachable!("the rest comes from servers"),
            }
        } else {
            let Some(client) = &mut self.client else {
                return out.push(Effect::Note(site, "ignored: we want no session there"));
            };
            match packet {
                Packet::Welcome(welcome) => client.on_welcome(cx, welcome, out),
                Packet::RetryAfter(number, left) => client.on_retry_after(cx, number, left, out),
                Packet::Refused(number, why) => client.on_refused(number, why, out),
                Packet::Renewed(number, k, received) => {
                    client.on_renewed(cx, number, k, received, out);
                }
                Packet::Down(number, frame) => client.on_frame(cx.terms, number, frame, out),
                Packet::DownAck(number, received) => client.on_ack(cx.terms, number, received, out),
                Packet::Draining(number) => client.on_draining(number, out),
                _ => unreachable!("the rest comes from clients"),
            }
        }
    }

    fn on_down(&mut self) {
        if let Some(client) = &mut self.client {
            client.on_down();
        }
        if let Some(server) = &mut self.server {
            server.on_down();
        }
    }
}

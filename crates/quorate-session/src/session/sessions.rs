//! All sessions of one site, in both roles.

use std::collections::{BTreeMap, BTreeSet};

use quorate_quorum::SiteId;

use super::RelativeDeadline;
use super::{
    At, ClientEnd, ClientView, Durable, Effect, Half, Incarnation, Packet, Rule, ServerEnd,
    ServerView, Terms,
};
use crate::{SessionNo, Tick};

/// Everything that can happen to the sessions of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input<M> {
    /// A connection with the peer is up. It takes the place of one that was.
    Up(SiteId),
    /// The connection with the peer is gone.
    Down(SiteId),
    /// The peer says this. Nothing said on an earlier connection comes after [`Input::Up`].
    Packet(SiteId, Packet<M>),
    /// Send a payload of so many bytes to the half named of a site's protocols: to the arbiter in
    /// our session there, to the requester in its session here.
    Send(SiteId, Half, M, usize),
    /// Nothing but the time.
    Time,
}

/// The roles of a site towards a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Roles {
    /// Sites among each other: a session in each direction.
    Both,
    /// We have a session there, and it has none here: a caller at its site.
    Client,
    /// It has a session here, and we have none there: a site and its caller.
    Server,
}

/// All sessions of one site, in both roles, as one value.
///
/// Towards itself a site has no session: what it sends itself is delivered at once.
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
/// // The driver connects them, and carries what they say.
/// let mut said: Vec<_> = a.step(Tick(5), Input::Up(two)).into_iter().map(|e| (one, e)).collect();
/// said.extend(b.step(Tick(5), Input::Up(one)).into_iter().map(|effect| (two, effect)));
/// while let Some((from, effect)) = (!said.is_empty()).then(|| said.remove(0)) {
///     if let Effect::Packet(to, packet) = effect {
///         let to_site = if to == one { &mut a } else { &mut b };
///         let more = to_site.step(Tick(9), Input::Packet(from, packet));
///         said.extend(more.into_iter().map(|effect| (to, effect)));
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
    quarantined_until: Tick,
    /// The time of the latest step.
    now: Tick,
    peers: BTreeMap<SiteId, Peer<M>>,
    /// What is due when: ties by site, and our session there before its session here.
    due: BTreeSet<Due>,
}

type Due = (Tick, SiteId, Half);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Peer<M> {
    client: Option<ClientEnd<M>>,
    server: Option<ServerEnd<M>>,
}

impl<M: Clone> Sessions<M> {
    /// Starts the sessions of `me`, with what was on its disk; the effects come first of all.
    ///
    /// The order of a restart: what was read is raised and synced before the first byte, and the
    /// quarantine runs from now.
    pub fn start(
        now: Tick,
        me: SiteId,
        peers: impl IntoIterator<Item = (SiteId, Roles)>,
        terms: Terms,
        disk: Durable,
    ) -> (Self, Vec<Effect<M>>) {
        let durable = disk.reborn();
        let peers = peers.into_iter().filter(|(peer, _)| *peer != me);
        let peers: BTreeMap<SiteId, Peer<M>> =
            peers.map(|(peer, roles)| (peer, Peer::new(peer, roles))).collect();
        let quarantined_until = disk.quarantine(now, terms.drift);
        let due = peers.iter().flat_map(|(site, peer)| peer.due(*site)).flatten().collect();
        let site = Self { me, terms, durable, quarantined_until, now, peers, due };
        (site, vec![Effect::Persist(durable)])
    }

    /// Handles what is due by `now`, in order of time, then the input.
    ///
    /// A process that slept learns so of its lapse before it reads an old reply.
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
        assert!(after.is_none_or(|when| when > now), "nothing due is left");
        if let Some(when) = after.filter(|_| after != before) {
            out.push(Effect::Wake(when));
        }
        out
    }

    /// When [`Sessions::step`] must be called at the latest.
    pub fn deadline(&self) -> Option<Tick> {
        self.due.first().map(|(when, ..)| *when)
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

    /// This life of the site.
    pub fn incarnation(&self) -> Incarnation {
        self.durable.incarnation
    }

    /// What it goes by.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Until when this site lends nothing.
    pub fn quarantined_until(&self) -> Tick {
        self.quarantined_until
    }

    /// A validity of ours that ends at `until`, for a client that is inside on our word.
    pub fn hand_down(&self, to: SiteId, until: Tick) -> Option<RelativeDeadline> {
        self.peers.get(&to)?.server.as_ref()?.hand_down(until)
    }

    /// Whether our session at `site` takes more from a sender that can wait.
    pub fn has_room(&self, site: SiteId) -> bool {
        let client = self.peers.get(&site).and_then(|peer| peer.client.as_ref());
        client.is_some_and(|client| client.has_room(&self.terms))
    }

    /// Until when we are inside on the word of `from`, by our clock.
    pub fn handed(&self, from: SiteId, down: RelativeDeadline) -> Option<Tick> {
        self.peers.get(&from)?.client.as_ref()?.handed(self.terms.drift, down)
    }

    fn on_deadlines(&mut self, out: &mut Vec<Effect<M>>) {
        while let Some(&(_, site, half)) = self.due.first().filter(|(when, ..)| *when <= self.now) {
            self.with(site, |at, peer| match (half, &mut peer.client, &mut peer.server) {
                (Half::Requester, Some(client), _) => client.on_deadline(at, out),
                (Half::Arbiter, _, Some(server)) => server.on_deadline(at, out),
                _ => unreachable!("the end that has a deadline exists"),
            });
        }
    }

    fn on_input(&mut self, input: Input<M>, out: &mut Vec<Effect<M>>) {
        match input {
            Input::Time => {}
            Input::Up(site) => {
                self.with(site, |at, peer| {
                    peer.on_down();
                    if let Some(client) = &mut peer.client {
                        client.on_up(at, out);
                    }
                });
            }
            Input::Down(site) => {
                self.with(site, |_, peer| peer.on_down());
            }
            Input::Packet(site, packet) => self.on_packet(site, packet, out),
            Input::Send(site, half, payload, bytes) => self.send((site, half), payload, bytes, out),
        }
    }

    fn on_packet(&mut self, site: SiteId, packet: Packet<M>, out: &mut Vec<Effect<M>>) {
        if let Packet::Hello(_) = packet {
            self.agree_to_lease(out);
        }
        if !self.peers.contains_key(&site) {
            return out.push(Effect::Note(site, "ignored: it is no peer"));
        }
        self.with(site, |at, peer| peer.on_packet(at, packet, site, out));
    }

    /// Sends a payload as [`Input::Send`] does, between two steps of the same time.
    pub fn send(
        &mut self,
        (site, half): (SiteId, Half),
        payload: M,
        bytes: usize,
        out: &mut Vec<Effect<M>>,
    ) {
        if site == self.me {
            return out.push(Effect::Deliver(site, half, SessionNo(0), payload));
        }
        if !self.peers.contains_key(&site) {
            return out.push(Effect::Note(site, "not sent: it is no peer"));
        }
        self.with(site, |_, peer| match (half, &mut peer.client, &mut peer.server) {
            (Half::Arbiter, Some(client), _) => client.send(payload, bytes, out),
            (Half::Requester, _, Some(server)) => server.send(payload, bytes, out),
            _ => out.push(Effect::Note(site, "not sent: there can be no such session")),
        });
    }

    /// Has the lease we grant on disk before the Welcome that grants it.
    fn agree_to_lease(&mut self, out: &mut Vec<Effect<M>>) {
        let length = self.terms.lease.length();
        if length > self.durable.lease_max {
            self.durable.lease_max = length;
            out.push(Effect::Persist(self.durable));
        }
    }

    /// Does something with the sessions of a peer, if `site` is one, and notes what is due then.
    fn with(&mut self, site: SiteId, deed: impl FnOnce(At<'_>, &mut Peer<M>)) {
        let Some(peer) = self.peers.get_mut(&site) else { return };
        let before = peer.due(site);
        let at = At {
            now: self.now,
            terms: &self.terms,
            incarnation: self.durable.incarnation,
            quarantined_until: self.quarantined_until,
        };
        deed(at, peer);
        for (old, new) in before.into_iter().zip(peer.due(site)).filter(|(old, new)| old != new) {
            old.map(|old| self.due.remove(&old));
            self.due.extend(new);
        }
    }
}

impl<M: Clone> Peer<M> {
    fn new(peer: SiteId, roles: Roles) -> Self {
        Self {
            client: (roles != Roles::Server).then(|| ClientEnd::new(peer)),
            server: (roles != Roles::Client).then(|| ServerEnd::new(peer)),
        }
    }

    /// When something is due at either end.
    fn due(&self, site: SiteId) -> [Option<Due>; 2] {
        let client = self.client.as_ref().and_then(ClientEnd::deadline);
        let server = self.server.as_ref().and_then(ServerEnd::deadline);
        let client = client.map(|when| (when, site, Half::Requester));
        [client, server.map(|when| (when, site, Half::Arbiter))]
    }

    fn on_packet(&mut self, at: At<'_>, packet: Packet<M>, site: SiteId, out: &mut Vec<Effect<M>>) {
        if packet.is_from_client() {
            let Some(server) = &mut self.server else {
                return out.push(Effect::Note(site, "ignored: it can have no session here"));
            };
            match packet {
                Packet::Hello(hello) => server.on_hello(at, hello, out),
                Packet::Renew(number, k, received) => {
                    server.on_renew(at, (number, k, received), out);
                }
                Packet::Up(number, frame) => server.on_frame(number, frame, out),
                Packet::UpTo(number, received) => server.on_received(number, received, out),
                _ => unreachable!("the rest is a server's"),
            }
        } else {
            let Some(client) = &mut self.client else {
                return out.push(Effect::Note(site, "ignored: we want no session there"));
            };
            match packet {
                Packet::Welcome(welcome) => client.on_welcome(at, welcome, out),
                Packet::Later(number, left) => client.on_later(at, (number, left), out),
                Packet::Refused(number, why) => client.on_refused(number, why, out),
                Packet::Renewed(number, k, received) => {
                    client.on_renewed(at, (number, k, received), out);
                }
                Packet::Down(number, frame) => client.on_frame(number, frame, out),
                Packet::DownTo(number, received) => client.on_received(number, received, out),
                _ => unreachable!("the rest is a client's"),
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

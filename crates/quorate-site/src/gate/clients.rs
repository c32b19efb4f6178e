//! The sessions of client processes at a site, and whose calls are whose.

use std::collections::{BTreeMap, BTreeSet};

use quorate_protocol::{SessionNo, Tick};
use quorate_quorum::SiteId;
use quorate_session::client::{ClientId, Parley};
use quorate_session::session::{At, Effect, Packet, ServerEnd, Terms};
use quorate_session::{AskId, CallId};

/// The session layer names its peers by site; here the map does, and the name says nothing.
fn nobody() -> SiteId {
    SiteId::new(0)
}

/// All client processes of a site.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    pub(super) terms: Terms,
    pub(super) incarnation: quorate_session::session::Incarnation,
    pub(super) now: Tick,
    known: BTreeMap<ClientId, Client>,
    due: BTreeSet<(Tick, ClientId)>,
    calls: BTreeMap<CallId, (ClientId, u64)>,
    asks: BTreeMap<AskId, Asked>,
    made: u64,
}

/// A question of a client, and how many sites have not answered it.
#[derive(Clone, Copy, Debug)]
struct Asked {
    client: ClientId,
    number: u64,
    left: usize,
}

#[derive(Clone, Debug)]
struct Client {
    end: ServerEnd<Parley>,
    calls: BTreeMap<u64, CallId>,
    /// Those of its calls that are inside.
    inside: BTreeSet<CallId>,
}

impl Clients {
    pub(super) fn new(terms: Terms, incarnation: quorate_session::session::Incarnation) -> Self {
        Self {
            terms,
            incarnation,
            now: Tick::ZERO,
            known: BTreeMap::new(),
            due: BTreeSet::new(),
            calls: BTreeMap::new(),
            asks: BTreeMap::new(),
            made: 0,
        }
    }

    pub(super) fn deadline(&self) -> Option<Tick> {
        self.due.first().map(|(when, _)| *when)
    }

    /// A client whose lease is over, if there is one.
    pub(super) fn next_due(&self) -> Option<ClientId> {
        let (when, client) = self.due.first()?;
        (*when <= self.now).then_some(*client)
    }

    /// Lets the session of `id` handle something.
    pub(super) fn drive(
        &mut self,
        id: ClientId,
        deed: impl FnOnce(&mut ServerEnd<Parley>, At<'_>, &mut Vec<Effect<Parley>>),
    ) -> Vec<Effect<Parley>> {
        let client = self.known.entry(id).or_insert_with(|| Client {
            end: ServerEnd::new(nobody()),
            calls: BTreeMap::new(),
            inside: BTreeSet::new(),
        });
        let at = At {
            now: self.now,
            terms: &self.terms,
            incarnation: self.incarnation,
            quarantined_until: self.now,
        };
        let before = client.end.deadline();
        let mut out = Vec::new();
        deed(&mut client.end, at, &mut out);
        let after = client.end.deadline();
        if before != after {
            self.due.extend(after.map(|when| (when, id)));
            if let Some(when) = before {
                self.due.remove(&(when, id));
            }
        }
        out
    }

    /// Hands a packet to the session of its client.
    pub(super) fn on_packet(
        &mut self,
        id: ClientId,
        packet: Packet<Parley>,
    ) -> Vec<Effect<Parley>> {
        self.drive(id, |end, at, out| match packet {
            Packet::Hello(hello) => end.on_hello(at, hello, out),
            Packet::Renew(number, k, received) => end.on_renew(at, (number, k, received), out),
            Packet::Up(number, frame) => end.on_frame(number, frame, out),
            Packet::UpTo(number, received) => end.on_received(number, received, out),
            _ => out.push(Effect::Note(nobody(), "ignored: a site's word from a client")),
        })
    }

    /// The present session of a client; `None` if it has none.
    pub(super) fn session(&self, id: ClientId) -> Option<SessionNo> {
        Some(self.known.get(&id)?.end.view()?.number)
    }

    /// Says something to a client.
    pub(super) fn say(&mut self, id: ClientId, parley: Parley) -> Vec<Effect<Parley>> {
        let bytes = parley.bytes();
        self.drive(id, |end, _, out| end.send(parley, bytes, out))
    }

    /// Says something about a validity that ends at `until`, if the client can still count it.
    pub(super) fn hand_down(
        &mut self,
        id: ClientId,
        until: Tick,
        parley: impl FnOnce(quorate_session::session::RelativeDeadline) -> Parley,
    ) -> Vec<Effect<Parley>> {
        let down = self.known.get(&id).and_then(|client| client.end.hand_down(until));
        down.map_or_else(Vec::new, |down| self.say(id, parley(down)))
    }

    /// A number for a new call of a client; `None` if the client uses its own number twice.
    pub(super) fn enrol(&mut self, id: ClientId, number: u64) -> Option<CallId> {
        let client = self.known.get_mut(&id)?;
        if client.calls.contains_key(&number) {
            return None;
        }
        self.made += 1;
        let call = CallId(CallId::OF_CLIENTS | self.made);
        client.calls.insert(number, call);
        self.calls.insert(call, (id, number));
        Some(call)
    }

    /// A number for a new question of a client.
    pub(super) fn ask(&mut self, id: ClientId, number: u64) -> AskId {
        self.made += 1;
        let ask = AskId(CallId::OF_CLIENTS | self.made);
        self.asks.insert(ask, Asked { client: id, number, left: usize::MAX });
        ask
    }

    /// Whose question it is, which so many sites will answer.
    pub(super) fn await_answers(&mut self, ask: AskId, sites: usize) -> Option<(ClientId, u64)> {
        let Asked { client, number, .. } = self.asks.remove(&ask)?;
        if sites > 0 {
            self.asks.insert(ask, Asked { client, number, left: sites });
        }
        Some((client, number))
    }

    /// Whose question a site has answered.
    pub(super) fn take_answer(&mut self, ask: AskId) -> Option<(ClientId, u64)> {
        let asked = self.asks.get_mut(&ask)?;
        asked.left = asked.left.saturating_sub(1);
        let Asked { client, number, left } = *asked;
        if left == 0 {
            self.asks.remove(&ask);
        }
        Some((client, number))
    }

    /// The call that a client means.
    pub(super) fn call(&self, id: ClientId, number: u64) -> Option<CallId> {
        self.known.get(&id)?.calls.get(&number).copied()
    }

    /// Whose call it is.
    pub(super) fn owner(&self, call: CallId) -> Option<(ClientId, u64)> {
        self.calls.get(&call).copied()
    }

    /// A call is inside.
    pub(super) fn enter(&mut self, call: CallId) {
        if let Some((id, _)) = self.owner(call)
            && let Some(client) = self.known.get_mut(&id)
        {
            client.inside.insert(call);
        }
    }

    /// A call is over.
    pub(super) fn dismiss(&mut self, call: CallId) {
        if let Some((id, number)) = self.calls.remove(&call)
            && let Some(client) = self.known.get_mut(&id)
        {
            client.calls.remove(&number);
            client.inside.remove(&call);
        }
    }

    /// The clients that have callers inside.
    pub(super) fn holders(&self) -> Vec<ClientId> {
        let holders = self.known.iter().filter(|(_, client)| !client.inside.is_empty());
        holders.map(|(id, _)| *id).collect()
    }

    /// Whether a client has callers inside.
    pub(super) fn holds(&self, id: ClientId) -> bool {
        self.known.get(&id).is_some_and(|client| !client.inside.is_empty())
    }

    /// The calls of a client whose session is over; it is forgotten.
    pub(super) fn close(&mut self, id: ClientId) -> Vec<CallId> {
        let Some(client) = self.known.get_mut(&id) else { return Vec::new() };
        let calls: Vec<CallId> = std::mem::take(&mut client.calls).into_values().collect();
        client.inside.clear();
        for call in &calls {
            self.calls.remove(call);
        }
        self.asks.retain(|_, asked| asked.client != id);
        calls
    }

    /// Forgets a client without a session, whose connection is gone.
    pub(super) fn forget(&mut self, id: ClientId) {
        if self.session(id).is_none() {
            self.known.remove(&id);
        }
    }
}

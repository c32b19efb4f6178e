//! The sessions of client processes at a site, and whose calls are whose.

use std::collections::{BTreeMap, BTreeSet};

use quorate_quorum::SiteId;
use quorate_session::client::{ClientId, ClientMessage, SiteReply};
use quorate_session::session::{
    Context, Effect, Incarnation, Packet, RelativeDeadline, ServerEnd, Terms,
};
use quorate_session::{Answer, AskId, CallId, Denial, Question, SessionNo, Tick, limits};

use super::questions::Questions;
use super::replies::{Replies, Reply};
use crate::site::{GrantState, Site};

type Effects = Vec<Effect<ClientMessage>>;

/// The session layer names its peers by site. Clients are named by the map, and this is unused.
fn no_site() -> SiteId {
    SiteId::new(0)
}

/// All client processes of a site.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    pub(super) terms: Terms,
    pub(super) incarnation: Incarnation,
    pub(super) now: Tick,
    known: BTreeMap<ClientId, Client>,
    due: BTreeSet<(Tick, ClientId)>,
    calls: BTreeMap<CallId, Owner>,
    questions: Questions,
    /// The clients whose sessions are over, and whose calls have not all left yet. Their next
    /// sessions wait for that.
    closing: BTreeSet<ClientId>,
    /// The clients that have replies to be sent.
    behind: BTreeSet<ClientId>,
    /// The number of the latest call or question.
    last_number: u64,
}

/// The client of a call, its number there, and whether it is inside.
#[derive(Clone, Copy, Debug)]
struct Owner {
    client: ClientId,
    number: u64,
    inside: bool,
    /// About how many bytes its claim takes.
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Client {
    end: ServerEnd<ClientMessage>,
    calls: BTreeMap<u64, CallId>,
    /// How many of them are inside.
    inside: usize,
    /// About how many bytes their claims take.
    bytes: usize,
    replies: Replies,
}

impl Clients {
    pub(super) fn new(terms: Terms, incarnation: Incarnation) -> Self {
        Self {
            terms,
            incarnation,
            now: Tick::ZERO,
            known: BTreeMap::new(),
            due: BTreeSet::new(),
            calls: BTreeMap::new(),
            questions: Questions::default(),
            closing: BTreeSet::new(),
            behind: BTreeSet::new(),
            last_number: 0,
        }
    }

    pub(super) fn deadline(&self) -> Option<Tick> {
        let closes = (!self.closing.is_empty()).then_some(self.now);
        closes.or_else(|| self.due.first().map(|(when, _)| *when))
    }

    /// A client whose lease is over, if there is one.
    pub(super) fn next_due(&self) -> Option<ClientId> {
        let (when, client) = self.due.first()?;
        (*when <= self.now).then_some(*client)
    }

    /// Runs `action` on the session of a client.
    pub(super) fn drive(
        &mut self,
        id: ClientId,
        action: impl FnOnce(&mut ServerEnd<ClientMessage>, Context<'_>, &mut Effects),
    ) -> Effects {
        let client = self.known.entry(id).or_insert_with(|| Client {
            end: ServerEnd::new(no_site()),
            calls: BTreeMap::new(),
            inside: 0,
            bytes: 0,
            replies: Replies::default(),
        });
        let at = Context {
            now: self.now,
            terms: &self.terms,
            incarnation: self.incarnation,
            quarantined_until: self.now,
            draining: false, // clients get a reply of their own
        };
        let before = client.end.deadline();
        let mut out = Vec::new();
        action(&mut client.end, at, &mut out);
        let after = client.end.deadline();
        if before != after {
            self.due.extend(after.map(|when| (when, id)));
            if let Some(when) = before {
                self.due.remove(&(when, id));
            }
        }
        if !client.replies.is_empty() {
            self.behind.insert(id); // there may be room now
        }
        out
    }

    /// Passes a packet to the session of its client.
    pub(super) fn on_packet(
        &mut self,
        id: ClientId,
        packet: Packet<ClientMessage>,
    ) -> Vec<Effect<ClientMessage>> {
        self.drive(id, |end, at, out| match packet {
            Packet::Hello(hello) => end.on_hello(at, hello, out),
            Packet::Renew(number, k, received) => end.on_renew(at, number, k, received, out),
            Packet::Up(number, frame) => end.on_frame(at.terms, number, frame, out),
            Packet::UpAck(number, received) => end.on_ack(at.terms, number, received, out),
            _ => out.push(Effect::Note(no_site(), "ignored: a packet of a site from a client")),
        })
    }

    /// The present session of a client; `None` if it has none.
    pub(super) fn session(&self, id: ClientId) -> Option<SessionNo> {
        Some(self.known.get(&id)?.end.view()?.number)
    }

    /// Changes the replies that wait for a client.
    pub(super) fn update_replies(&mut self, id: ClientId, change: impl FnOnce(&mut Replies)) {
        if let Some(client) = self.known.get_mut(&id) {
            change(&mut client.replies);
            self.behind.insert(id);
        }
    }

    /// Queues the answer of a site, unless too many wait.
    pub(super) fn queue_answer(&mut self, id: ClientId, reply: SiteReply) {
        let calls = self.known.get(&id).map_or(0, |client| client.calls.len());
        self.update_replies(id, |replies| replies.push_answer(reply, calls));
    }

    /// Sends a client as many replies as its stream has room for; `None` if no client is behind.
    pub(super) fn catch_up(
        &mut self,
        site: &Site,
    ) -> Option<(ClientId, Vec<Effect<ClientMessage>>)> {
        let id = self.behind.pop_first()?;
        let mut out = Vec::new();
        if let Some(client) = self.known.get_mut(&id)
            && client.replies.are_too_many()
        {
            client.end.give_up_stream(&mut out);
            client.replies = Replies::default();
        }
        while let Some(client) = self.known.get_mut(&id)
            && client.end.has_room(&self.terms)
            && let Some(next) = client.replies.next(site, &self.terms)
        {
            if let Some(reply) = self.site_reply(id, next, site) {
                let message = ClientMessage::Reply(reply);
                let client = self.known.get_mut(&id).expect("it was found above");
                client.end.send(&self.terms, message, &mut out);
            }
        }
        Some((id, out))
    }

    /// A reply with its deadline; `None` if its call is over.
    fn site_reply(&self, id: ClientId, next: Reply, site: &Site) -> Option<SiteReply> {
        let end = &self.known.get(&id)?.end;
        let down = |until: Tick| -> Option<RelativeDeadline> { end.relative_deadline(until) };
        let number = |call: CallId| self.calls.get(&call).map(|owner| owner.number);
        Some(match next {
            Reply::Plain(reply) => reply,
            Reply::Granted(call, fence, granted) => {
                SiteReply::Granted(number(call)?, fence, granted, down(site.valid_until(call)?)?)
            }
            Reply::State(call, GrantState::Common) => SiteReply::Restored(number(call)?),
            Reply::State(call, GrantState::Degraded(until)) => {
                SiteReply::Degraded(number(call)?, down(until)?)
            }
            Reply::State(call, GrantState::Broken(until, reason)) => {
                SiteReply::Broken(number(call)?, down(until)?, reason)
            }
            Reply::Draining(end) => SiteReply::Draining(down(end)?),
            Reply::Common => SiteReply::CommonDeadline(down(site.common_deadline())?),
        })
    }

    /// Numbers a new call of a client, whose claim takes about so many bytes.
    ///
    /// # Errors
    ///
    /// The client has a call of this number, or too many.
    pub(super) fn add_call(
        &mut self,
        id: ClientId,
        number: u64,
        bytes: usize,
    ) -> Result<CallId, Denial> {
        let client = self.known.get_mut(&id).ok_or(Denial::Reused)?;
        if client.calls.contains_key(&number) {
            return Err(Denial::Reused);
        }
        if client.calls.len() >= limits::CLAIMS_PER_CLIENT
            || client.bytes + bytes > limits::CLAIMS_BYTES_PER_CLIENT
        {
            return Err(Denial::TooManyClaims);
        }
        self.last_number += 1;
        let call = CallId(self.last_number);
        client.calls.insert(number, call);
        client.bytes += bytes;
        self.calls.insert(call, Owner { client: id, number, inside: false, bytes });
        Ok(call)
    }

    /// A client has a question. It is asked in its turn.
    pub(super) fn queue_question(&mut self, id: ClientId, number: u64, question: Question) {
        self.questions.queue(id, number, question);
    }

    /// The next question to ask, if there is one and not too many are open.
    pub(super) fn next_question(&mut self) -> Option<(AskId, Question)> {
        let ask = AskId(self.last_number + 1);
        let question = self.questions.next(ask, self.now, self.terms.lease.length())?;
        self.last_number += 1;
        Some((ask, question))
    }

    /// The client of a question that this many sites will answer, and its number there.
    pub(super) fn await_answers(&mut self, ask: AskId, sites: usize) -> Option<(ClientId, u64)> {
        self.questions.await_answers(ask, sites)
    }

    /// Counts an answer; the client of the question, and the reply to it.
    pub(super) fn take_answer(
        &mut self,
        site: &Site,
        about: (AskId, SiteId),
        answer: Answer,
        quarantined: bool,
    ) -> Option<(ClientId, SiteReply)> {
        self.questions.take_answer(site, about, answer, quarantined)
    }

    /// The call that a client knows by this number.
    pub(super) fn call(&self, id: ClientId, number: u64) -> Option<CallId> {
        self.known.get(&id)?.calls.get(&number).copied()
    }

    /// The client of a call, and its number there.
    pub(super) fn owner(&self, call: CallId) -> Option<(ClientId, u64)> {
        self.calls.get(&call).map(|owner| (owner.client, owner.number))
    }

    /// A call is inside.
    pub(super) fn enter(&mut self, call: CallId) {
        if let Some(owner) = self.calls.get_mut(&call).filter(|owner| !owner.inside)
            && let Some(client) = self.known.get_mut(&owner.client)
        {
            owner.inside = true;
            client.inside += 1;
        }
    }

    /// A call is over.
    pub(super) fn remove_call(&mut self, call: CallId) {
        if let Some(Owner { client, number, inside, bytes }) = self.calls.remove(&call)
            && let Some(client) = self.known.get_mut(&client)
        {
            client.calls.remove(&number);
            client.inside -= usize::from(inside);
            client.bytes -= bytes;
            client.replies.forget(call);
        }
    }

    /// All clients.
    pub(super) fn ids(&self) -> Vec<ClientId> {
        self.known.keys().copied().collect()
    }

    /// The clients that have callers inside.
    pub(super) fn holders(&self) -> Vec<ClientId> {
        let holders = self.known.iter().filter(|(_, client)| client.inside > 0);
        holders.map(|(id, _)| *id).collect()
    }

    /// The clients that have a session.
    pub(super) fn with_sessions(&self) -> Vec<ClientId> {
        self.known.keys().copied().filter(|id| self.session(*id).is_some()).collect()
    }

    /// Whether a client has callers inside.
    pub(super) fn holds(&self, id: ClientId) -> bool {
        self.known.get(&id).is_some_and(|client| client.inside > 0)
    }

    /// The session of a client is over: its calls leave.
    pub(super) fn close(&mut self, id: ClientId) {
        self.questions.forget(id);
        self.closing.insert(id);
    }

    /// Removes calls of a client whose session is over, at most this many; `None` if there is no
    /// such client.
    pub(super) fn take_leaving(&mut self, most: usize) -> Option<(ClientId, Vec<CallId>)> {
        let id = *self.closing.first()?;
        let Some(client) = self.known.get(&id) else {
            self.closing.remove(&id);
            return Some((id, Vec::new()));
        };
        let calls: Vec<CallId> = client.calls.values().copied().take(most).collect();
        for &call in &calls {
            self.remove_call(call);
        }
        Some((id, calls))
    }

    /// Whether all calls of a client have left whose session is over. If so, it can open the next.
    pub(super) fn has_closed(&mut self, id: ClientId) -> bool {
        let has_left = self.known.get(&id).is_none_or(|client| client.calls.is_empty());
        if has_left
            && self.closing.remove(&id)
            && let Some(client) = self.known.get_mut(&id)
        {
            client.replies = Replies::default();
        }
        has_left
    }

    /// Forgets a client that has no session, and whose calls have left.
    pub(super) fn forget(&mut self, id: ClientId) {
        if self.session(id).is_none() && !self.closing.contains(&id) {
            self.known.remove(&id);
            self.behind.remove(&id);
        }
    }
}

impl From<SiteReply> for Reply {
    fn from(reply: SiteReply) -> Self {
        Reply::Plain(reply)
    }
}

//! A client process, pure: its session at a site, and what each of its callers may believe.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::time::Duration;

use quorate_quorum::SiteId;

use super::grants::Grants;
use super::{ClientMessage, ClientRequest, SiteReply};
use crate::claim::{ClaimRequest, Denial, Loss};
use crate::lock::Got;
use crate::question::Answer;
use crate::session::{
    self, Durable, Event, Half, Packet, RelativeDeadline, Roles, Rule, Sessions, Terms, between,
};
use crate::{Fence, Tick};

/// Everything that can happen to a client process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientInput {
    /// A connection with a site is up. It takes the place of one that was.
    Up,
    /// The connection is gone.
    Down,
    /// The site says this.
    Packet(Packet<ClientMessage>),
    /// A caller wants something; the driver numbers calls and questions, and uses no number twice.
    Request(ClientRequest),
    /// The loss of this grant is to be signalled by so much before its end. A quarter of a lease is
    /// the most: with more, a grant would be given up between two renewals.
    Margin(u64, Duration),
    /// The site has stopped for good: what is held is given back, and nothing waits any longer. A
    /// grant that was lost before ends at its time.
    Stop,
    /// Nothing but the time.
    Time,
}

/// Everything a client process asks of its driver, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientEffect {
    /// Say this to the site, on the connection that is up; if it has just gone, to nobody.
    Packet(Packet<ClientMessage>),
    /// The caller is inside. Until when is told by [`ClientMachine::valid_until`].
    Granted(u64, Fence, Got),
    /// The grant is lost: its holder must stop by [`ClientMachine::valid_until`], at once if that
    /// is nothing. Told once for each grant.
    Lost(u64, CallerLoss),
    /// The caller gets nothing.
    Denied(u64, Denial),
    /// Nothing is left of the call of a caller that left, or will be when the lease is over at the
    /// site.
    Left(u64),
    /// The question went to these sites.
    Asked(u64, Vec<SiteId>),
    /// A site answers.
    Answer(u64, SiteId, Answer),
}

/// Why a grant ended before its caller left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallerLoss {
    /// The site says so.
    Told(Loss),
    /// The site was not heard of in time: the grant may be good there, but nobody here knows it.
    Unheard,
}

impl fmt::Display for CallerLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallerLoss::Told(loss) => loss.fmt(f),
            CallerLoss::Unheard => f.write_str("the site was not heard of in time"),
        }
    }
}

/// A client process: its session at a site, and what each of its callers may believe.
///
/// Until when a grant is good is counted by this process's own clock: never longer than the site
/// said, and never longer than the session here.
///
/// ```
/// use quorate_session::client::{ClientEffect, ClientInput, ClientMachine};
/// use quorate_session::session::{Packet, Terms};
/// use quorate_session::Tick;
///
/// let mut client = ClientMachine::new(Tick::ZERO, Terms::default());
/// let said = client.step(Tick(5), ClientInput::Up);
/// assert!(matches!(said[..], [ClientEffect::Packet(Packet::Hello(_))]), "it asks for a session");
/// assert_eq!(client.valid_until(1), None, "nobody is inside");
/// ```
#[derive(Clone, Debug)]
pub struct ClientMachine {
    now: Tick,
    sessions: Sessions<ClientMessage>,
    connected: bool,
    waiting: BTreeMap<u64, Waiting>,
    grants: Grants,
    /// Those who left, and whose site has not acknowledged it.
    leaving: BTreeSet<u64>,
    /// What the stream has no room for yet. A claim whose caller has left meanwhile is not sent.
    unsent: VecDeque<ClientRequest>,
    out: Vec<ClientEffect>,
}

/// A caller that waits.
#[derive(Clone, Debug)]
struct Waiting {
    request: ClaimRequest,
    /// Until when it waits.
    deadline: Option<Tick>,
}

/// The session layer names its peers. This is the site, whichever it is.
fn site() -> SiteId {
    SiteId::new(1)
}

impl ClientMachine {
    /// A process without callers yet.
    pub fn new(now: Tick, terms: Terms) -> Self {
        let me = SiteId::new(0);
        let peers = [(site(), Roles::Client)];
        let (sessions, _) = Sessions::start(now, me, peers, terms, Durable::default());
        Self {
            now,
            sessions,
            connected: false,
            waiting: BTreeMap::new(),
            grants: Grants::default(),
            leaving: BTreeSet::new(),
            unsent: VecDeque::new(),
            out: Vec::new(),
        }
    }

    /// Handles what is due by `now`, then the input.
    pub fn step(&mut self, now: Tick, input: ClientInput) -> Vec<ClientEffect> {
        self.now = now;
        if self.sessions.deadline().is_some_and(|when| when <= now) {
            self.drive(session::Input::Time);
        }
        self.end_what_is_over();
        match input {
            ClientInput::Time => {}
            ClientInput::Up => {
                self.connected = true;
                self.drive(session::Input::Up(site()));
            }
            ClientInput::Down => {
                self.connected = false;
                self.drive(session::Input::Down(site()));
            }
            ClientInput::Packet(packet) => self.drive(session::Input::Packet(site(), packet)),
            ClientInput::Request(request) => self.on_request(request),
            ClientInput::Margin(call, margin) => {
                self.grants.set_margin(call, margin.min(self.lease() / 4));
            }
            ClientInput::Stop => self.stop(),
        }
        self.end_what_is_over(); // what the input made due
        self.send_what_fits();
        std::mem::take(&mut self.out)
    }

    /// When [`ClientMachine::step`] must be called at the latest.
    pub fn deadline(&self) -> Option<Tick> {
        let grants = self.grants.due(self.session_end());
        grants.into_iter().chain(self.sessions.deadline()).min()
    }

    /// Until when the grant of `call` is good, as far as is known now; `None` if it is not inside.
    pub fn valid_until(&self, call: u64) -> Option<Tick> {
        Some(self.grants.end(call)?.min(self.session_end()))
    }

    /// Whether there is a session at the site.
    pub fn is_open(&self) -> bool {
        self.sessions.at(site()).is_some()
    }

    fn lease(&self) -> Duration {
        self.sessions.terms().lease.length()
    }

    fn keep(&self, rule: Rule) -> bool {
        self.sessions.terms().keep(rule)
    }

    /// By how much before the end of a grant its loss is signalled, unless the caller says more.
    fn usual_margin(&self) -> Duration {
        self.lease() / 60
    }

    /// No grant is good for longer than our session.
    fn session_end(&self) -> Tick {
        if !self.keep(Rule::ClientBeliefEndsWithSession) {
            return Tick(u64::MAX);
        }
        self.sessions.at(site()).map_or(Tick::ZERO, |session| session.until)
    }

    fn drive(&mut self, input: session::Input<ClientMessage>) {
        let effects = self.sessions.step(self.now, input);
        self.absorb(effects);
    }

    fn absorb(&mut self, effects: Vec<session::Effect<ClientMessage>>) {
        for effect in effects {
            match effect {
                session::Effect::Packet(_, packet) => self.out.push(ClientEffect::Packet(packet)),
                session::Effect::Deliver(.., ClientMessage::Reply(reply)) => self.on_reply(reply),
                session::Effect::Tell(Event::Open(..)) => self.on_open(),
                session::Effect::Tell(Event::Lost(_)) => self.on_session_lost(),
                _ => {}
            }
        }
    }

    fn on_request(&mut self, request: ClientRequest) {
        match request {
            ClientRequest::Claim(call, request) => {
                let deadline = request.patience.map(|patience| self.now + patience);
                self.waiting.insert(call, Waiting { request: request.clone(), deadline });
                if self.is_open() {
                    self.unsent.push_back(ClientRequest::Claim(call, request));
                }
            }
            ClientRequest::Leave(call) => self.leave(call),
            request @ (ClientRequest::Ask(..) | ClientRequest::Break(_)) => {
                self.unsent.push_back(request);
            }
        }
    }

    /// A caller leaves. If there is no session the site knows nothing of it, or soon will not.
    fn leave(&mut self, call: u64) {
        let known = self.waiting.remove(&call).is_some() | self.grants.remove(call).is_some();
        if !known {
            return self.out.push(ClientEffect::Left(call));
        }
        let forgets = !self.connected && !self.keep(Rule::LeaveIsKept);
        if self.is_open() && !forgets {
            self.leaving.insert(call);
            self.unsent.push_back(ClientRequest::Leave(call));
        } else {
            self.out.push(ClientEffect::Left(call));
        }
    }

    /// Sends what waits, as far as the stream has room for it.
    fn send_what_fits(&mut self) {
        while self.sessions.has_room(site())
            && let Some(request) = self.unsent.pop_front()
        {
            let request = match request {
                ClientRequest::Claim(call, request) => {
                    let Some(waiting) = self.waiting.get(&call) else { continue }; // it left
                    let left = waiting.deadline.map(|end| between(self.now, end));
                    ClientRequest::Claim(call, ClaimRequest { patience: left, ..request })
                }
                request => request,
            };
            let message = ClientMessage::Request(request);
            let (bytes, mut effects) = (message.bytes(), Vec::new());
            self.sessions.send((site(), Half::Arbiter), message, bytes, &mut effects);
            self.absorb(effects);
        }
    }

    /// A new session: the claims that wait are made in it, before what could not be asked yet.
    fn on_open(&mut self) {
        let claims = self.waiting.iter();
        let claims = claims.map(|(&call, one)| ClientRequest::Claim(call, one.request.clone()));
        let claims: Vec<ClientRequest> = claims.collect();
        for claim in claims.into_iter().rev() {
            self.unsent.push_front(claim);
        }
    }

    /// The session is over by our clock: the site may give our grants to others from now on.
    fn on_session_lost(&mut self) {
        if self.keep(Rule::ClientBeliefEndsWithSession) {
            let live = std::mem::take(&mut self.grants).take_live();
            let lost = |call| ClientEffect::Lost(call, CallerLoss::Unheard);
            self.out.extend(live.into_iter().map(lost));
        }
        self.out.extend(std::mem::take(&mut self.leaving).into_iter().map(ClientEffect::Left));
        let outlasts = |request: &ClientRequest| {
            matches!(request, ClientRequest::Ask(..) | ClientRequest::Break(_))
        };
        self.unsent.retain(outlasts);
    }

    fn on_reply(&mut self, reply: SiteReply) {
        match reply {
            SiteReply::Granted(call, fence, got, end) => self.on_granted(call, (fence, got), end),
            SiteReply::CommonDeadline(end) => {
                if let Some(end) = self.by_our_clock(end) {
                    self.grants.on_common(end);
                }
            }
            SiteReply::Degraded(call, end) => {
                let end = self.by_our_clock(end).unwrap_or(Tick::ZERO);
                self.grants.degrade(call, end);
            }
            SiteReply::Restored(call) => self.grants.restore(call),
            SiteReply::Broken(call, end, reason) => {
                let end = self.by_our_clock(end).unwrap_or(Tick::ZERO);
                self.grants.degrade(call, end); // it never ends before what was said
                self.lose(call, CallerLoss::Told(Loss::Broken(reason)));
            }
            SiteReply::Lost(call, loss) => {
                let signalled = self.grants.remove(call);
                if signalled == Some(false) || self.waiting.remove(&call).is_some() {
                    self.out.push(ClientEffect::Lost(call, CallerLoss::Told(loss)));
                }
            }
            SiteReply::Denied(call, denial) => {
                if self.waiting.remove(&call).is_some() {
                    self.out.push(ClientEffect::Denied(call, denial));
                }
            }
            SiteReply::Left(call) => {
                if self.leaving.remove(&call) {
                    self.out.push(ClientEffect::Left(call));
                }
            }
            SiteReply::Asked(ask, sites) => self.out.push(ClientEffect::Asked(ask, sites)),
            SiteReply::Answer(ask, from, answer) => {
                self.out.push(ClientEffect::Answer(ask, from, answer));
            }
        }
    }

    fn on_granted(&mut self, call: u64, (fence, got): (Fence, Got), end: RelativeDeadline) {
        if self.waiting.remove(&call).is_none() {
            return; // it has left, and said so
        }
        let (margin, end) = (self.usual_margin(), self.by_our_clock(end).unwrap_or(Tick::ZERO));
        if end.min(self.session_end()) <= self.now + margin {
            // It was under way for too long to be of use.
            self.say_left(call);
            return self.out.push(ClientEffect::Lost(call, CallerLoss::Unheard));
        }
        self.grants.insert(call, end, margin);
        if !self.keep(Rule::CommonDeadlineForEarlier) {
            self.grants.on_common(self.grants.common());
        }
        self.out.push(ClientEffect::Granted(call, fence, got));
    }

    /// A deadline of the site by our clock: counted from our renewal that it names, for its message
    /// may have been under way for long. `None` if that renewal is too old to be known.
    fn by_our_clock(&self, end: RelativeDeadline) -> Option<Tick> {
        if !self.keep(Rule::ClientCountsFromRenewal) {
            return Some(self.now + end.after);
        }
        self.sessions.handed(site(), end)
    }

    /// Signals the loss of a grant, once. It stays good until the end known now, and is given back
    /// then.
    fn lose(&mut self, call: u64, loss: CallerLoss) {
        let Some(end) = self.valid_until(call) else { return };
        if self.grants.end_by(call, end) {
            self.out.push(ClientEffect::Lost(call, loss));
        }
    }

    /// Signals the losses that are due, and gives back what is over: whoever has it must have
    /// stopped.
    fn end_what_is_over(&mut self) {
        let session = self.session_end();
        while let Some(call) = self.grants.next_lost(self.now, session) {
            self.lose(call, CallerLoss::Unheard);
        }
        while let Some(call) = self.grants.next_over(self.now) {
            self.grants.remove(call);
            self.say_left(call);
        }
    }

    /// Gives something back that nobody has any more, and nobody waits to hear of.
    fn say_left(&mut self, call: u64) {
        if self.is_open() {
            self.unsent.push_back(ClientRequest::Leave(call));
        }
    }

    /// Gives back what is held. A grant whose loss was signalled before stays as it is: its holder
    /// may rely on the end that it knows.
    fn stop(&mut self) {
        let live = self.grants.take_live();
        let waiting = std::mem::take(&mut self.waiting).into_keys();
        for call in live.iter().copied().chain(waiting) {
            self.say_left(call);
        }
        let lost = |call| ClientEffect::Lost(call, CallerLoss::Unheard);
        self.out.extend(live.into_iter().map(lost));
    }
}

//! A client process, pure: its session at a site, and the grants of its callers.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::time::Duration;

use quorate_quorum::SiteId;

use super::grants::Grants;
use super::site_choice::SiteChoice;
use super::waiting::WaitingClaims;
use super::{ClientMessage, ClientRequest, QuorumStatus, SiteReply};
use crate::claim::{Denial, Loss};
use crate::lock::Granted;
use crate::question::SiteAnswer;
use crate::session::{
    self, Durable, Event, Half, Packet, RelativeDeadline, Roles, Rule, Sessions, Terms,
};
use crate::{Fence, Tick};

/// Everything that can happen to a client process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientInput {
    /// A connection with a site is up: with the one of [`ClientEffect::Dial`], if the client has a
    /// choice. It replaces the one before.
    Up,
    /// The connection is gone.
    Down,
    /// The site at this place of the list could not be reached, or refused the connection.
    DialFailed(usize),
    /// A packet of the site.
    Packet(Packet<ClientMessage>),
    /// A caller's request; the driver numbers calls and questions, and uses no number twice.
    Request(ClientRequest),
    /// Signal the loss of this grant this much before its end. The most is a quarter of a lease:
    /// with more, grants would be given up between two renewals.
    Margin(u64, Duration),
    /// The site has stopped for good: grants are given back, and no claim waits any longer. A
    /// grant that was lost before stays valid until its end.
    Stop,
    /// Time has passed.
    Time,
}

/// An effect of a step, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientEffect {
    /// Send this to the site on the present connection; drop it if there is none.
    Packet(Packet<ClientMessage>),
    /// The claim is granted. [`ClientMachine::valid_until`] says until when.
    Granted(u64, Fence, Granted),
    /// The grant is lost: its holder must stop by [`ClientMachine::valid_until`], at once if that
    /// is `None`. Comes once for each grant.
    Lost(u64, CallerLoss),
    /// The claim is denied.
    Denied(u64, Denial),
    /// The call has ended because its caller left. Nothing of it is left at the site, or will be
    /// when the lease is over there.
    Left(u64),
    /// The question was sent to these sites.
    Asked(u64, Vec<SiteId>),
    /// The answer of a site.
    Answer(u64, SiteId, SiteAnswer),
    /// The site is about to stop, and stops then at the latest. Its grants may be used until they
    /// are lost.
    Draining(Tick),
    /// Close the present connection when what was sent on it is written; [`ClientInput::Down`] does
    /// not follow.
    Close,
    /// Connect to the site at this place of the list, and stop any earlier attempt.
    Dial(usize),
}

/// Why a grant ended before its holder released it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallerLoss {
    /// The site reported the loss.
    Reported(Loss),
    /// The site did not extend the grant in time: it is unreachable, or has stopped. The grant may
    /// still be valid there, but the client cannot know.
    Expired,
}

impl fmt::Display for CallerLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallerLoss::Reported(loss) => loss.fmt(f),
            CallerLoss::Expired => f.write_str("the site did not extend the grant in time"),
        }
    }
}

/// A client process: its session at a site, and the grants of its callers.
///
/// Deadlines of grants are counted by this process's own clock: never later than the site said,
/// and never later than the end of the session here.
///
/// ```
/// use quorate_session::client::{ClientEffect, ClientInput, ClientMachine};
/// use quorate_session::session::{Packet, Terms};
/// use quorate_session::Tick;
///
/// let mut client = ClientMachine::new(Tick::ZERO, Terms::default());
/// let effects = client.step(Tick(5), ClientInput::Up);
/// let [ClientEffect::Packet(Packet::Hello(_))] = effects[..] else {
///     panic!("it asks for a session")
/// };
/// assert_eq!(client.valid_until(1), None, "nothing is granted");
/// ```
#[derive(Clone, Debug)]
pub struct ClientMachine {
    pub(super) now: Tick,
    pub(super) sessions: Sessions<ClientMessage>,
    pub(super) connected: bool,
    /// The sites it may use; `None` if it has its one site for good.
    pub(super) choice: Option<SiteChoice>,
    /// The place of the site at which it has its session.
    pub(super) session_site: usize,
    /// When a site last sent something.
    pub(super) heard: Option<Tick>,
    /// What the site said last of its quorum.
    pub(super) quorum: Option<QuorumStatus>,
    /// Whether the site is about to stop.
    pub(super) draining: bool,
    pub(super) waiting: WaitingClaims,
    pub(super) grants: Grants,
    /// Calls that were left; the site has not acknowledged it.
    leaving: BTreeSet<u64>,
    /// Requests the stream has no room for yet. A claim whose caller left meanwhile is not sent.
    unsent: VecDeque<ClientRequest>,
    pub(super) out: Vec<ClientEffect>,
}

/// The name of the site in the session layer, whichever site it is.
pub(super) fn site() -> SiteId {
    SiteId::new(1)
}

impl ClientMachine {
    /// A client without callers, whose one site the driver connects it to.
    pub fn new(now: Tick, terms: Terms) -> Self {
        let me = SiteId::new(0);
        let peers = [(site(), Roles::Client)];
        let (sessions, _) = Sessions::start(now, me, peers, terms, Durable::default());
        Self {
            now,
            sessions,
            connected: false,
            choice: None,
            session_site: 0,
            heard: None,
            quorum: None,
            draining: false,
            waiting: WaitingClaims::default(),
            grants: Grants::default(),
            leaving: BTreeSet::new(),
            unsent: VecDeque::new(),
            out: Vec::new(),
        }
    }

    /// Handles the deadlines that are due by `now`, then the input.
    pub fn step(&mut self, now: Tick, input: ClientInput) -> Vec<ClientEffect> {
        self.now = now;
        if self.sessions.deadline().is_some_and(|when| when <= now) {
            self.step_sessions(session::Input::Time);
        }
        self.expire_grants();
        self.expire_waits();
        match input {
            ClientInput::Time => {}
            ClientInput::Up => self.on_up(),
            ClientInput::Down => self.on_down(),
            ClientInput::DialFailed(place) => self.on_dial_failed(place),
            ClientInput::Packet(packet) => self.on_packet(packet),
            ClientInput::Request(request) => self.on_request(request),
            ClientInput::Margin(call, margin) => {
                self.grants.set_margin(call, margin.min(self.lease() / 4));
            }
            ClientInput::Stop => self.stop(),
        }
        self.expire_grants(); // those the input made due
        self.expire_waits();
        self.flush_unsent();
        self.review_site();
        std::mem::take(&mut self.out)
    }

    /// When [`ClientMachine::step`] must be called at the latest.
    pub fn deadline(&self) -> Option<Tick> {
        let grants = self.grants.due(self.session_end());
        let waiting = self.wait_deadline();
        let choice = self.choice.as_ref().and_then(SiteChoice::deadline);
        [grants, waiting, choice, self.sessions.deadline()].into_iter().flatten().min()
    }

    /// Until when the grant of `call` is valid, as far as known now; `None` if it has no grant.
    pub fn valid_until(&self, call: u64) -> Option<Tick> {
        Some(self.grants.end(call)?.min(self.session_end()))
    }

    /// Whether there is a session at the site.
    pub fn is_open(&self) -> bool {
        self.sessions.at(site()).is_some()
    }

    pub(super) fn lease(&self) -> Duration {
        self.sessions.terms().lease.length()
    }

    pub(super) fn keep(&self, rule: Rule) -> bool {
        self.sessions.terms().keep(rule)
    }

    /// How long before the end of a grant its loss is signalled, unless the caller sets more.
    fn usual_margin(&self) -> Duration {
        self.lease() / 60
    }

    /// The end of our session: no grant is valid for longer.
    fn session_end(&self) -> Tick {
        if !self.keep(Rule::ClientBeliefEndsWithSession) {
            return Tick(u64::MAX);
        }
        self.sessions.at(site()).map_or(Tick::ZERO, |session| session.until)
    }

    pub(super) fn step_sessions(&mut self, input: session::Input<ClientMessage>) {
        let effects = self.sessions.step(self.now, input);
        self.on_session_effects(effects);
    }

    fn on_session_effects(&mut self, effects: Vec<session::Effect<ClientMessage>>) {
        for effect in effects {
            match effect {
                session::Effect::Packet(_, packet) => self.send_packet(packet),
                session::Effect::Deliver(.., ClientMessage::Reply(reply)) => self.on_reply(reply),
                session::Effect::Notify(Event::Open(..)) => self.on_open(),
                session::Effect::Notify(Event::Lost(_)) => self.on_session_lost(),
                _ => {}
            }
        }
    }

    fn on_request(&mut self, request: ClientRequest) {
        match request {
            ClientRequest::Claim(call, request) => {
                self.waiting.insert(self.now, call, request.clone());
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

    /// A caller leaves. Without a session the site knows nothing of its call, or soon will not.
    fn leave(&mut self, call: u64) {
        let known = self.waiting.remove(call) | self.grants.remove(call).is_some();
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

    /// Sends requests as far as the stream has room for them.
    pub(super) fn flush_unsent(&mut self) {
        while self.sessions.has_room(site())
            && let Some(request) = self.unsent.pop_front()
        {
            let request = match request {
                ClientRequest::Claim(call, _) => {
                    let Some(request) = self.waiting.request(self.now, call) else { continue };
                    ClientRequest::Claim(call, request)
                }
                request => request,
            };
            let message = ClientMessage::Request(request);
            let mut effects = Vec::new();
            self.sessions.send(site(), Half::Arbiter, message, &mut effects);
            self.on_session_effects(effects);
        }
    }

    /// A new session: waiting claims are made again in it, before the other unsent requests.
    fn on_open(&mut self) {
        self.session_site = self.site();
        (self.quorum, self.draining) = (None, false); // it has said nothing yet
        self.judge_site();
        let claim = |call| self.waiting.request(self.now, call).map(|it| (call, it));
        let claims: Vec<_> = self.waiting.calls().filter_map(claim).collect();
        for (call, request) in claims.into_iter().rev() {
            self.unsent.push_front(ClientRequest::Claim(call, request));
        }
    }

    /// The session is over by our clock: from now on the site may grant our locks to others.
    fn on_session_lost(&mut self) {
        if self.keep(Rule::ClientBeliefEndsWithSession) {
            let live = std::mem::take(&mut self.grants).take_live();
            let lost = |call| ClientEffect::Lost(call, CallerLoss::Expired);
            self.out.extend(live.into_iter().map(lost));
        }
        self.out.extend(std::mem::take(&mut self.leaving).into_iter().map(ClientEffect::Left));
        let outlasts = |request: &ClientRequest| {
            matches!(request, ClientRequest::Ask(..) | ClientRequest::Break(_))
        };
        self.unsent.retain(outlasts);
        let mut effects = Vec::new();
        self.sessions.on_told(site(), Half::Requester, &mut effects);
        self.on_session_effects(effects);
    }

    fn on_reply(&mut self, reply: SiteReply) {
        match reply {
            SiteReply::Granted(call, fence, granted, end) => {
                self.on_granted(call, fence, granted, end);
            }
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
                self.grants.degrade(call, end); // never before a deadline that was sent
                self.lose(call, CallerLoss::Reported(Loss::Broken(reason)));
            }
            SiteReply::Lost(call, loss) => {
                let signalled = self.grants.remove(call);
                if signalled == Some(false) || self.waiting.remove(call) {
                    self.out.push(ClientEffect::Lost(call, CallerLoss::Reported(loss)));
                }
            }
            SiteReply::Denied(call, denial) => {
                if self.waiting.remove(call) {
                    self.out.push(ClientEffect::Denied(call, denial));
                }
            }
            SiteReply::Left(call) => {
                if self.leaving.remove(&call) {
                    self.out.push(ClientEffect::Left(call));
                }
            }
            SiteReply::Asked(ask, sites) => self.out.push(ClientEffect::Asked(ask, sites)),
            SiteReply::Moved(call, since) => {
                self.waiting.set_since(call, since);
            }
            SiteReply::Draining(end) => self.on_draining(end),
            SiteReply::Answer(ask, from, answer) => {
                self.out.push(ClientEffect::Answer(ask, from, answer));
            }
            SiteReply::Quorum(status) => self.on_quorum(status),
        }
    }

    fn on_granted(&mut self, call: u64, fence: Fence, granted: Granted, end: RelativeDeadline) {
        if !self.waiting.remove(call) {
            return; // it left or was denied, and the site will learn that
        }
        let (margin, end) = (self.usual_margin(), self.by_our_clock(end).unwrap_or(Tick::ZERO));
        if end.min(self.session_end()) <= self.now + margin {
            // It was in transit for too long to be of use.
            self.send_leave(call);
            return self.out.push(ClientEffect::Lost(call, CallerLoss::Expired));
        }
        self.grants.insert(call, end, margin);
        if !self.keep(Rule::CommonDeadlineForEarlier) {
            self.grants.on_common(self.grants.common());
        }
        self.out.push(ClientEffect::Granted(call, fence, granted));
    }

    /// A deadline of the site by our clock. It is counted from our renewal that it names, because
    /// the message may have been in transit for long. `None` if that renewal is too old.
    pub(super) fn by_our_clock(&self, end: RelativeDeadline) -> Option<Tick> {
        if !self.keep(Rule::ClientCountsFromRenewal) {
            return Some(self.now + end.after);
        }
        self.sessions.absolute_deadline(site(), end)
    }

    /// Signals the loss of a grant, once. It stays valid until the end known now, and is given back
    /// then.
    fn lose(&mut self, call: u64, loss: CallerLoss) {
        let Some(end) = self.valid_until(call) else { return };
        if self.grants.end_by(call, end) {
            self.out.push(ClientEffect::Lost(call, loss));
        }
    }

    /// Signals the losses that are due, and gives back grants that are over: their holders must
    /// have stopped.
    fn expire_grants(&mut self) {
        let session = self.session_end();
        while let Some(call) = self.grants.next_lost(self.now, session) {
            self.lose(call, CallerLoss::Expired);
        }
        while let Some(call) = self.grants.next_over(self.now) {
            self.grants.remove(call);
            self.send_leave(call);
        }
    }

    /// Gives a call back whose caller does not wait for the acknowledgement.
    pub(super) fn send_leave(&mut self, call: u64) {
        if self.is_open() {
            self.unsent.push_back(ClientRequest::Leave(call));
        }
    }

    /// Gives back all grants. One whose loss was signalled before stays as it is: its holder may
    /// rely on the end that it knows.
    fn stop(&mut self) {
        let live = self.grants.take_live();
        let waiting = std::mem::take(&mut self.waiting);
        for call in live.iter().copied().chain(waiting.calls()) {
            self.send_leave(call);
        }
        let lost = |call| ClientEffect::Lost(call, CallerLoss::Expired);
        self.out.extend(live.into_iter().map(lost));
    }
}

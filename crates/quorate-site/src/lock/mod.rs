//! One lock at one site: a protocol, and the local callers that share it.

mod parallel_callers;
mod serial_callers;
mod shared_claim;
mod timers;

use std::fmt::Debug;

use quorate_protocol::token::Regeneration;
use quorate_protocol::{
    ClaimView, Fence, Input, Protocol, Record, Shared, Tick, Ticket, ValidityBasis, View,
    Violation, Why,
};
use quorate_quorum::{QuorumSystem, SiteId};
use quorate_session::session::Event;
use quorate_session::{CallId, Denial, Granted, Kind, LockSpec};

use crate::kinds::ProtocolMessage;

pub(crate) use self::parallel_callers::ParallelCallers;
pub(crate) use self::serial_callers::SerialCallers;
pub(crate) use self::shared_claim::SharedClaim;

/// One lock at one site, whatever its kind.
pub(crate) trait LockInstance: Debug + Send + Sync {
    /// A copy of it.
    fn clone_box(&self) -> Box<dyn LockInstance>;

    /// Its kind.
    fn kind(&self) -> Kind;

    /// A caller claims the lock.
    fn claim(&mut self, context: &mut StepContext<'_>, request: CallerRequest<'_>);

    /// A caller leaves, or stops waiting.
    fn leave(&mut self, context: &mut StepContext<'_>, call: CallId);

    /// Passes an input on to the protocol.
    fn on_input(
        &mut self,
        context: &mut StepContext<'_>,
        input: LockInput,
    ) -> Result<(), Violation>;

    /// A message arrived.
    fn on_message(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        message: ProtocolMessage,
    ) -> Result<(), Violation> {
        self.on_input(context, LockInput::Message(from, message))
    }

    /// A session began, ended or fell silent.
    fn on_session(&mut self, context: &mut StepContext<'_>, event: Event) {
        self.on_input(context, LockInput::Session(event))
            .expect("an event of a session is no violation");
    }

    /// The quarantine is over.
    fn on_cleared(&mut self, context: &mut StepContext<'_>) {
        self.on_input(context, LockInput::Cleared)
            .expect("the end of a quarantine is no violation");
    }

    /// When the next timer of the protocol expires.
    fn next_timer(&self) -> Option<Tick> {
        None
    }

    /// Whether timers that have expired can wait until the streams have room.
    fn timers_can_wait(&self) -> bool {
        false
    }

    /// Handles the timers that have expired.
    fn on_timers(&mut self, _context: &mut StepContext<'_>) {}

    /// Whether a waiting caller knows that it has to wait for another one.
    fn is_held_up(&self, call: CallId) -> bool;

    /// The callers that wait with this request, in their order.
    fn waiting_with(&self, ticket: Ticket) -> Vec<CallId>;

    /// What the grant of a caller depends on.
    fn validity_basis(&self, call: CallId) -> ValidityBasis;

    /// The delegations in force that this site has given: to which site, about which request.
    fn delegations(&self) -> Vec<(SiteId, Ticket)> {
        Vec::new()
    }

    /// What our delegation about a request depends on.
    fn delegation_basis(&self, _about: Ticket) -> ValidityBasis {
        ValidityBasis::Nothing
    }

    /// The caller that is inside with this request because `giver` delegates it.
    fn inside_by_delegation(&self, _giver: SiteId, _ticket: Ticket) -> Option<CallId> {
        None
    }

    /// The requests of callers, here or elsewhere, for which a request of ours was made.
    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        vec![request]
    }

    /// Lets nobody join the callers inside any more.
    fn stop_joining(&mut self) {}

    /// A delegation about a request of another site is valid again.
    fn on_delegation_valid(&mut self, _context: &mut StepContext<'_>, _about: Ticket) {}

    /// The quorums of which a caller needs one.
    fn quorums<'a>(&'a self, shared: &'a Shared, call: CallId) -> &'a dyn QuorumSystem;

    /// The protocol's view of itself, at most `most` of each list. Of the claims, it shows those
    /// that were made for `callers`, in their order, and others if they are few.
    fn view(&self, callers: &[CallId], most: usize) -> View;

    /// The local callers: those inside or being served, then those in the queue.
    fn callers(&self) -> Vec<CallId> {
        self.first_callers(usize::MAX)
    }

    /// The first of these.
    fn first_callers(&self, most: usize) -> Vec<CallId>;

    /// How many of them are inside, and how many wait.
    fn count_callers(&self) -> CallerCount;

    /// The requests to which this site's permission is lent.
    fn lent(&self) -> Vec<Ticket> {
        self.view(&[], usize::MAX).lent
    }

    /// The request that was made for a caller, as the protocol's view shows it.
    fn request<'a>(&self, call: CallId, view: &'a View) -> Option<&'a ClaimView>;

    /// Whether it can be forgotten now.
    fn is_vacant(&self, now: Tick) -> bool;

    /// Records what must outlive it.
    fn retire(&self, shared: &mut Shared);
}

impl Clone for Box<dyn LockInstance> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

/// How many callers a lock has at its site.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallerCount {
    pub(crate) inside: usize,
    pub(crate) waiting: usize,
}

/// What a local caller asks of a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallerRequest<'a> {
    pub(crate) call: CallId,
    pub(crate) spec: &'a LockSpec,
    /// Whether it is denied instead of queued.
    pub(crate) no_wait: bool,
    /// The Lamport time since when it has waited at other sites, if it has.
    pub(crate) earlier: Option<u64>,
}

/// An input of a lock that does not come from a local caller.
pub(crate) enum LockInput {
    Message(SiteId, ProtocolMessage),
    Session(Event),
    /// The quarantine is over.
    Cleared,
}

impl LockInput {
    /// The same for a protocol. A message of another protocol is a violation.
    fn into_protocol_input<P>(self) -> Result<Input<P>, Violation>
    where
        P: Protocol<Message: TryFrom<ProtocolMessage>>,
    {
        match self {
            LockInput::Message(from, message) => match message.try_into() {
                Ok(message) => Ok(Input::Deliver(from, message)),
                Err(_) => Err(Violation::NotAsked(from)),
            },
            LockInput::Session(event) => Ok(session_input(event)),
            LockInput::Cleared => Ok(Input::Cleared),
        }
    }
}

fn session_input<P: Protocol>(event: Event) -> Input<P> {
    match event {
        Event::Open(site, number) => Input::Open(site, number),
        Event::Silent(site) => Input::Silent(site),
        Event::Lost(site) => Input::Lost(site),
        Event::Opened(site, number) => Input::Opened(site, number),
        Event::Closed(site) => Input::Closed(site),
    }
}

/// What a lock may use during one step.
pub(crate) struct StepContext<'a> {
    pub(crate) now: Tick,
    pub(crate) shared: &'a mut Shared,
    pub(crate) local_turns: u32,
    pub(crate) effects: &'a mut Vec<LockEffect>,
}

/// What a lock asks of its site.
#[derive(Clone, Debug)]
pub(crate) enum LockEffect {
    Send(SiteId, ProtocolMessage),
    Grant {
        call: CallId,
        fence: Fence,
        granted: Granted,
    },
    Lose(CallId, Why),
    /// Tell the caller to leave; it is inside until it has.
    Stop(CallId, Why),
    Deny(CallId, Denial),
    Persist(Record),
    /// The deadline of the callers inside has changed.
    ValidityChanged,
    /// Other sites contradict each other.
    Contradiction,
    /// For the log: a token was replaced.
    Regenerated(Regeneration),
}

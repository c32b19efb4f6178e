//! The events of a world, as data for traces, counters and readers.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use quorate_protocol::{ClaimId, Eta, Fence, Protocol, Tick, Why};
use quorate_quorum::SiteId;

use crate::{Fault, SimProtocol};

/// An event, of any protocol.
#[derive(Debug)]
pub enum Event<'a> {
    /// A caller asks for the lock.
    Acquires(Caller),
    /// A caller leaves.
    Releases(Caller),
    /// A caller does not wait any longer.
    GivesUp(Caller),
    /// A message goes out.
    Sends {
        /// Its sender.
        from: SiteId,
        /// Its receiver.
        to: SiteId,
        /// What it says.
        message: Message<'a>,
    },
    /// A message arrives.
    Receives {
        /// Its sender.
        from: SiteId,
        /// Its receiver.
        to: SiteId,
        /// What it says.
        message: Message<'a>,
    },
    /// A message is lost.
    Drops {
        /// Its sender.
        from: SiteId,
        /// Its receiver.
        to: SiteId,
        /// What it says.
        message: Message<'a>,
    },
    /// A timer is set, to run out at some moment.
    Arms(SiteId, &'a dyn Value, Tick),
    /// A timer runs out.
    Expires(SiteId, &'a dyn Value),
    /// A claim is inside now.
    Enters(Caller, Grant<'a>),
    /// A grant is over before its time.
    Loses(Caller, Why),
    /// A site estimates when a waiter can enter, or revises an estimate.
    Estimates(SiteId, Eta),
    /// A site has nothing to do, and says why.
    Ignores(SiteId, &'static str),
    /// A fault, or its repair.
    Suffers(Fault),
}

impl Event<'_> {
    /// Whether a caller gets or loses a grant: quiet traces show only these.
    pub fn is_outcome(&self) -> bool {
        matches!(self, Event::Enters(..) | Event::Loses(..))
    }

    /// A word for the kind of event, for machines.
    pub fn word(&self) -> &'static str {
        match self {
            Event::Acquires(..) => "acquires",
            Event::Releases(..) => "releases",
            Event::GivesUp(..) => "gives up",
            Event::Sends { .. } => "sends",
            Event::Receives { .. } => "receives",
            Event::Drops { .. } => "drops",
            Event::Arms(..) => "arms",
            Event::Expires(..) => "expires",
            Event::Enters(..) => "enters",
            Event::Loses(..) => "loses",
            Event::Estimates(..) => "estimates",
            Event::Ignores(..) => "ignores",
            Event::Suffers(_) => "suffers",
        }
    }

    /// The site at which it happens.
    pub fn site(&self) -> SiteId {
        match *self {
            Event::Acquires(Caller { site, .. })
            | Event::Releases(Caller { site, .. })
            | Event::GivesUp(Caller { site, .. })
            | Event::Sends { from: site, .. }
            | Event::Receives { to: site, .. }
            | Event::Drops { to: site, .. }
            | Event::Arms(site, ..)
            | Event::Expires(site, _)
            | Event::Enters(Caller { site, .. }, _)
            | Event::Loses(Caller { site, .. }, _)
            | Event::Estimates(site, _)
            | Event::Ignores(site, _) => site,
            Event::Suffers(fault) => fault.site(),
        }
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Acquires(caller) => write!(f, "{caller} acquires"),
            Event::Releases(caller) => write!(f, "{caller} releases"),
            Event::GivesUp(caller) => write!(f, "{caller} gives up"),
            Event::Sends { from, to, message } => write!(f, "{from} -> {to}  {message}"),
            Event::Receives { from, to, message } => write!(f, "{to} <- {from}  {message}"),
            Event::Drops { from, to, message } => write!(f, "{from} -> {to}  {message} is lost"),
            Event::Arms(site, timer, _) => write!(f, "{site} arms {timer}"),
            Event::Expires(site, timer) => write!(f, "{timer} of {site} runs out"),
            Event::Enters(caller, grant) => write!(f, "{caller} enters {grant}"),
            Event::Loses(caller, why) => write!(f, "{caller} loses the lock: {why}"),
            Event::Estimates(site, Eta { ticket, from, after }) => {
                write!(f, "{site} estimates {ticket} inside ")?;
                match from {
                    Some(from) => {
                        let at = Duration::from_nanos(from.0).saturating_add(*after);
                        write!(f, "at {at:?} or later")
                    }
                    None if after.is_zero() => f.write_str("when its stage begins, or later"),
                    None => write!(f, "{after:?} after its stage begins, or later"),
                }
            }
            Event::Ignores(site, why) => write!(f, "{site} ignores it: {why}"),
            Event::Suffers(fault) => write!(f, "{fault}"),
        }
    }
}

/// A caller, by its site and its claim there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The site it asks.
    pub site: SiteId,
    /// Its claim.
    pub claim: ClaimId,
    /// Whether a site may have several claims at a time.
    pub several: bool,
}

impl Caller {
    /// A caller of protocol `P`.
    pub(crate) fn of<P: Protocol>(site: SiteId, claim: ClaimId) -> Self {
        Self { site, claim, several: P::CONCURRENT_CLAIMS }
    }
}

/// A site, or its claim where it may have several: `3`, `3/1`.
impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caller { site, claim: ClaimId(claim), several: true } => write!(f, "{site}/{claim}"),
            Caller { site, .. } => write!(f, "{site}"),
        }
    }
}

/// A value of some protocol: a message, a grant, the name of a timer.
pub trait Value: fmt::Debug + fmt::Display + Any {}

impl<T: fmt::Debug + fmt::Display + Any> Value for T {}

/// A message of any protocol.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its name in the paper.
    pub kind: &'static str,
    /// Whether it is for the arbiter half; all others are for the requester.
    pub is_for_arbiter: bool,
    value: &'a dyn Value,
}

impl<'a> Message<'a> {
    /// A message of protocol `P`.
    pub fn of<P: SimProtocol>(message: &'a P::Message) -> Self {
        let (kind, is_for_arbiter) = (P::kind(message), P::is_for_arbiter(message));
        Self { kind, is_for_arbiter, value: message }
    }

    /// The message itself.
    ///
    /// # Panics
    ///
    /// It is a message of another protocol.
    pub fn downcast<M: Any>(self) -> &'a M {
        (self.value as &dyn Any).downcast_ref().expect("a message of the protocol at hand")
    }
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.value, f)
    }
}

/// A grant of any protocol.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    /// How long the caller declared to stay, if it had to.
    pub declared_time: Option<Duration>,
    /// Its fence.
    pub fence: Fence,
    value: &'a dyn Value,
}

impl<'a> Grant<'a> {
    /// A grant of protocol `P`.
    pub fn of<P: SimProtocol>(grant: &'a P::Grant) -> Self {
        Self { declared_time: P::declared_time(grant), fence: P::fence(grant), value: grant }
    }

    /// The grant itself.
    ///
    /// # Panics
    ///
    /// It is a grant of another protocol.
    pub fn downcast<G: Any>(self) -> &'a G {
        (self.value as &dyn Any).downcast_ref().expect("a grant of the protocol at hand")
    }
}

impl fmt::Display for Grant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.value, f)
    }
}

/// Observes a world.
pub trait Observer {
    /// Sees one event, `depth` deep in the action that led to it: 0 for what a caller does or a
    /// channel delivers, and what follows from it one deeper than the receipt it follows from.
    fn see(&mut self, depth: usize, event: &Event<'_>);

    /// Whether it wants estimates of waiting times, which cost time to compute.
    fn wants_estimates(&self) -> bool {
        false
    }
}

/// Observes nothing.
#[derive(Debug, Default)]
pub struct Unwatched;

impl Observer for Unwatched {
    fn see(&mut self, _: usize, _: &Event<'_>) {}
}

impl<A: Observer, B: Observer> Observer for (&mut A, &mut B) {
    fn see(&mut self, depth: usize, event: &Event<'_>) {
        self.0.see(depth, event);
        self.1.see(depth, event);
    }

    fn wants_estimates(&self) -> bool {
        self.0.wants_estimates() || self.1.wants_estimates()
    }
}

//! What happens in a world, as data for traces, counters and readers.

use std::fmt;
use std::time::Duration;

use quorate_protocol::{ClaimId, Eta, Protocol, Tick, Why};
use quorate_quorum::SiteId;

use crate::Fault;

/// One thing that happened.
#[derive(Debug)]
pub enum Event<'a, P: Protocol> {
    /// A caller asks for the lock.
    Acquires(SiteId, ClaimId),
    /// A caller leaves.
    Releases(SiteId, ClaimId),
    /// A caller does not wait any longer.
    GivesUp(SiteId, ClaimId),
    /// A message goes out.
    Sends {
        /// Its sender.
        from: SiteId,
        /// Its receiver.
        to: SiteId,
        /// What it says.
        message: &'a P::Message,
    },
    /// A message arrives.
    Receives {
        /// Its sender.
        from: SiteId,
        /// Its receiver.
        to: SiteId,
        /// What it says.
        message: &'a P::Message,
    },
    /// A message is lost.
    Drops {
        /// Its sender.
        from: SiteId,
        /// Its receiver.
        to: SiteId,
        /// What it says.
        message: &'a P::Message,
    },
    /// A timer is set, to run out at some moment.
    Arms(SiteId, P::Timer, Tick),
    /// A timer runs out.
    Expires(SiteId, P::Timer),
    /// A claim is inside now.
    Enters(SiteId, ClaimId, &'a P::Grant),
    /// A grant is over before its time.
    Loses(SiteId, ClaimId, Why),
    /// A site foresees when one who waits there can get in, or that it will be another time.
    Foresees(SiteId, Eta),
    /// A site has nothing to do, and says why.
    Ignores(SiteId, &'static str),
    /// Something goes wrong, or is mended.
    Suffers(Fault),
}

impl<P: Protocol> Event<'_, P> {
    /// Whether it changes what callers have: these stand in a trace also where messages do not.
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
            Event::Foresees(..) => "foresees",
            Event::Ignores(..) => "ignores",
            Event::Suffers(_) => "suffers",
        }
    }

    /// The site at which it happens.
    pub fn site(&self) -> SiteId {
        match *self {
            Event::Acquires(site, _)
            | Event::Releases(site, _)
            | Event::GivesUp(site, _)
            | Event::Sends { from: site, .. }
            | Event::Receives { to: site, .. }
            | Event::Drops { to: site, .. }
            | Event::Arms(site, ..)
            | Event::Expires(site, _)
            | Event::Enters(site, ..)
            | Event::Loses(site, ..)
            | Event::Foresees(site, _)
            | Event::Ignores(site, _) => site,
            Event::Suffers(fault) => fault.site(),
        }
    }
}

impl<P: Protocol> fmt::Display for Event<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Acquires(site, claim) => write!(f, "{} acquires", who::<P>(*site, *claim)),
            Event::Releases(site, claim) => write!(f, "{} releases", who::<P>(*site, *claim)),
            Event::GivesUp(site, claim) => write!(f, "{} gives up", who::<P>(*site, *claim)),
            Event::Sends { from, to, message } => write!(f, "{from} -> {to}  {message}"),
            Event::Receives { from, to, message } => write!(f, "{to} <- {from}  {message}"),
            Event::Drops { from, to, message } => write!(f, "{from} -> {to}  {message} is lost"),
            Event::Arms(site, timer, _) => write!(f, "{site} arms {timer}"),
            Event::Expires(site, timer) => write!(f, "{timer} of {site} runs out"),
            Event::Enters(site, claim, grant) => {
                write!(f, "{} enters {grant}", who::<P>(*site, *claim))
            }
            Event::Loses(site, claim, why) => {
                write!(f, "{} loses the lock: {why}", who::<P>(*site, *claim))
            }
            Event::Foresees(site, Eta { ticket, from, after }) => {
                write!(f, "{site} foresees {ticket} inside ")?;
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

/// A site, or its claim where it may have several: `3`, `3/1`.
pub fn who<P: Protocol>(site: SiteId, ClaimId(claim): ClaimId) -> String {
    if P::SEVERAL { format!("{site}/{claim}") } else { site.to_string() }
}

/// Looks on while a world moves.
pub trait Observer<P: Protocol> {
    /// Sees one event, `depth` deep in the action that led to it: 0 for what a caller does or a
    /// channel delivers, and what follows from it one deeper than the receipt it follows from.
    fn see(&mut self, depth: usize, event: &Event<'_, P>);

    /// Whether it wants to know what sites foresee, which takes time to find out.
    fn asks_ahead(&self) -> bool {
        false
    }
}

/// Looks away.
#[derive(Debug, Default)]
pub struct Unwatched;

impl<P: Protocol> Observer<P> for Unwatched {
    fn see(&mut self, _: usize, _: &Event<'_, P>) {}
}

impl<P: Protocol, A: Observer<P>, B: Observer<P>> Observer<P> for (&mut A, &mut B) {
    fn see(&mut self, depth: usize, event: &Event<'_, P>) {
        self.0.see(depth, event);
        self.1.see(depth, event);
    }

    fn asks_ahead(&self) -> bool {
        self.0.asks_ahead() || self.1.asks_ahead()
    }
}

//! Turns an algorithm into a protocol, with claims, fences and the simulator's interface.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use quorate_protocol::mutex::Grant;
use quorate_protocol::{
    ClaimId, ClaimView, Fence, Input, Out, Protocol, Shared, Tick, Ticket, ValidityBasis, View,
    Violation,
};
use quorate_quorum::{QuorumSystem, SiteSet, Threshold};
use quorate_sim::{AnySetup, Setup, Shape, SimProtocol, coterie};

use crate::algorithm::{ALL_SITES, Algorithm, SiteConfig, StepContext};

/// The algorithm `A` as a protocol.
///
/// No paper has fences, but our properties check them. Every entry happens after the previous exit,
/// by a chain of messages; so a count of entries that travels on every message, as Lamport's clock
/// does, grows from entry to entry, whatever the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Baseline<A> {
    undone: Option<&'static str>,
    /// The algorithm's state; created with the first input.
    state: Option<A>,
    phase: Phase,
    /// The highest fence known here.
    seen: Fence,
}

/// The state of a site's caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    Idle,
    Waiting(Ticket),
    Inside(Ticket),
}

/// A message, and the highest fence known to its sender.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Envelope<M> {
    pub(crate) seen: Fence,
    pub(crate) message: M,
}

impl<M: fmt::Display> fmt::Display for Envelope<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl<A: Algorithm> Baseline<A> {
    /// A site at which nothing has happened yet, with one of the rules undone or none.
    pub fn new(undone: Option<&'static str>) -> Self {
        Self { undone, state: None, phase: Phase::Idle, seen: Fence::default() }
    }

    /// Lets the algorithm handle an input.
    fn act(
        &mut self,
        site: &mut Shared,
        out: &mut Out<Self>,
        action: impl FnOnce(&mut A, &mut StepContext<'_, A>),
    ) {
        let state = self.state.get_or_insert_with(|| {
            let quorum = site.quorum().unwrap_or_default();
            A::new(&SiteConfig { me: site.site(), n: site.n(), quorum })
        });
        let (undone, seen, phase) = (self.undone, &mut self.seen, &mut self.phase);
        action(state, &mut StepContext { site, undone, seen, phase, out });
    }

    fn acquire(
        &mut self,
        site: &mut Shared,
        claim: ClaimId,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        if self.phase != Phase::Idle {
            return Err(Violation::Busy);
        }
        if !site.may_ask() {
            return Err(Violation::NoQuorum);
        }
        let ticket = Ticket { time: site.clock.advance(), site: site.site(), claim };
        self.phase = Phase::Waiting(ticket);
        self.act(site, out, |state, context| state.ask(ticket, context));
        Ok(())
    }

    fn release(
        &mut self,
        site: &mut Shared,
        claim: ClaimId,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        match self.phase {
            Phase::Inside(ticket) if ticket.claim == claim => self.phase = Phase::Idle,
            _ => return Err(Violation::NotInside(claim)),
        }
        self.act(site, out, Algorithm::leave);
        Ok(())
    }
}

impl<A: Algorithm> Protocol for Baseline<A> {
    type Message = Envelope<A::Message>;
    type Claim = ();
    type Grant = Grant;
    type Timer = Infallible;

    fn step(
        &mut self,
        site: &mut Shared,
        _: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        match input {
            Input::Acquire(claim, ()) => self.acquire(site, claim, out),
            Input::Release(claim) => self.release(site, claim, out),
            Input::Abandon(claim) => Err(Violation::NotWaiting(claim)),
            Input::Turn(_) => Err(Violation::NoTurns),
            Input::Deliver(from, Envelope { seen, message }) => {
                self.seen = self.seen.max(seen);
                self.act(site, out, |state, context| state.receive(from, message, context));
                Ok(())
            }
            Input::Expire(never) => match never {},
            _ => {
                out.ignore("its paper knows no sessions");
                Ok(())
            }
        }
    }

    fn validity_basis(&self, claim: ClaimId) -> ValidityBasis {
        match self.phase {
            Phase::Inside(ticket) if ticket.claim == claim => {
                ValidityBasis::Permissions(SiteSet::default())
            }
            _ => ValidityBasis::Nothing,
        }
    }

    fn view(&self) -> View {
        let (ticket, inside) = match self.phase {
            Phase::Idle => return View::default(),
            Phase::Waiting(ticket) => (ticket, false),
            Phase::Inside(ticket) => (ticket, true),
        };
        let claim = ClaimView { ticket, inside, held_up: false, missing: Vec::new() };
        View { claims: vec![claim], ..View::default() }
    }

    fn is_wanted(&self) -> bool {
        false
    }

    fn is_vacant(&self) -> bool {
        self.phase == Phase::Idle && self.state.as_ref().is_none_or(Algorithm::is_idle)
    }

    fn retire(&self, _: &mut Shared) {}
}

impl<A: Algorithm> SimProtocol for Baseline<A> {
    const NAME: &'static str = A::NAME;

    const QUORUM: &'static str = A::QUORUM;

    const ANY_ORDER: bool = false;

    const IDEAL: bool = true;

    const ARBITERS: bool = false;

    type Options = Option<&'static str>;

    type Quorums = Arc<dyn QuorumSystem>;

    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }

    fn quorums(shape: &Shape, _: &[()]) -> Result<Self::Quorums, String> {
        match shape {
            Shape::Kind(name, n) if name == ALL_SITES => {
                let all = Threshold::new(*n, *n).map_err(|error| error.to_string())?;
                Ok(Arc::new(all))
            }
            _ if A::QUORUM == ALL_SITES => {
                Err(format!("{} asks no quorum; leave the quorum out", A::NAME))
            }
            _ => coterie(shape),
        }
    }

    fn new_site(_: &Self::Quorums, undone: &Self::Options) -> Self {
        Self::new(*undone)
    }

    fn parse_claim(words: &[&str]) -> Result<(), String> {
        match words {
            [] => Ok(()),
            _ => Err(format!("{} is acquired without `{}`", A::NAME, words.join(" "))),
        }
    }

    fn kind(message: &Envelope<A::Message>) -> &'static str {
        A::kind(&message.message)
    }

    fn is_for_arbiter(_: &Envelope<A::Message>) -> bool {
        true
    }

    fn conflict(_: &Grant, _: &Grant) -> bool {
        true
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn is_quorum_for(_: &Self::Quorums, _: &Grant, _: &SiteSet) -> bool {
        false
    }
}

//! The mutex with one repair undone, to see the damage.
//!
//! The transitions of the mutex are the repaired ones and know nothing of this module. A wrapper
//! undoes one repair from outside: it changes an input before the step, or the effects after it,
//! into those of the printed pseudo-code. Only tests and the laboratory use it.

mod paper;
mod refusals;
mod sessions;

use std::fmt;

use strum::IntoEnumIterator;

use super::requester::Phase;
use super::{Message, Mutex, Options};
use crate::mutations::MutantProtocol;
use crate::{Effect, Input, Out, Protocol, Shared, Tick, Violation};

/// A repair that can be undone: of an error of the printed algorithm, by its number in
/// `docs/protocols/mutex.md`, or of an error that arises when sessions end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumIter)]
pub enum Mutation {
    /// A site that makes a request forgets that it has lent its permission.
    E1,
    /// A site yields although it is inside.
    E2,
    /// Messages do not name the request they are about.
    E3,
    /// A release that overtakes the report of a pass frees a permission that is held elsewhere.
    E4,
    /// A request that is queued between the holder and the head is sent no fail.
    E5,
    /// Messages do not name the loan they are about.
    E6,
    /// A session that ends for the requester half of a site ends for its arbiter half too.
    BothHalves,
    /// A permission that was passed on counts in any session.
    AnySession,
    /// Arbiters are not told which sites cannot pass permissions to a request.
    NoDirect,
    /// A holder that sends such a notice is not sent its permission again.
    NoRepeat,
    /// A site whose passes may be lost is trusted again when the session opens again.
    DirectGrows,
    /// A lost holder is assumed to have passed nothing on.
    NoAsking,
    /// A request that has refused a loan counts it all the same.
    LackNotBinding,
    /// A release that came early is not used when its passer is lost.
    EarlyUnused,
    /// A holder is given up without skipping the fences it may have used.
    FloorKept,
    /// The same for a receiver of a pass that is gone.
    FloorKeptAtGone,
    /// The same for a candidate that was asked for the permission and is gone.
    FloorKeptAtAsked,
    /// A restarted arbiter lends at once.
    NoQuarantine,
    /// A request that waits for a fence does not try to enter again when a session is lost.
    NoRecheck,
    /// A request that yielded on demand leaves the inquires of other arbiters open.
    InquiriesKept,
    /// Fence ceilings are not on disk.
    CeilVolatile,
    /// A head that is overtaken while its arbiter asks the candidates is sent no fail.
    OvertakenUntold,
    /// A request is announced to the holder though it has refused the loan that would be passed.
    RefusedAnnounced,
    /// A receiver of a pass that has refused the loan is taken for one that is gone.
    RefusedAsked,
    /// Without 5.3 candidates are asked to refuse more loans than can have been made.
    RefusesMore,
    /// A request from inside is queued like any other.
    HeldInOrder,
    /// A waiting holder without a fail does not yield to a request from inside.
    NoDemand,
    /// A permission that arrives while a request is inside does not count.
    DropInside,
    /// A request that stays inside asks for no spare permissions. Only whole sites show it.
    NoSpares,
    /// Callers of one site that follow each other share a fence. Only whole sites show it.
    SharedFence,
    /// Each lock of a lost site takes a block of fences of its own. Only whole sites show it.
    OwnBlocks,
}

impl Mutation {
    /// The repairs for sessions that end.
    pub const SESSIONS: [Mutation; 16] = [
        Mutation::BothHalves,
        Mutation::AnySession,
        Mutation::NoDirect,
        Mutation::NoRepeat,
        Mutation::DirectGrows,
        Mutation::NoAsking,
        Mutation::LackNotBinding,
        Mutation::EarlyUnused,
        Mutation::FloorKept,
        Mutation::FloorKeptAtGone,
        Mutation::FloorKeptAtAsked,
        Mutation::NoQuarantine,
        Mutation::NoRecheck,
        Mutation::InquiriesKept,
        Mutation::CeilVolatile,
        Mutation::OvertakenUntold,
    ];

    /// The repairs without which nothing breaks, but more grants are lost.
    pub const SURVIVAL: [Mutation; 3] =
        [Mutation::HeldInOrder, Mutation::NoDemand, Mutation::DropInside];

    /// The repairs without which nothing breaks, but a hand-over after a lost holder takes more
    /// messages.
    pub const REFUSALS: [Mutation; 3] =
        [Mutation::RefusedAnnounced, Mutation::RefusedAsked, Mutation::RefusesMore];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Mutation> {
        Self::iter()
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::mutations::dashed(&format!("{self:?}")))
    }
}

/// A mutex with one repair undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mutant {
    pub(super) undone: Mutation,
    pub(super) mutex: Mutex,
    /// The paper's *failed*: one bit, set by the first fail and kept for the whole request.
    failed: bool,
}

impl Mutant {
    /// A site in its initial state, without the repair `undone`.
    pub fn new(options: Options, undone: Mutation) -> Self {
        Self { undone, mutex: Mutex::new(options), failed: false }
    }

    /// Changes an input as the mutation requires; `None` if it has been handled.
    fn mutate(
        &mut self,
        site: &mut Shared,
        input: Input<Mutex>,
        out: &mut Out<Mutex>,
    ) -> Option<Input<Mutex>> {
        match (self.undone, input) {
            (Mutation::E1, Input::Acquire(claim, ())) => {
                if self.mutex.requester.phase == Phase::Idle {
                    self.mutex.arbiter.lock = None;
                }
                Some(Input::Acquire(claim, ()))
            }
            (_, Input::Deliver(from, message)) => {
                let message = match self.undone {
                    Mutation::E1 | Mutation::E5 => Some(message),
                    Mutation::E2 => self.yield_from_inside(site, from, message, out),
                    Mutation::E3 => self.without_tickets(site, from, message, out),
                    Mutation::E4 => self.release_by_anybody(site, message, out),
                    Mutation::E6 => self.without_numbers_but_tickets(from, message),
                    _ => self.mutate_message(site, from, message, out),
                };
                message.map(|message| Input::Deliver(from, message))
            }
            (_, input) => self.mutate_session(site, input, out),
        }
    }
}

impl MutantProtocol for Mutant {
    type Lock = Mutex;

    fn lock(&self) -> &Mutex {
        &self.mutex
    }

    fn faulty_step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Mutex>,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        if let Some(input) = self.mutate(site, input, out) {
            let case_six = self.is_case_six(&input);
            let newcomer = self.newcomer(&input);
            let inquires = self.take_open_inquires(&input);
            match &input {
                Input::Acquire(..) => self.failed = false,
                Input::Deliver(_, Message::Fail { .. }) => self.failed = true,
                _ => {}
            }
            let done = self.mutex.step(site, now, input, out);
            self.restore_inquires(inquires);
            done?;
            if case_six {
                out.retain(|effect| !matches!(effect, Effect::Send(_, Message::Fail { .. })));
            }
            if let Some(newcomer) = newcomer {
                out.retain(|effect| match effect {
                    Effect::Send(_, Message::Fail { ticket }) => *ticket == newcomer,
                    _ => true,
                });
            }
        }
        self.mutate_effects(out);
        self.mutate_refusals(out);
        self.failed |= out.iter().any(|e| matches!(e, Effect::Send(_, Message::Yield { .. })));
        Ok(())
    }
}

//! The algorithm as printed, and mutants of the repaired one: one repair undone at a time.
//!
//! For tests and scenarios that show what the repairs are for. What is undone is undone around the
//! transitions, by bending what comes in and what goes out; no production transition knows of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use quorate_quorum::{Arbiters, SiteId, SiteSet};

use super::queue::Status;
use super::{Message, Options, Pool};
use crate::errata::Wrapper;
use crate::{Clock, Effect, Fences, Input, Out, Protocol, Shared, Tick, Ticket, Violation};

/// A repair that can be undone, or an error that can be made: by its number in
/// `docs/protocols/pool.md`, or by a name where sessions that end make it necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Erratum {
    /// Who leaves still answers a cancel, and the arbiter takes back what it has already.
    E1,
    /// The lower site goes first, whenever it asks.
    E2,
    /// The clock does not move on with a request.
    E3,
    /// A cancel that overtakes its ok is dropped.
    E4,
    /// A request that never had its units returns them when it is given up.
    E5,
    /// What comes back is lent to whoever fits, past those that do not.
    N1,
    /// A restarted arbiter lends at once.
    N2,
    /// Nobody gets a chance when a waiting request is given up.
    N3,
    /// A newcomer is lent to although there is no room for all before it.
    N4,
    /// An arbiter does not tell its clock to those it lends to.
    ClockUntold,
    /// A session that a requester loses is over for the arbiter half of its site too.
    BothHalves,
    /// A request whose session ended is never let in again.
    DoneKept,
    /// A holder is given up without skipping the fences it may have used.
    FloorKept,
    /// Fence ceilings are not on disk.
    CeilVolatile,
    /// A request that waits for a fence does not look again when a session is lost.
    NoRecheck,
    /// Whoever has permissions takes the lowest numbers, without a round of names.
    Unnamed,
    /// An arbiter that replaces another does not learn which units it vouches for.
    ReplacementUnnamed,
    /// Who was asked to give back while it named its units forgets it.
    RecallForgotten,
    /// A request from inside waits its turn like any other.
    HeldInOrder,
    /// Those that have what a request from inside needs are not asked for it.
    NoRecall,
    /// A permission that comes while a request is inside does not count.
    DropInside,
}

impl Erratum {
    /// Those of the paper, in order.
    pub const PAPER: [Erratum; 5] =
        [Erratum::E1, Erratum::E2, Erratum::E3, Erratum::E4, Erratum::E5];

    /// Errors the paper does not make, but a reader might.
    pub const MUTANTS: [Erratum; 5] =
        [Erratum::N1, Erratum::N2, Erratum::N3, Erratum::N4, Erratum::ClockUntold];

    /// Those of sessions that end.
    pub const SESSIONS: [Erratum; 5] = [
        Erratum::BothHalves,
        Erratum::DoneKept,
        Erratum::FloorKept,
        Erratum::CeilVolatile,
        Erratum::NoRecheck,
    ];

    /// Those of units with numbers.
    pub const NUMBERS: [Erratum; 3] =
        [Erratum::Unnamed, Erratum::ReplacementUnnamed, Erratum::RecallForgotten];

    /// Those without which nothing breaks, but more grants are lost.
    pub const SURVIVAL: [Erratum; 3] =
        [Erratum::HeldInOrder, Erratum::NoRecall, Erratum::DropInside];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Erratum> {
        let paper = Self::PAPER.into_iter().chain(Self::MUTANTS);
        paper.chain(Self::SESSIONS).chain(Self::NUMBERS).chain(Self::SURVIVAL)
    }
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::errata::dashed(&format!("{self:?}")))
    }
}

/// A pool with the repair of one erratum undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unrepaired {
    undone: Erratum,
    pool: Pool,
    /// The paper's K, which outlives the request it was collected for (E1).
    kept: Option<(Ticket, SiteSet)>,
    /// How many units each request wants, also after it is over (E1).
    wanted: BTreeMap<Ticket, u32>,
}

impl Unrepaired {
    /// A site at which nothing has happened yet, without the repair of `undone`.
    pub fn new(arbiters: &Arc<Arbiters>, options: Options, undone: Erratum) -> Self {
        let pool = Pool::new(arbiters, options);
        Self { undone, pool, kept: None, wanted: BTreeMap::new() }
    }

    /// What is left to do of an input; `None` if nothing is.
    fn bend(
        &mut self,
        site: &mut Shared,
        input: Input<Pool>,
        out: &mut Out<Pool>,
    ) -> Option<Input<Pool>> {
        match (self.undone, &input) {
            (Erratum::E1, Input::Acquire(..)) => self.kept = None,
            (Erratum::E1, Input::Release(id)) => {
                let held = self.pool.requester.requests.get(id).map(|r| (r.ticket, r.held()));
                self.kept = held.or(self.kept.take());
            }
            (Erratum::E2, Input::Acquire(..)) => site.clock = Clock::default(),
            (Erratum::N2, Input::Cleared) => return None,
            (Erratum::BothHalves, &Input::Lost(peer)) => {
                self.pool.arbiter.on_closed(site, peer, out);
            }
            (Erratum::NoRecheck, &Input::Lost(peer)) => {
                self.pool.requester.on_lost(site, peer, out);
                return None;
            }
            (Erratum::DoneKept, Input::Closed(client)) => {
                let arbiter = &mut self.pool.arbiter;
                let tickets = arbiter.queue.iter().map(|entry| entry.ticket);
                arbiter.done.extend(tickets.filter(|ticket| ticket.site == *client));
            }
            (Erratum::FloorKept, &Input::Closed(client)) => {
                let floor = site.floor();
                self.pool.arbiter.on_closed(site, client, out);
                site.keep_floor(floor);
                for effect in out.iter_mut() {
                    if let Effect::Send(_, Message::Ok { fences, .. }) = effect {
                        fences.floor = floor;
                    }
                }
                return None;
            }
            (_, Input::Deliver(from, message)) => {
                let message = self.bend_message(site, *from, message.clone(), out)?;
                return Some(Input::Deliver(*from, message));
            }
            _ => {}
        }
        Some(input)
    }

    /// What is left to do of a message; `None` if nothing is.
    fn bend_message(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        mut message: Message,
        out: &mut Out<Pool>,
    ) -> Option<Message> {
        let arbiter = &mut self.pool.arbiter;
        match (self.undone, &mut message) {
            (Erratum::E1, &mut Message::Request { ticket, units, .. }) => {
                self.wanted.insert(ticket, units);
            }
            (Erratum::E1, &mut Message::Cancel { ticket, number }) => {
                let kept = self.kept.as_mut().filter(|(former, _)| *former == ticket);
                if kept.is_some_and(|(_, held)| held.remove(from)) {
                    out.send(from, Message::Cancelled { ticket, number });
                    return None;
                }
            }
            (Erratum::E1, Message::Cancelled { ticket, .. })
                if !arbiter.queue.contains(*ticket) =>
            {
                arbiter.invent(self.wanted[ticket]);
            }
            (Erratum::E3, Message::Ok { ticket, .. } | Message::Cancel { ticket, .. }) => {
                let mut requests = self.pool.requester.requests.values();
                if let Some(same) = requests.find(|request| request.ticket.time == ticket.time) {
                    *ticket = same.ticket;
                }
            }
            (Erratum::E4, &mut Message::Cancel { ticket, .. }) => {
                let request = self.pool.requester.requests.get(&ticket.claim)?;
                request.permissions.get(&from).filter(|permission| permission.held)?;
            }
            (Erratum::E5, Message::Release { ticket, .. }) => {
                let entry = arbiter.queue.get_mut(*ticket).filter(|entry| entry.waits());
                if let Some(units) = entry.map(|entry| entry.units) {
                    arbiter.invent(units);
                }
            }
            (Erratum::N2, _) => site.quarantined = false,
            (Erratum::N3, Message::Release { ticket, .. })
                if arbiter.queue.get_mut(*ticket).is_some_and(|entry| entry.waits()) =>
            {
                arbiter.queue.remove(*ticket);
                return None;
            }
            (Erratum::ClockUntold, Message::Ok { clock, .. }) => *clock = 0,
            (Erratum::HeldInOrder, Message::Request { held, .. }) => *held = false,
            (Erratum::ReplacementUnnamed, Message::Request { numbers, .. }) => numbers.clear(),
            (Erratum::DropInside, Message::Ok { ticket, .. }) => {
                let request = self.pool.requester.requests.get(&ticket.claim)?;
                if request.ticket == *ticket && request.inside.is_some() {
                    return None;
                }
            }
            _ => {}
        }
        Some(message)
    }

    /// Makes further errors after a step.
    fn err(&mut self, site: &mut Shared, input: &Input<Pool>, out: &mut Out<Pool>) {
        let arbiter = &mut self.pool.arbiter;
        match (self.undone, input) {
            (Erratum::E3, Input::Acquire(..)) => site.clock = Clock::at(site.clock.time() - 1),
            (
                Erratum::N1,
                Input::Closed(_)
                | Input::Cleared
                | Input::Deliver(_, Message::Cancelled { .. } | Message::Release { .. }),
            ) => arbiter.lend_to_whoever_fits(site, out),
            (Erratum::N4, Input::Deliver(_, Message::Request { ticket, .. })) => {
                arbiter.lend_and_take_back(site, *ticket, out);
            }
            (Erratum::Unnamed, _) => self.take_numbers(site, out),
            (Erratum::ReplacementUnnamed, Input::Deliver(from, Message::Ok { ticket, .. })) => {
                let request = self.pool.requester.request(*ticket);
                if let Some(request) = request.filter(|request| request.inside.is_some())
                    && let Some(permission) = request.permissions.get_mut(from)
                {
                    permission.names.agree();
                }
            }
            (Erratum::RecallForgotten, Input::Deliver(from, Message::Cancel { ticket, .. })) => {
                let request = self.pool.requester.request(*ticket);
                if let Some(permission) = request.and_then(|r| r.permissions.get_mut(from)) {
                    permission.names.recalled = false;
                }
            }
            (Erratum::NoRecall, Input::Deliver(_, Message::Request { held: true, .. })) => {
                arbiter.recall_nobody_inside_the_prefix(out);
            }
            _ => {}
        }
        out.retain(|effect| match effect {
            Effect::Persist(_) => self.undone != Erratum::CeilVolatile,
            _ => true,
        });
    }
}

impl Unrepaired {
    /// Takes every name for noted, and tells nobody.
    fn take_numbers(&mut self, site: &Shared, out: &mut Out<Pool>) {
        loop {
            let mut named = None;
            out.retain(|effect| match effect {
                Effect::Send(to, Message::Name { ticket, .. }) => {
                    named = Some((*to, *ticket));
                    false
                }
                _ => true,
            });
            let Some(named) = named else { return };
            self.pool.requester.on_named(site, named, Fences::default(), out);
        }
    }
}

impl super::Arbiter {
    /// Believes that there are more units than there are.
    fn invent(&mut self, units: u32) {
        self.units += units;
        self.free += units;
    }

    /// N1: does not stop at the first that does not fit.
    fn lend_to_whoever_fits(&mut self, site: &Shared, out: &mut Out<Pool>) {
        for place in 0..self.queue.len() {
            let entry = self.queue.at(place);
            if entry.waits() && self.free >= entry.units && !site.quarantined {
                self.hand_out(site, place, out);
            }
        }
    }

    /// N4: lends to a newcomer that fits by itself, and has to ask for it back at once.
    fn lend_and_take_back(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<Pool>) {
        let Some(place) = self.queue.iter().position(|entry| entry.ticket == ticket) else {
            return;
        };
        let entry = self.queue.at(place);
        if entry.waits() && self.free >= entry.units && !site.quarantined {
            self.hand_out(site, place, out);
            let entry = self.queue.at_mut(place);
            entry.status = Status::Cancel;
            out.send(ticket.site, Message::Cancel { ticket, number: entry.number });
        }
    }

    /// Takes back the cancels that only a request from inside made necessary.
    fn recall_nobody_inside_the_prefix(&mut self, out: &mut Out<Pool>) {
        let inside: Vec<usize> =
            (0..self.queue.len()).filter(|&place| self.is_in_prefix(place)).collect();
        for place in inside {
            let entry = self.queue.at_mut(place);
            let (ticket, number) = (entry.ticket, entry.number);
            let cancel = Effect::Send(ticket.site, Message::Cancel { ticket, number });
            let mut unsaid = false;
            out.retain(|effect| {
                unsaid |= *effect == cancel;
                *effect != cancel
            });
            if unsaid {
                entry.status = Status::Ok;
            }
        }
    }
}

impl Wrapper for Unrepaired {
    type Lock = Pool;

    fn lock(&self) -> &Pool {
        &self.pool
    }

    fn misstep(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Pool>,
        out: &mut Out<Pool>,
    ) -> Result<(), Violation> {
        if let Some(input) = self.bend(site, input, out) {
            self.pool.step(site, now, input.clone(), out)?;
            self.err(site, &input, out);
        }
        Ok(())
    }
}

//! The pool with one repair undone, to see the damage.
//!
//! The transitions of the pool are the repaired ones and know nothing of this module. A wrapper
//! undoes one repair from outside: it changes an input before the step, or the state and the
//! effects after it. Only tests and the laboratory use it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use litemap::LiteMap;
use quorate_quorum::{Arbiters, SiteId, SiteSet};
use strum::IntoEnumIterator;

use super::queue::Status;
use super::request::Request;
use super::requester::Requester;
use super::{Message, Options, Pool};
use crate::mutations::MutantProtocol;
use crate::{
    ClaimId, Clock, Effect, Fences, Input, Out, Protocol, Shared, Tick, Ticket, Violation,
};

/// A repair that can be undone: of an error of the printed algorithm (E1 to E5), an error that the
/// paper does not make (N1 to N4), or one by name. `docs/protocols/pool.md` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumIter)]
pub enum Mutation {
    /// A request that is over answers a cancel, and the arbiter takes the same units back twice.
    E1,
    /// Queues are ordered by site, whatever the time.
    E2,
    /// The clock does not advance with a request.
    E3,
    /// A cancel that overtakes its ok is dropped.
    E4,
    /// A request that never had its units returns them when it is given up.
    E5,
    /// Units that come back are lent to any request that fits, past those that do not.
    N1,
    /// A restarted arbiter lends at once.
    N2,
    /// No units are lent when a waiting request is given up.
    N3,
    /// A new request gets units although it does not fit together with all before it.
    N4,
    /// An ok does not carry the arbiter's clock.
    ClockUntold,
    /// A session that ends for the requester half of a site ends for its arbiter half too.
    BothHalves,
    /// A request whose session ended is refused when it asks again.
    DoneKept,
    /// A holder is given up without skipping the fences it may have used.
    FloorKept,
    /// Fence ceilings are not on disk.
    CeilVolatile,
    /// A request that waits for a fence does not try to enter again when a session is lost.
    NoRecheck,
    /// A request with a quorum of permissions takes the lowest numbers, without a naming round.
    Unnamed,
    /// An arbiter that replaces another does not learn which units are held.
    ReplacementUnnamed,
    /// A cancel that arrives during the naming round is forgotten.
    RecallForgotten,
    /// A request from inside is queued like any other.
    HeldInOrder,
    /// Only units outside the prefix are recalled for a request from inside.
    NoRecall,
    /// A permission that arrives while a request is inside does not count.
    DropInside,
    /// A request that stays inside asks for no spare permissions. Only whole sites show it.
    NoSpares,
    /// A request that cannot get a quorum keeps what it has, and asks all others that it reaches.
    NoWithdrawal,
    /// Answers to a former try of a request count.
    TryIgnored,
}

impl Mutation {
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

/// A pool with one repair undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mutant {
    undone: Mutation,
    pool: Pool,
    /// The paper's K, which outlives the request it was collected for (E1).
    kept: Option<(Ticket, SiteSet)>,
    /// How many units each request wants, also after it is over (E1).
    wanted: BTreeMap<Ticket, u32>,
}

impl Mutant {
    /// A site in its initial state, without the repair `undone`.
    pub fn new(arbiters: &Arc<Arbiters>, options: Options, undone: Mutation) -> Self {
        let pool = Pool::new(arbiters, options);
        Self { undone, pool, kept: None, wanted: BTreeMap::new() }
    }

    /// Changes an input as the mutation requires; `None` if it has been handled.
    fn mutate(
        &mut self,
        site: &mut Shared,
        input: Input<Pool>,
        out: &mut Out<Pool>,
    ) -> Option<Input<Pool>> {
        match (self.undone, &input) {
            (Mutation::E1, Input::Acquire(..)) => self.kept = None,
            (Mutation::E1, Input::Release(id)) => {
                let held = self.pool.requester.requests.get(id).map(|r| (r.ticket, r.held()));
                self.kept = held.or(self.kept.take());
            }
            (Mutation::E2, Input::Acquire(..)) => site.clock = Clock::default(),
            (Mutation::N2, Input::Cleared) | (Mutation::NoSpares, Input::Expire(_)) => return None,
            (Mutation::BothHalves, &Input::Lost(peer)) => {
                site.end_session();
                self.pool.arbiter.on_closed(site, peer, out);
            }
            (Mutation::NoRecheck, &Input::Lost(peer)) => {
                self.pool.requester.on_lost(site, peer, out);
                return None;
            }
            (Mutation::DoneKept, Input::Closed(client)) => {
                let arbiter = &mut self.pool.arbiter;
                let tickets = arbiter.queue.iter().map(|entry| entry.ticket);
                arbiter.done.extend(tickets.filter(|ticket| ticket.site == *client));
            }
            (Mutation::FloorKept, &Input::Closed(client)) => {
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
                let message = self.mutate_message(site, *from, message.clone(), out)?;
                return Some(Input::Deliver(*from, message));
            }
            _ => {}
        }
        Some(input)
    }

    /// Changes a message; `None` if it has been handled.
    fn mutate_message(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        mut message: Message,
        out: &mut Out<Pool>,
    ) -> Option<Message> {
        let arbiter = &mut self.pool.arbiter;
        match (self.undone, &mut message) {
            (Mutation::E1, &mut Message::Request { ticket, units, .. }) => {
                self.wanted.insert(ticket, units);
            }
            (Mutation::E1, &mut Message::Cancel { ticket, number, .. }) => {
                let kept = self.kept.as_mut().filter(|(former, _)| *former == ticket);
                if kept.is_some_and(|(_, held)| held.remove(from)) {
                    out.send(from, Message::Cancelled { ticket, number });
                    return None;
                }
            }
            (Mutation::E1, Message::Cancelled { ticket, .. })
                if !arbiter.queue.contains(*ticket) =>
            {
                arbiter.add_phantom_units(self.wanted[ticket]);
            }
            (Mutation::E3, Message::Ok { ticket, .. } | Message::Cancel { ticket, .. }) => {
                let mut requests = self.pool.requester.requests.values();
                if let Some(same) = requests.find(|request| request.ticket.time == ticket.time) {
                    *ticket = same.ticket;
                }
            }
            (Mutation::E4, &mut Message::Cancel { ticket, .. }) => {
                let request = self.pool.requester.requests.get(&ticket.claim)?;
                request.permissions.get(&from).filter(|permission| permission.held)?;
            }
            (Mutation::E5, Message::Release { ticket, .. }) => {
                let entry = arbiter.queue.get_mut(*ticket).filter(|entry| entry.waits());
                if let Some(units) = entry.map(|entry| entry.units) {
                    arbiter.add_phantom_units(units);
                }
            }
            (Mutation::N2, _) => site.quarantined = false,
            (Mutation::N3, Message::Release { ticket, .. })
                if arbiter.queue.get_mut(*ticket).is_some_and(|entry| entry.waits()) =>
            {
                arbiter.queue.remove(*ticket);
                return None;
            }
            (Mutation::TryIgnored, message) => self.pool.requester.forge_try(from, message)?,
            (Mutation::ClockUntold, Message::Ok { clock, .. }) => *clock = 0,
            (Mutation::HeldInOrder, Message::Request { held, .. }) => *held = false,
            (Mutation::ReplacementUnnamed, Message::Request { numbers, .. }) => numbers.clear(),
            (Mutation::DropInside, Message::Ok { ticket, .. }) => {
                let request = self.pool.requester.requests.get(&ticket.claim)?;
                if request.ticket == *ticket && request.inside.is_some() {
                    return None;
                }
            }
            _ => {}
        }
        Some(message)
    }

    /// Changes the state and the effects after a step, as the mutation requires.
    fn mutate_after(&mut self, site: &mut Shared, input: &Input<Pool>, out: &mut Out<Pool>) {
        let arbiter = &mut self.pool.arbiter;
        match (self.undone, input) {
            (Mutation::E3, Input::Acquire(..)) => site.clock = Clock::at(site.clock.time() - 1),
            (
                Mutation::N1,
                Input::Closed(_)
                | Input::Cleared
                | Input::Deliver(_, Message::Cancelled { .. } | Message::Release { .. }),
            ) => arbiter.lend_without_stopping(site, out),
            (Mutation::N4, Input::Deliver(_, Message::Request { ticket, .. })) => {
                arbiter.lend_and_take_back(site, *ticket, out);
            }
            (Mutation::Unnamed, _) => self.take_numbers(site, out),
            (Mutation::ReplacementUnnamed, Input::Deliver(from, Message::Ok { ticket, .. })) => {
                let request = self.pool.requester.request(*ticket);
                if let Some(request) = request.filter(|request| request.inside.is_some())
                    && let Some(permission) = request.permissions.get_mut(from)
                {
                    permission.names.agree();
                }
            }
            (Mutation::RecallForgotten, Input::Deliver(from, Message::Cancel { ticket, .. })) => {
                let request = self.pool.requester.request(*ticket);
                if let Some(permission) = request.and_then(|r| r.permissions.get_mut(from)) {
                    permission.names.recalled = false;
                }
            }
            (Mutation::NoRecall, Input::Deliver(_, Message::Request { held: true, .. })) => {
                arbiter.undo_recalls_in_prefix(out);
            }
            _ => {}
        }
        out.retain(|effect| match effect {
            Effect::Persist(_) => self.undone != Mutation::CeilVolatile,
            _ => true,
        });
    }
}

impl Mutant {
    /// Takes every choice for recorded, and sends none.
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
            let Some((arbiter, ticket)) = named else { return };
            self.pool.requester.on_named(site, arbiter, ticket, Fences::default(), out);
        }
    }

    /// Lets requests that have just withdrawn keep what they have, and those without a quorum ask
    /// all sites that they reach.
    fn undo_withdrawals(
        &mut self,
        site: &Shared,
        before: &LiteMap<ClaimId, Request>,
        out: &mut Out<Pool>,
    ) {
        let Requester { quorums, requests, .. } = &mut self.pool.requester;
        for (id, request) in requests.iter_mut() {
            let former = before.get(id).filter(|former| former.attempt != request.attempt);
            if let Some(former) = former {
                *request = Request { repaired: true, ..former.clone() };
                request.permissions.retain(|&arbiter, _| site.session_at(arbiter).is_some());
                out.retain(|effect| match effect {
                    Effect::Send(_, Message::Release { ticket, .. }) => *ticket != request.ticket,
                    _ => true,
                });
            }
            let quorums = site.picker_for(quorums.of(request.units.count));
            if quorums.reachable(&[]).is_none() {
                for arbiter in site.reachable().iter() {
                    if !request.permissions.contains_key(&arbiter) {
                        request.ask(arbiter, out);
                    }
                }
            }
        }
    }
}

impl super::Arbiter {
    /// E1 and E5: counts units that do not exist.
    fn add_phantom_units(&mut self, units: u32) {
        self.units += units;
        self.free += units;
    }

    /// N1: does not stop at the first request that does not fit.
    fn lend_without_stopping(&mut self, site: &Shared, out: &mut Out<Pool>) {
        for place in 0..self.queue.len() {
            let entry = self.queue.at(place);
            if entry.waits() && self.free >= entry.units && !site.quarantined {
                self.lend_unchecked(site, place, out);
            }
        }
    }

    /// N4: lends to a new request that fits by itself, and has to recall the units at once.
    fn lend_and_take_back(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<Pool>) {
        let Some(place) = self.queue.iter().position(|entry| entry.ticket == ticket) else {
            return;
        };
        let entry = self.queue.at(place);
        if entry.waits() && self.free >= entry.units && !site.quarantined {
            self.lend_unchecked(site, place, out);
            let entry = self.queue.at_mut(place);
            entry.status = Status::Cancel;
            let (number, attempt) = (entry.number, entry.attempt);
            out.send(ticket.site, Message::Cancel { ticket, number, attempt });
        }
    }

    /// Removes the cancels that were sent inside the prefix, for a request from inside.
    fn undo_recalls_in_prefix(&mut self, out: &mut Out<Pool>) {
        let inside: Vec<usize> =
            (0..self.queue.len()).filter(|&place| self.is_in_prefix(place)).collect();
        for place in inside {
            let entry = self.queue.at_mut(place);
            let (ticket, number, attempt) = (entry.ticket, entry.number, entry.attempt);
            let cancel = Effect::Send(ticket.site, Message::Cancel { ticket, number, attempt });
            let mut removed = false;
            out.retain(|effect| {
                removed |= *effect == cancel;
                *effect != cancel
            });
            if removed {
                entry.status = Status::Ok;
            }
        }
    }
}

impl Requester {
    /// Makes an answer to a former try one to the present try; `None` if the request asked nothing
    /// of that arbiter.
    fn forge_try(&mut self, from: SiteId, message: &mut Message) -> Option<()> {
        let (Message::Ok { ticket, attempt, .. }
        | Message::Cancel { ticket, attempt, .. }
        | Message::Named { ticket, attempt, .. }
        | Message::Taken { ticket, attempt, .. }) = message
        else {
            return Some(());
        };
        if let Some(request) = self.request(*ticket) {
            request.permissions.get(&from)?;
            *attempt = request.attempt;
        }
        Some(())
    }
}

impl MutantProtocol for Mutant {
    type Lock = Pool;

    fn lock(&self) -> &Pool {
        &self.pool
    }

    fn faulty_step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Pool>,
        out: &mut Out<Pool>,
    ) -> Result<(), Violation> {
        if let Some(input) = self.mutate(site, input, out) {
            let before = self.pool.requester.requests.clone();
            self.pool.step(site, now, input.clone(), out)?;
            self.mutate_after(site, &input, out);
            if self.undone == Mutation::NoWithdrawal {
                self.undo_withdrawals(site, &before, out);
            }
        }
        Ok(())
    }
}

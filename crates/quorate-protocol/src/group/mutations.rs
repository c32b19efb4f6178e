//! Mutants of the group lock: the repair of one erratum undone at a time.
//!
//! For tests and scenarios that show why each repair is needed. A mutant changes inputs, effects
//! and state around the production transitions, which are not aware of it.

use std::fmt;

use quorate_quorum::{SiteId, SiteSet};
use strum::{EnumIter, IntoEnumIterator};

use super::occupancy::Status;
use super::request::Phase;
use super::{GroupLock, Message, Options};
use crate::mutations::MutantProtocol;
use crate::{Effect, Input, Out, Protocol, Shared, Tick, Ticket, Violation};

/// A repair that can be undone. Errata of the paper have their number in
/// `docs/protocols/group.md`, where E2, E7, E8 and E9 concern its text only and E5 the order of
/// channels; repairs for sessions that end have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter)]
pub enum Mutation {
    /// Finished counts as an old reply once the site asks again.
    E1,
    /// A manager compares sites, not requests.
    E3,
    /// A reply names no request: a reply to an earlier request counts for the next.
    E4,
    /// A manager without followers frees its vote as soon as the pivot leaves.
    E6,
    /// The vote of a holder whose site is lost is not taken back.
    E10,
    /// A session lost by the requester half counts as closed for the manager half too.
    BothHalves,
    /// A pivot that leaves waits only for managers whose vote it has.
    NoClosingSet,
    /// A right to admit that ended with its session revives with the next one.
    OldRight,
    /// A restarted manager answers Release with Finished at once.
    FinishedUnknown,
    /// A restarted manager lends its vote at once.
    NoQuarantine,
    /// A vote is taken back without skipping the fences its holder may have used.
    FloorKept,
    /// Fence ceilings are not on disk.
    CeilVolatile,
    /// A request that waits for a fence does not try again when a session is lost.
    NoRecheck,
    /// A request from inside queues like any other. Breaks nothing, but more grants are lost.
    HeldInOrder,
    /// A pivot that stays inside asks for no spare votes. Only whole sites show it.
    NoSpares,
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

/// A group lock with one repair undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mutant {
    undone: Mutation,
    lock: GroupLock,
}

impl Mutant {
    /// A site in its initial state, with the repair `undone`.
    pub fn new(options: Options, undone: Mutation) -> Self {
        Self { undone, lock: GroupLock::new(options) }
    }

    /// As [`GroupLock::leads`].
    pub fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        self.lock.leads()
    }

    /// The input that the production step gets; `None` if it is handled here.
    fn mutate(
        &mut self,
        site: &mut Shared,
        input: Input<GroupLock>,
        out: &mut Out<GroupLock>,
    ) -> Option<Input<GroupLock>> {
        if let (Mutation::OldRight, Some(occupancy)) =
            (self.undone, self.lock.manager.status.occupancy_mut())
        {
            occupancy.right = site.session_at(occupancy.pivot.site).or(occupancy.right);
        }
        match (self.undone, &input) {
            (Mutation::E10, &Input::Closed(client)) => {
                let holder = self.lock.manager.status.holder();
                if holder.is_some_and(|holder| holder.site == client) {
                    self.lock.requester.on_closed(client, out);
                    return None;
                }
            }
            (Mutation::BothHalves, &Input::Lost(peer)) => {
                site.end_session();
                self.lock.manager.on_closed(site, peer, out);
            }
            (Mutation::NoRecheck, &Input::Lost(peer)) => {
                self.lock.requester.lose_peer(site, peer, out);
                return None;
            }
            (Mutation::FloorKept, &Input::Closed(client)) => {
                let floor = site.floor();
                self.lock.requester.on_closed(client, out);
                self.lock.manager.on_closed(site, client, out);
                site.keep_floor(floor);
                for effect in out.iter_mut() {
                    if let Effect::Send(_, Message::Ok { fences, .. }) = effect {
                        fences.floor = floor;
                    }
                }
                return None;
            }
            (Mutation::NoQuarantine, Input::Cleared) | (Mutation::NoSpares, Input::Expire(_)) => {
                return None;
            }
            (_, Input::Deliver(..)) => {
                let Input::Deliver(from, message) = input else { unreachable!("matched above") };
                let message = self.mutate_message(site, from, message, out)?;
                return Some(Input::Deliver(from, message));
            }
            _ => {}
        }
        Some(input)
    }

    /// The message that the production step gets; `None` if it is handled here.
    fn mutate_message(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        mut message: Message,
        out: &mut Out<GroupLock>,
    ) -> Option<Message> {
        let (requester, manager) = (&self.lock.requester, &mut self.lock.manager);
        match (self.undone, &mut message) {
            (Mutation::E1, Message::Finished { .. }) if !requester.requests.is_empty() => {
                return None;
            }
            (Mutation::E3, &mut Message::NoNeed { ticket }) => {
                let holder = manager.status.holder();
                if holder.is_some_and(|holder| holder.site == ticket.site && holder != ticket) {
                    manager.queue.remove(ticket);
                    manager.send_ok(site, out);
                    return None;
                }
            }
            (
                Mutation::E4,
                Message::Ok { ticket, .. }
                | Message::Enter { ticket, .. }
                | Message::Cancel { ticket },
            ) => {
                let mut requests = requester.requests.values();
                let waiting = requests.find(|request| {
                    request.phase == Phase::Waiting && request.votes.contains_key(&from)
                });
                *ticket = waiting.map_or(*ticket, |request| request.ticket);
            }
            // The vote may have another holder by now; the printed manager does not check.
            (
                Mutation::E3 | Mutation::E4 | Mutation::E6,
                Message::Lock { ticket, .. } | Message::Over { ticket },
            ) if manager.status.holder() != Some(*ticket) => return None,
            (Mutation::FinishedUnknown, &mut Message::Release { ticket }) if site.quarantined => {
                out.send(from, Message::Finished { ticket });
                return None;
            }
            (Mutation::NoQuarantine, _) => site.quarantined = false,
            (Mutation::HeldInOrder, Message::Request { held, .. }) => *held = false,
            _ => {}
        }
        Some(message)
    }

    /// Changes state and effects after the production step.
    fn mutate_outcome(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        let (requester, manager) = (&mut self.lock.requester, &mut self.lock.manager);
        match self.undone {
            Mutation::E6 => {
                if let Status::Releasing(occupancy) = &manager.status
                    && occupancy.followers.is_empty()
                {
                    manager.send_ok(site, out);
                }
            }
            Mutation::NoClosingSet => requester.closings.retain(|_, closing| {
                closing.pending = closing.pending.intersection(&closing.votes);
                !closing.end_if_finished(out)
            }),
            Mutation::CeilVolatile => {
                out.retain(|effect| !matches!(effect, Effect::Persist(_)));
            }
            _ => {}
        }
    }
}

impl MutantProtocol for Mutant {
    type Lock = GroupLock;

    fn lock(&self) -> &GroupLock {
        &self.lock
    }

    fn faulty_step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<GroupLock>,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        if let Some(input) = self.mutate(site, input, out) {
            self.lock.step(site, now, input, out)?;
        }
        self.mutate_outcome(site, out);
        Ok(())
    }
}

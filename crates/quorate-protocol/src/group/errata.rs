//! The algorithm as printed, and mutants of the repaired one: one repair undone at a time.
//!
//! For tests and scenarios that show what the repairs are for. What is undone is undone around the
//! transitions, by bending what comes in and what goes out; no production transition knows of it.

use std::fmt;

use quorate_quorum::{SiteId, SiteSet};

use super::request::Phase;
use super::session::Status;
use super::{GroupLock, Message, Options};
use crate::errata::Wrapper;
use crate::{Effect, Input, Out, Protocol, Shared, Tick, Ticket, Violation};

/// A repair that can be undone, or an error that can be made: by its number in
/// `docs/protocols/group.md`, or by a name where sessions that end make it necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Erratum {
    /// What is finished counts as an old reply once the site asks again.
    E1,
    /// A manager compares sites, not requests.
    E3,
    /// An answer names no request: one to a former request counts for the next.
    E4,
    /// A manager that let nobody join frees its vote as soon as the pivot leaves.
    E6,
    /// Nothing is done about a holder whose site is lost.
    E10,
    /// A session that a requester loses is over for the manager half of its site too.
    BothHalves,
    /// A pivot that leaves waits only for managers whose vote it has.
    NoClosingSet,
    /// A right to admit that ended with its session comes back with the next one.
    OldRight,
    /// A restarted manager says at once that nobody is left whom it let join.
    FinishedUnknown,
    /// A restarted manager lends at once.
    NoQuarantine,
    /// A holder is given up without skipping the fences it may have used.
    FloorKept,
    /// Fence ceilings are not on disk.
    CeilVolatile,
    /// A request that waits for a fence does not look again when a session is lost.
    NoRecheck,
    /// A request from inside waits its turn like any other.
    HeldInOrder,
}

impl Erratum {
    /// Those of the paper, in order. E2, E7, E8 and E9 are in its text only, and E5 is the order of
    /// channels.
    pub const PAPER: [Erratum; 5] =
        [Erratum::E1, Erratum::E3, Erratum::E4, Erratum::E6, Erratum::E10];

    /// Those of sessions that end.
    pub const SESSIONS: [Erratum; 8] = [
        Erratum::BothHalves,
        Erratum::NoClosingSet,
        Erratum::OldRight,
        Erratum::FinishedUnknown,
        Erratum::NoQuarantine,
        Erratum::FloorKept,
        Erratum::CeilVolatile,
        Erratum::NoRecheck,
    ];

    /// Those without which nothing breaks, but more grants are lost.
    pub const SURVIVAL: [Erratum; 1] = [Erratum::HeldInOrder];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Erratum> {
        Self::PAPER.into_iter().chain(Self::SESSIONS).chain(Self::SURVIVAL)
    }
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::errata::dashed(&format!("{self:?}")))
    }
}

/// A group lock with the repair of one erratum undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unrepaired {
    undone: Erratum,
    lock: GroupLock,
}

impl Unrepaired {
    /// A site at which nothing has happened yet, without the repair of `undone`.
    pub fn new(options: Options, undone: Erratum) -> Self {
        Self { undone, lock: GroupLock::new(options) }
    }

    /// As [`GroupLock::leads`].
    pub fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        self.lock.leads()
    }

    /// What is left to do of an input; `None` if nothing is.
    fn bend(
        &mut self,
        site: &mut Shared,
        input: Input<GroupLock>,
        out: &mut Out<GroupLock>,
    ) -> Option<Input<GroupLock>> {
        if let (Erratum::OldRight, Some(session)) =
            (self.undone, self.lock.manager.status.session_mut())
        {
            session.right = site.session_at(session.pivot.site).or(session.right);
        }
        match (self.undone, &input) {
            (Erratum::E10, &Input::Closed(client)) => {
                let holder = self.lock.manager.status.holder();
                if holder.is_some_and(|holder| holder.site == client) {
                    self.lock.requester.on_closed(client, out);
                    return None;
                }
            }
            (Erratum::BothHalves, &Input::Lost(peer)) => {
                self.lock.manager.on_closed(site, peer, out);
            }
            (Erratum::NoRecheck, &Input::Lost(peer)) => {
                self.lock.requester.lose_peer(site, peer, out);
                return None;
            }
            (Erratum::FloorKept, &Input::Closed(client)) => {
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
            (Erratum::NoQuarantine, Input::Cleared) => return None,
            (_, Input::Deliver(..)) => {
                let Input::Deliver(from, message) = input else { unreachable!("it is one") };
                let message = self.bend_message(site, from, message, out)?;
                return Some(Input::Deliver(from, message));
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
        out: &mut Out<GroupLock>,
    ) -> Option<Message> {
        let (requester, manager) = (&self.lock.requester, &mut self.lock.manager);
        match (self.undone, &mut message) {
            (Erratum::E1, Message::Finished { .. }) if !requester.requests.is_empty() => {
                return None;
            }
            (Erratum::E3, &mut Message::NoNeed { ticket }) => {
                let holder = manager.status.holder();
                if holder.is_some_and(|holder| holder.site == ticket.site && holder != ticket) {
                    manager.queue.remove(ticket);
                    manager.grant(site, out);
                    return None;
                }
            }
            (
                Erratum::E4,
                Message::Ok { ticket, .. }
                | Message::Enter { ticket, .. }
                | Message::Cancel { ticket },
            ) => {
                let mut requests = requester.requests.values();
                let waits = requests.find(|request| {
                    request.phase == Phase::Waiting && request.votes.contains_key(&from)
                });
                *ticket = waits.map_or(*ticket, |request| request.ticket);
            }
            // The vote may be another's by now; a manager as printed does not look.
            (
                Erratum::E3 | Erratum::E4 | Erratum::E6,
                Message::Lock { ticket, .. } | Message::Over { ticket },
            ) if manager.status.holder() != Some(*ticket) => return None,
            (Erratum::FinishedUnknown, &mut Message::Release { ticket }) if site.quarantined => {
                out.send(from, Message::Finished { ticket });
                return None;
            }
            (Erratum::NoQuarantine, _) => site.quarantined = false,
            (Erratum::HeldInOrder, Message::Request { held, .. }) => *held = false,
            _ => {}
        }
        Some(message)
    }

    /// Makes further errors after a step.
    fn err(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        let (requester, manager) = (&mut self.lock.requester, &mut self.lock.manager);
        match self.undone {
            Erratum::E6 => {
                if let Status::Releasing(session) = &manager.status
                    && session.followers.is_empty()
                {
                    manager.grant(site, out);
                }
            }
            Erratum::NoClosingSet => requester.closings.retain(|_, closing| {
                closing.pending = closing.pending.intersection(&closing.votes);
                !closing.is_over(out)
            }),
            Erratum::CeilVolatile => {
                out.retain(|effect| !matches!(effect, Effect::Persist(_)));
            }
            _ => {}
        }
    }
}

impl Wrapper for Unrepaired {
    type Lock = GroupLock;

    fn lock(&self) -> &GroupLock {
        &self.lock
    }

    fn misstep(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<GroupLock>,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        if let Some(input) = self.bend(site, input, out) {
            self.lock.step(site, now, input, out)?;
        }
        self.err(site, out);
        Ok(())
    }
}

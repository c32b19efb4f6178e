//! The manager half: lends its vote to one request at a time, and admits followers.
//!
//! Manabe & Park 2004, figure 1(b). Requests are compared, never processes (E3). A message that
//! FIFO channels rule out is a violation, not a panic. `repair.rs` has what happens when sessions
//! end.

use std::collections::{BTreeMap, BTreeSet};

use quorate_quorum::SiteId;

use super::occupancy::{DetachedFollowers, Occupancy, Status};
use super::queue::{Entry, Queue};
use super::{Choice, Group, GroupLock, Groups, Message, Options};
use crate::{Fence, Fences, Out, SessionNo, Shared, Tick, Ticket, Violation};

/// The most waiting requests that a vote reports.
const WAITING_MAX: usize = 32;

/// The manager half of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Manager {
    options: Options,
    pub(super) status: Status,
    pub(super) queue: Queue,
    /// Followers of pivots that have lost our vote, by pivot.
    pub(super) detached: BTreeMap<Ticket, DetachedFollowers>,
    /// Pivots whose Release we cannot answer yet: we have restarted and do not know whom we
    /// admitted before.
    pub(super) unanswered: BTreeSet<Ticket>,
}

/// The fields of a Lock message.
pub(super) struct Lock {
    pub(super) ticket: Ticket,
    pub(super) group: Group,
    pub(super) fence: Fence,
    pub(super) right: Option<SessionNo>,
}

impl Manager {
    pub(super) fn new(options: Options) -> Self {
        Self {
            options,
            status: Status::Vacant,
            queue: Queue::default(),
            detached: BTreeMap::new(),
            unanswered: BTreeSet::new(),
        }
    }

    /// Figure 1(b), arrival of Request: queues the request. It gets the vote if that is free, calls
    /// it back from a weaker holder, or joins a compatible occupancy.
    pub(super) fn on_request(&mut self, site: &Shared, entry: Entry, out: &mut Out<GroupLock>) {
        let (ticket, now) = (entry.ticket, entry.since);
        if self.knows(ticket) {
            return out.ignore("the request is known already");
        }
        // Only the limit needs the arrival time. Without a limit it is left out, so that it does
        // not make equal states differ.
        let since = if self.options.limit.is_some() { now } else { Tick::ZERO };
        self.queue.insert(Entry { since, ..entry });
        let leads = self.queue.head().is_some_and(|head| head.ticket == ticket);
        match self.status {
            Status::Vacant => {
                let alone = self.queue.iter().nth(1).is_none();
                assert!(alone || site.quarantined, "a vacant manager has no waiters");
                self.send_ok(site, out);
            }
            Status::WaitLock(holder) if leads => {
                out.send(holder.site, Message::Cancel { ticket: holder });
                self.status = Status::WaitCancel(holder);
            }
            Status::Locked(_) => self.admit(site, now, out),
            Status::WaitLock(_) | Status::WaitCancel(_) | Status::Releasing(_) => {}
        }
    }

    /// Figure 1(b), arrival of Lock: the holder of our vote is inside; admits compatible requests.
    ///
    /// A Cancel that crosses the Lock has lost the race. A pivot repeats its Lock when we have a
    /// new session at its site, to renew our right to admit.
    pub(super) fn on_lock(
        &mut self,
        site: &mut Shared,
        now: Tick,
        Lock { ticket, group, fence, right }: Lock,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        match &mut self.status {
            Status::Locked(occupancy) if occupancy.pivot == ticket => occupancy.right = right,
            status if status.awaits_lock_of(ticket) => {
                self.queue.remove(ticket).expect("the holder of the vote is queued");
                site.raise_floor(fence.next(), out);
                let followers = self.detached.remove(&ticket).unwrap_or_default().followers;
                let occupancy = Occupancy { pivot: ticket, group, fence, right, followers };
                self.status = Status::Locked(occupancy);
            }
            _ => return Err(Violation::NotHolder(ticket)),
        }
        self.admit(site, now, out);
        Ok(())
    }

    /// Figure 1(b), arrival of Cancelled: the holder gave our vote back. The strongest request gets
    /// it, which may be the same one.
    pub(super) fn on_cancelled(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        if self.status != Status::WaitCancel(ticket) {
            return Err(Violation::NotHolder(ticket));
        }
        self.send_ok(site, out);
        Ok(())
    }

    /// Figure 1(b), arrival of `NoNeed`: forgets a waiter, a follower, or the holder of our vote.
    ///
    /// A holder may not know that it has the vote; this message then replaces its Cancelled.
    pub(super) fn on_no_need(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<GroupLock>) {
        if self.queue.remove(ticket).is_some() {
            if self.status.awaits_lock_of(ticket) {
                self.send_ok(site, out);
            }
        } else if !self.remove_followers(|follower| follower == ticket, out) {
            out.ignore("the request is not here, or not any more");
        }
    }

    /// Figure 1(b), arrival of Release: the pivot has left. Admits no more followers, and sends
    /// Finished once all have left.
    ///
    /// A pivot that has lost our vote needs only the Finished. After a restart we do not know whom
    /// we admitted; they have all stopped when our quarantine is over.
    pub(super) fn on_release(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<GroupLock>) {
        match std::mem::take(&mut self.status) {
            Status::Locked(occupancy) if occupancy.pivot == ticket => {
                assert!(!self.queue.contains(ticket), "a request inside is not queued");
                self.status = Status::Releasing(occupancy);
                self.send_finished_if_empty(out);
            }
            status => {
                self.status = status;
                if let Some(detached) = self.detached.get_mut(&ticket) {
                    detached.asked = true;
                } else if site.quarantined {
                    self.unanswered.insert(ticket);
                } else {
                    out.send(ticket.site, Message::Finished { ticket });
                }
            }
        }
    }

    /// Figure 1(b), arrival of Over: the occupancy is over everywhere; the strongest request gets
    /// the vote.
    ///
    /// If the pivot has lost its quorum, or our right to admit has ended, followers may still be
    /// listed here. They have stopped, and their `NoNeed` will be ignored.
    pub(super) fn on_over(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        if self.status.occupancy().is_none_or(|occupancy| occupancy.pivot != ticket) {
            return Err(Violation::NotHolder(ticket));
        }
        self.send_ok(site, out);
        Ok(())
    }

    /// Figure 1(b), procedure `SendOK`: lends the vote to the strongest request. The request stays
    /// queued, so that a stronger one can be seen to overtake it.
    pub(super) fn send_ok(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        self.status = Status::Vacant;
        if site.quarantined {
            return;
        }
        let Some(head) = self.queue.head() else { return };
        let (ticket, session) = (head.ticket, site.session_of(head.ticket.site));
        assert!(session == Some(head.session), "the holder of a vote has a session here");
        let ok = Message::Ok {
            ticket,
            fences: Fences { floor: site.floor(), ceil: site.ceil() },
            waiting: self.other_waiters(ticket),
            clock: site.clock.time(),
        };
        out.send(ticket.site, ok);
        self.status = Status::WaitLock(ticket);
    }

    /// The waiting requests other than `ticket`, if the choice of group depends on them.
    fn other_waiters(&self, ticket: Ticket) -> Vec<(Ticket, Groups)> {
        if self.options.choice == Choice::Arbitrary {
            return Vec::new();
        }
        let others = self.queue.iter().filter(|entry| entry.ticket != ticket && !entry.held);
        let others = others.map(|entry| (entry.ticket, entry.groups.clone()));
        others.take(WAITING_MAX).collect()
    }

    /// Admits the queued requests that may join the occupancy.
    pub(super) fn admit(&mut self, site: &Shared, now: Tick, out: &mut Out<GroupLock>) {
        let Status::Locked(occupancy) = &mut self.status else { return };
        let Some(right) = occupancy.right(site) else { return };
        let has_waited_too_long =
            |entry: &Entry| self.options.limit.is_some_and(|limit| now >= entry.since + limit);
        let (pivot, fence, clock) = (occupancy.pivot, occupancy.fence, site.clock.time());
        for ticket in self.queue.joining(&occupancy.group, has_waited_too_long) {
            self.queue.remove(ticket);
            if !occupancy.followers.insert(ticket) {
                out.contradiction("a request joins once");
                continue;
            }
            let group = occupancy.group.clone();
            out.send(ticket.site, Message::Enter { ticket, pivot, group, fence, right, clock });
        }
    }

    /// Sends Finished to a pivot that has left, once its last follower has left.
    fn send_finished_if_empty(&mut self, out: &mut Out<GroupLock>) {
        if let Status::Releasing(occupancy) = &self.status
            && occupancy.followers.is_empty()
        {
            let ticket = occupancy.pivot;
            out.send(ticket.site, Message::Finished { ticket });
        }
    }

    /// Removes followers that have left or whose session is over; false if there was none.
    pub(super) fn remove_followers(
        &mut self,
        gone: impl Fn(Ticket) -> bool,
        out: &mut Out<GroupLock>,
    ) -> bool {
        let mut any = false;
        if let Some(occupancy) = self.status.occupancy_mut() {
            let before = occupancy.followers.len();
            occupancy.followers.retain(|&follower| !gone(follower));
            if occupancy.followers.len() < before {
                any = true;
                self.send_finished_if_empty(out);
            }
        }
        self.detached.retain(|&ticket, detached| {
            let before = detached.followers.len();
            detached.followers.retain(|&follower| !gone(follower));
            any |= detached.followers.len() < before;
            let done = detached.followers.is_empty();
            if done && detached.asked {
                out.send(ticket.site, Message::Finished { ticket });
            }
            !done
        });
        any
    }

    /// Whether a request is queued, holds the vote, or has joined.
    fn knows(&self, ticket: Ticket) -> bool {
        let joined = self.status.occupancy().is_some_and(|s| s.followers.contains(&ticket));
        joined || self.status.holder() == Some(ticket) || self.queue.contains(ticket)
    }

    /// The followers that have not left, with their sites.
    pub(super) fn admitted(&self) -> impl Iterator<Item = (SiteId, Ticket)> + '_ {
        let occupancy = self.status.occupancy().map(|occupancy| &occupancy.followers);
        let detached = self.detached.values().map(|detached| &detached.followers);
        occupancy.into_iter().chain(detached).flatten().map(|&follower| (follower.site, follower))
    }

    /// The pivot that a follower of ours joined; `None` if it is not our follower.
    pub(super) fn pivot_of(&self, follower: Ticket) -> Option<Ticket> {
        let occupancy =
            self.status.occupancy().map(|occupancy| (occupancy.pivot, &occupancy.followers));
        let detached = self.detached.iter().map(|(&pivot, detached)| (pivot, &detached.followers));
        let mut all = occupancy.into_iter().chain(detached);
        all.find(|(_, followers)| followers.contains(&follower)).map(|(pivot, _)| pivot)
    }

    pub(super) fn is_vacant(&self) -> bool {
        let idle = self.queue.is_empty() && self.detached.is_empty() && self.unanswered.is_empty();
        self.status == Status::Vacant && idle
    }

    /// The holder of the vote, and the followers of its occupancy.
    pub(super) fn lent(&self) -> impl Iterator<Item = Ticket> + '_ {
        let followers = self.status.occupancy().map(|occupancy| &occupancy.followers);
        self.status.holder().into_iter().chain(followers.into_iter().flatten().copied())
    }

    /// The queued requests, without the holder of the vote.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Ticket> + '_ {
        let holder = self.status.holder();
        self.queue.iter().map(|entry| entry.ticket).filter(move |&ticket| Some(ticket) != holder)
    }
}

//! The arbiter half: lends its lock to one stage at a time, by priority.
//!
//! Cenci & Ardenghi 2012, section 5, the messages received from other groups. A stage that gives
//! the lock back still waits for it, and is queued again (A1). `repair.rs` has what happens when
//! sessions end.

use std::collections::BTreeSet;

use litemap::LiteMap;

use super::{Message, Options, RoleLock};
use crate::{Fence, Fences, GrantNo, Out, SessionNo, Shared, Ticket};

/// The arbiter half of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Arbiter {
    options: Options,
    pub(super) holder: Option<Holder>,
    /// The waiting stages, highest priority first; the paper's LG.
    pub(super) lg: LiteMap<Rank, Entry>,
    /// With `unordered`, the stages that are over, because their messages may still arrive. It
    /// never shrinks; sessions make it unnecessary.
    pub(super) done: BTreeSet<Ticket>,
}

/// Whether the stage is without members, and its *pr*. The lower rank goes first; no two ranks are
/// equal (A2).
pub(super) type Rank = (bool, Ticket);

/// A stage at an arbiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) pr: Ticket,
    /// Whether it already has members and only replaces an arbiter of its quorum. Such a stage
    /// precedes all others, because without the lock its members may lose their grants.
    pub(super) held: bool,
    /// The number of its present or last loan, counted for each stage (A4, A5).
    pub(super) number: GrantNo,
    /// The session in which its request arrived.
    pub(super) session: SessionNo,
}

/// The stage that holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Holder {
    pub(super) entry: Entry,
    /// Whether it was asked to give the lock back. Once for each loan (A5).
    pub(super) inquired: bool,
    /// Whether it was told that another stage waits.
    pub(super) noticed: bool,
}

impl Entry {
    fn rank(&self) -> Rank {
        (!self.held, self.pr)
    }
}

impl Arbiter {
    pub(super) fn new(options: Options) -> Self {
        Self { options, holder: None, lg: LiteMap::new(), done: BTreeSet::new() }
    }

    /// Section 5, Req-Group: lends the lock to the stage, or queues it and inquires if it has
    /// priority over the holder.
    pub(super) fn on_req_group(&mut self, site: &Shared, entry: Entry, out: &mut Out<RoleLock>) {
        if self.done.contains(&entry.pr) {
            return out.ignore("the stage is over already");
        }
        if self.knows(entry.pr) {
            return out.ignore("the stage is known already");
        }
        self.lg.insert(entry.rank(), entry);
        match self.holder {
            None => {
                assert!(self.lg.len() == 1 || site.quarantined, "a free arbiter has no waiters");
                self.lend(site, out);
            }
            Some(_) => self.inquire(out),
        }
    }

    /// Section 5, Rep-Rel-Group: the holder gave the lock back. It is queued again, and the stage
    /// with the highest priority gets the lock.
    ///
    /// **Deviation.** The paper does not check who holds the lock: a Rep-Rel-Group that crosses a
    /// Lib-Group would take it from the next holder (A4, A5).
    /// Scenario: `role/a4_yield_after_the_end`.
    pub(super) fn on_rep_rel_group(
        &mut self,
        site: &Shared,
        pr: Ticket,
        number: GrantNo,
        out: &mut Out<RoleLock>,
    ) {
        let lent = self.holder.map(|holder| holder.entry);
        let Some(entry) = lent.filter(|entry| entry.pr == pr && entry.number == number) else {
            return out.ignore("the loan is over already");
        };
        self.lg.insert(entry.rank(), entry);
        self.lend(site, out);
    }

    /// Section 5, Lib-Group: the stage is over or withdrawn.
    pub(super) fn on_lib_group(
        &mut self,
        site: &mut Shared,
        pr: Ticket,
        floor: Option<Fence>,
        out: &mut Out<RoleLock>,
    ) {
        if let Some(floor) = floor {
            site.raise_floor(floor, out);
        }
        if self.options.unordered {
            self.done.insert(pr);
        }
        if self.is_lent_to(|holder| holder == pr) {
            self.lend(site, out);
        } else if !self.forget(|queued| queued == pr) {
            out.ignore("the stage is not here, or not any more");
        }
    }

    /// Sends Rec-Group: lends the lock to the waiting stage with the highest priority.
    pub(super) fn lend(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        self.holder = None;
        let best = self.lg.first().map(|(&rank, _)| rank);
        let Some(rank) = best.filter(|_| !site.quarantined) else { return };
        let mut entry = self.lg.remove(&rank).expect("it was the first");
        let session = site.session_of(entry.pr.site);
        assert!(session == Some(entry.session), "the holder of the lock has a session here");
        entry.number = entry.number.next();
        let contended = self.options.extend && !self.lg.is_empty();
        let message = Message::RecGroup {
            pr: entry.pr,
            number: entry.number,
            fences: Fences { floor: site.floor(), ceil: site.ceil() },
            contended,
            clock: site.clock.time(),
        };
        out.send(entry.pr.site, message);
        self.holder = Some(Holder { entry, inquired: false, noticed: contended });
    }

    /// Sends Rel-Group: asks the holder to give the lock back if a stage with priority over it
    /// waits, or with `extend` reports that another stage waits. Each at most once for a loan (A5).
    fn inquire(&mut self, out: &mut Out<RoleLock>) {
        let (Some(holder), Some((&best, _))) = (&mut self.holder, self.lg.first()) else { return };
        let better = best < holder.entry.rank();
        let inquires = better && !holder.inquired;
        if inquires || (self.options.extend && !holder.noticed) {
            (holder.inquired, holder.noticed) = (holder.inquired || better, true);
            let Entry { pr, number, .. } = holder.entry;
            out.send(pr.site, Message::RelGroup { pr, number, better });
        }
    }

    fn knows(&self, pr: Ticket) -> bool {
        self.is_lent_to(|holder| holder == pr) || self.waiting().any(|queued| queued == pr)
    }

    pub(super) fn is_lent_to(&self, which: impl Fn(Ticket) -> bool) -> bool {
        self.holder.is_some_and(|holder| which(holder.entry.pr))
    }

    /// Removes stages from the queue; false if there was none.
    pub(super) fn forget(&mut self, which: impl Fn(Ticket) -> bool) -> bool {
        let before = self.lg.len();
        self.lg.retain(|_, entry| !which(entry.pr));
        self.lg.len() < before
    }

    /// The waiting stages, highest priority first.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.lg.values().map(|entry| entry.pr)
    }

    pub(super) fn is_vacant(&self) -> bool {
        self.holder.is_none() && self.lg.is_empty()
    }
}

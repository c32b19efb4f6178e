//! The arbiter half: lends its lock to one stage at a time, the best first.
//!
//! Cenci & Ardenghi 2012, section 5, the messages from other groups. A stage that gives the lock
//! back still wants it, and goes back into the list (A1).

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::SiteId;

use super::{Message, Options, RoleLock};
use crate::{Fence, Fences, GrantNo, Out, SessionNo, Shared, Ticket};

/// The arbiter half of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Arbiter {
    options: Options,
    pub(super) holder: Option<Holder>,
    /// The stages that wait, the best first; the paper's LG.
    pub(super) lg: LiteMap<Rank, Entry>,
    /// The stages that are over, where a message of theirs may still come. It never shrinks: that
    /// is one more reason for sessions.
    pub(super) done: BTreeSet<Ticket>,
}

/// Without members yet, and *pr*: the lower goes first. A total order, so no two are equal (A2).
pub(super) type Rank = (bool, Ticket);

/// A stage at an arbiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) pr: Ticket,
    /// Whether it has members already and only replaces an arbiter of its quorum. Such a stage goes
    /// before all others: it survives, or its members lose what they have.
    pub(super) held: bool,
    /// The loan it has, or had last; the note's *gs*, counted for each stage.
    pub(super) number: GrantNo,
    /// The session in which it asked.
    pub(super) session: SessionNo,
}

/// The stage that has the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Holder {
    pub(super) entry: Entry,
    /// Whether it was asked to give the lock back. Once for each loan (A5).
    pub(super) inquired: bool,
    /// Whether it knows that somebody waits.
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

    /// Req-Group: lends to the stage, or lets it wait and asks the lock back if it goes first.
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
                assert!(self.lg.len() == 1 || site.quarantined, "a free lock keeps no one waiting");
                self.lend(site, out);
            }
            Some(_) => self.inquire(out),
        }
    }

    /// Rep-Rel-Group: the holder gave the lock back. It waits again, and the best gets the lock.
    ///
    /// **Deviation.** The paper does not look whose lock it is: what crosses a Lib-Group would take
    /// it from the next holder (A4, A5). Scenario: `role/a4_yield_after_the_end`.
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

    /// Lib-Group: the stage is over or withdrawn.
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

    /// The session of `client` is over here, and with it what we lent to it. Nobody knows which
    /// fences it has used.
    pub(super) fn on_closed(&mut self, site: &mut Shared, client: SiteId, out: &mut Out<RoleLock>) {
        self.forget(|queued| queued.site == client);
        if self.is_lent_to(|holder| holder.site == client) {
            site.skip_fences(out);
            self.lend(site, out);
        }
    }

    /// The quarantine after a restart is over.
    pub(super) fn on_cleared(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        if self.holder.is_none() {
            self.lend(site, out);
        }
    }

    /// Lends the lock to the best of those who wait.
    pub(super) fn lend(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        self.holder = None;
        let best = self.lg.first().map(|(&rank, _)| rank);
        let Some(rank) = best.filter(|_| !site.quarantined) else { return };
        let mut entry = self.lg.remove(&rank).expect("it was the first");
        let session = site.session_of(entry.pr.site);
        assert!(session == Some(entry.session), "who is lent to has a session here");
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

    /// Asks the holder to give the lock back if somebody better waits, and tells it that somebody
    /// does if that matters; each once.
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

    /// Takes stages out of the list; false if there was none.
    fn forget(&mut self, which: impl Fn(Ticket) -> bool) -> bool {
        let before = self.lg.len();
        self.lg.retain(|_, entry| !which(entry.pr));
        self.lg.len() < before
    }

    /// The stages that wait, the best first.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.lg.values().map(|entry| entry.pr)
    }

    pub(super) fn is_vacant(&self) -> bool {
        self.holder.is_none() && self.lg.is_empty()
    }
}

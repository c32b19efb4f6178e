//! The arbiter half: lends this site's permission to one request at a time.

use std::collections::{BTreeMap, BTreeSet};

use quorate_quorum::SiteId;

use super::asking::Asking;
use super::queue::{Entry, Queue};
use super::{Fences, Message, Mutex, Options, Pass, Release, Target};
use crate::{GrantNo, Out, Shared, Ticket};

/// The arbiter half of a site.
///
/// A permission is a token that travels: holders hand it on among themselves and report
/// afterwards. `lock` and `number` are therefore only the last place of the permission that this
/// arbiter has heard of. Loans are numbered in one chain, whoever makes them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Arbiter {
    pub(super) options: Options,
    /// The holder, as far as known; the paper's *lock*.
    pub(super) lock: Option<Entry>,
    /// The number of the holder's loan, or of the last one.
    pub(super) number: GrantNo,
    /// The requests that wait, the next one first; the paper's `req_q`.
    pub(super) waiting: Queue,
    /// Releases that overtook the report of the pass that made them possible (E4).
    pub(super) early: BTreeMap<GrantNo, Release>,
    /// Who was announced to the holder of this loan, the last one last. Without lists the holder
    /// keeps only the last announcement; but it may leave before that one arrives.
    pub(super) told: Vec<Ticket>,
    /// The last announcement one step ahead (5.3). Boxed like the next field: rare, and there may
    /// be many resources.
    pub(super) advised: Option<Box<Advice>>,
    /// The holder is lost, and those it may have handed the permission to are being asked.
    pub(super) asking: Option<Box<Asking>>,
}

/// "If you get loan `number`, `second` comes after you", said to `head`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Advice {
    head: Ticket,
    second: Target,
    number: GrantNo,
}

impl Arbiter {
    pub(super) fn new(options: Options) -> Self {
        Self {
            options,
            lock: None,
            number: GrantNo::default(),
            waiting: Queue::default(),
            early: BTreeMap::new(),
            told: Vec::new(),
            advised: None,
            asking: None,
        }
    }

    pub(super) fn is_vacant(&self) -> bool {
        let idle = self.lock.is_none() && self.asking.is_none();
        idle && self.waiting.is_empty() && self.early.is_empty()
    }

    /// Whether somebody waits here for the permission.
    pub(super) fn is_wanted_elsewhere(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Lends our permission to a request, or queues it and tells the holder who comes next.
    ///
    /// Cao & Singhal 2001, section 3.3, action A.2. The arms carry the paper's case numbers,
    /// counted in its order. The lower rank has priority.
    pub(super) fn on_request(&mut self, site: &Shared, entry: Entry, out: &mut Out<Mutex>) {
        if self.holds(entry.ticket) || self.waiting.contains(entry.ticket) {
            return self.on_request_again(site, entry, out);
        }
        let Some(holder) = &self.lock else {
            if site.quarantined || self.asking.is_some() {
                return self.queue_for_later(entry, out);
            }
            assert!(self.waiting.is_empty(), "a free arbiter keeps no one waiting");
            return self.lend(site, entry, out);
        };
        let (rank, holder) = (entry.rank(), holder.rank());
        match self.waiting.head().map(Entry::rank) {
            // Case 3: an older request already waits.
            Some(head) if head < rank => fail(entry.ticket, out),
            // Case 4: it overtakes a head that had overtaken the holder. The holder was asked
            // to give way then; now only the head must learn that it is no longer next.
            Some(head) if head < holder => {
                fail(head.1, out);
                if entry.held { self.inquire(&entry, out) } else { self.transfer(&entry, out) }
            }
            // Cases 1 and 5: the first to overtake the holder, which may have to give way.
            _ if rank < holder => self.inquire(&entry, out),
            // Cases 2 and 6: it is next, behind an older holder. The paper forgets case 6's fail:
            // three sites then wait for each other (E5, scenario `mutex/e5_next_behind_an_elder`).
            _ => {
                self.transfer(&entry, out);
                fail(entry.ticket, out);
            }
        }
        self.waiting.insert(entry);
        self.advise(out);
    }

    /// Queues a request while nobody can be asked to give way to it.
    ///
    /// A head that had overtaken the lost holder was next and knew of no reason to wait. If it is
    /// overtaken now it must learn of it, as in case 4.
    /// Scenario: `mutex/session_overtaken_while_asking`.
    fn queue_for_later(&mut self, entry: Entry, out: &mut Out<Mutex>) {
        let head = self.waiting.head().filter(|head| entry.rank() < head.rank());
        if let Some(head) = head.filter(|_| self.asking.is_some()) {
            fail(head.ticket, out);
        }
        fail(entry.ticket, out);
        self.waiting.insert(entry);
    }

    /// A request that came before: what it says of itself is newer, and it has one entry.
    fn on_request_again(&mut self, site: &Shared, entry: Entry, out: &mut Out<Mutex>) {
        if let Some(holder) = self.lock.as_mut().filter(|holder| holder.ticket == entry.ticket) {
            let refuses = holder.refuses;
            *holder = Entry { refuses, ..entry };
            return self.repeat_reply(site, out);
        }
        let before = self.waiting.remove(entry.ticket).expect("it waits here");
        fail(entry.ticket, out);
        self.waiting.insert(Entry { refuses: before.refuses, ..entry });
        self.address_holder(out);
        self.advise(out);
    }

    /// Takes the permission back, or learns to whom it was handed. Action C.2.
    ///
    /// **Deviation.** C.2 does not ask whose release it is. One that overtakes the report of the
    /// pass it follows would free a permission that is elsewhere; it is kept until the chain of
    /// loans has come that far (E4). Scenario: `mutex/e4_release_overtakes_the_pass`.
    pub(super) fn on_release(&mut self, site: &mut Shared, release: Release, out: &mut Out<Mutex>) {
        site.raise_floor(release.floor, out);
        let lent = self.lock.is_some() || self.asking.is_some();
        if self.is_loan(release.ticket, release.number) {
            self.hand_on(site, release.passed, out);
        } else if lent && release.number > self.number {
            self.waiting.remove(release.ticket);
            self.early.insert(release.number, release);
            self.follow_early(site, out);
        } else {
            // The chain has gone on without it; but the request is over all the same.
            return self.on_cancel(site, release.ticket, out);
        }
        self.advise(out);
    }

    /// Takes the permission back from a request that goes on waiting. Action A.4.
    pub(super) fn on_yield(
        &mut self,
        site: &mut Shared,
        ticket: Ticket,
        number: GrantNo,
        passed: Option<Pass>,
        out: &mut Out<Mutex>,
    ) {
        if !self.is_loan(ticket, number) {
            return out.ignore("the loan is over already");
        }
        let holder = self.lock.clone().expect("a loan has a holder");
        self.waiting.insert(holder);
        self.hand_on(site, passed, out);
        self.advise(out);
    }

    /// Forgets a request that was given up before our permission reached it.
    ///
    /// The permission may be on its way to it from a holder; then the report of that pass will
    /// find no such request here, and counts as a release.
    pub(super) fn on_cancel(&mut self, site: &mut Shared, ticket: Ticket, out: &mut Out<Mutex>) {
        if self.holds(ticket) {
            self.hand_on(site, None, out);
        } else if self.waiting.remove(ticket).is_some() {
            self.stop_asking(site, ticket, out);
            self.announce_head(out);
        } else {
            return out.ignore("the request is over already");
        }
        self.advise(out);
    }

    /// A site cannot hand this request a permission any more. If it was handed ours and we know
    /// of it, the pass may be lost with the session: we repeat it.
    pub(super) fn on_direct(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        cut: BTreeSet<SiteId>,
        out: &mut Out<Mutex>,
    ) {
        if let Some(holder) = self.lock.as_mut().filter(|holder| holder.ticket == ticket) {
            holder.cut = cut;
            self.repeat_reply(site, out);
        } else if let Some(entry) = self.waiting.get_mut(ticket) {
            entry.cut = cut;
        } else {
            out.ignore("the request is over already");
        }
    }

    /// Follows the permission from the holder, whose loan is over, to where it is now.
    pub(super) fn hand_on(
        &mut self,
        site: &mut Shared,
        passed: Option<Pass>,
        out: &mut Out<Mutex>,
    ) {
        let holder = self.lock.take().expect("only a holder hands on");
        self.follow(site, holder.ticket.site, passed, out);
    }

    /// Follows the permission along the chain of loans, from `passer` on.
    pub(super) fn follow(
        &mut self,
        site: &mut Shared,
        mut passer: SiteId,
        mut passed: Option<Pass>,
        out: &mut Out<Mutex>,
    ) {
        while let Some(pass) = passed {
            self.number = self.number.next();
            if let Some(entry) = self.receiver(pass.next) {
                let unheard = !entry.hears(passer);
                self.lock = Some(entry);
                self.told = pass.rest.iter().map(|target| target.ticket).collect();
                if unheard {
                    self.repeat_reply(site, out);
                }
                return self.greet_holder(&pass, out);
            }
            let Some(release) = self.early.remove(&self.number) else {
                return self.miss_receiver(site, out);
            };
            // It has left already (E4).
            assert_eq!(release.ticket, pass.next.ticket, "a loan has one holder");
            passer = release.ticket.site;
            passed = release.passed;
        }
        self.lend_to_head(site, out);
    }

    /// The request that a pass made the holder, unless it cannot count the permission.
    fn receiver(&mut self, next: Target) -> Option<Entry> {
        let entry = self.waiting.get(next.ticket)?;
        let counts = entry.session == next.session && entry.refuses < self.number;
        if counts { self.waiting.remove(next.ticket) } else { None }
    }

    /// Tells a holder that got the permission by a pass what it cannot know yet.
    fn greet_holder(&mut self, pass: &Pass, out: &mut Out<Mutex>) {
        if let Some(advice) = &self.advised
            && (advice.head, advice.number) == (pass.next.ticket, self.number)
        {
            self.told.push(advice.second.ticket);
        }
        self.address_holder(out);
    }

    /// Asks the holder to give way to the head, or tells it of the head.
    pub(super) fn address_holder(&mut self, out: &mut Out<Mutex>) {
        let Some(holder) = &self.lock else { return };
        match self.waiting.head() {
            Some(head) if head.rank() < holder.rank() => {
                let head = head.clone();
                self.inquire(&head, out);
            }
            _ => self.announce_head(out),
        }
    }

    pub(super) fn lend_to_head(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        assert!(self.early.is_empty(), "I3: a permission that came back was not handed on");
        match self.waiting.pop() {
            Some(head) => self.lend(site, head, out),
            None => {
                self.lock = None;
                self.told.clear();
                self.advised = None;
            }
        }
    }

    fn lend(&mut self, site: &Shared, entry: Entry, out: &mut Out<Mutex>) {
        assert!(!site.quarantined, "I9: a restarted site lends nothing in its quarantine");
        let session = site.session_of(entry.ticket.site);
        assert!(
            session == Some(entry.session),
            "I1, I2: who is lent to or waits has a session here"
        );
        let before = self.number;
        if self.number.incarnation < site.incarnation() {
            self.number = GrantNo { incarnation: site.incarnation(), count: site.loans() };
        }
        self.number = self.number.max(entry.refuses).next();
        assert!(self.number > before, "I3: numbers only grow");
        self.told.clear();
        let next = self.waiting.head().filter(|head| head.hears(entry.ticket.site));
        if let Some(next) = next.filter(|_| self.options.passing) {
            self.told.push(next.ticket);
        }
        self.lock = Some(entry);
        self.repeat_reply(site, out);
    }

    /// Sends the holder its permission, for the first time or again.
    fn repeat_reply(&self, site: &Shared, out: &mut Out<Mutex>) {
        let holder = self.lock.as_ref().expect("only a holder is sent a permission");
        let known = self.told.iter().filter(|&&ticket| self.is_known(ticket));
        let then = known.filter_map(|&ticket| self.waiting.get(ticket));
        let reply = Message::Reply {
            arbiter: site.site(),
            to: holder.target(),
            number: self.number,
            then: then.map(Entry::target).collect(),
            fences: Fences { floor: site.floor(), ceil: site.ceil() },
        };
        out.send(holder.ticket.site, reply);
    }

    /// Tells the holder who comes next, unless it knows.
    pub(super) fn announce_head(&mut self, out: &mut Out<Mutex>) {
        if self.lock.is_some()
            && let Some(head) = self.waiting.head()
            && !self.is_known(head.ticket)
        {
            let head = head.clone();
            self.transfer(&head, out);
        }
    }

    fn transfer(&mut self, next: &Entry, out: &mut Out<Mutex>) {
        let (ticket, number) = (self.holder(), self.number);
        if self.permission_has_left() || !self.may_announce(next) {
            return;
        }
        self.told.push(next.ticket);
        out.send(ticket.site, Message::Transfer { ticket, number, next: next.target() });
    }

    /// Asks the holder to give way to `next`.
    fn inquire(&mut self, next: &Entry, out: &mut Out<Mutex>) {
        let (ticket, number) = (self.holder(), self.number);
        if self.permission_has_left() {
            return;
        }
        let then = self.may_announce(next).then(|| next.target());
        if then.is_some() {
            self.told.push(next.ticket);
        }
        let demand = next.held && self.lock.as_ref().is_some_and(|holder| !holder.held);
        out.send(ticket.site, Message::Inquire { ticket, number, then, demand });
    }

    /// Whether the holder can hand the permission to `next`.
    fn may_announce(&self, next: &Entry) -> bool {
        self.options.passing && next.hears(self.holder().site)
    }

    /// Whether the holder knows that this request comes after it, or will when it has heard all.
    fn is_known(&self, next: Ticket) -> bool {
        if self.options.lists { self.told.contains(&next) } else { self.told.last() == Some(&next) }
    }

    /// Tells the next request who comes after it, so that it need not learn that inside. 5.3.
    pub(super) fn advise(&mut self, out: &mut Out<Mutex>) {
        let on = self.options.ahead && self.options.passing && self.lock.is_some();
        if !on || self.permission_has_left() {
            return;
        }
        let (Some(head), Some(second)) = (self.waiting.head(), self.waiting.second()) else {
            return;
        };
        if !second.hears(head.ticket.site) {
            return;
        }
        let (head, number) = (head.ticket, self.number.next());
        let advice = Advice { head, second: second.target(), number };
        if self.advised.as_deref() != Some(&advice) {
            self.advised = Some(Box::new(advice));
            out.send(head.site, Message::Transfer { ticket: head, number, next: advice.second });
        }
    }

    /// A stored release proves that the holder we know of has handed the permission on: whatever
    /// we told it would come too late, and is told to its successor when the chain gets there.
    fn permission_has_left(&self) -> bool {
        !self.early.is_empty()
    }

    pub(super) fn holds(&self, ticket: Ticket) -> bool {
        self.lock.as_ref().is_some_and(|holder| holder.ticket == ticket)
    }

    fn is_loan(&self, ticket: Ticket, number: GrantNo) -> bool {
        self.holds(ticket) && self.number == number
    }

    fn holder(&self) -> Ticket {
        self.lock.as_ref().expect("only a lent permission has somebody to speak to").ticket
    }
}

pub(super) fn fail(ticket: Ticket, out: &mut Out<Mutex>) {
    out.send(ticket.site, Message::Fail { ticket });
}

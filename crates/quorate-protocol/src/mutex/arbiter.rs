//! The arbiter half: lends this site's permission to one request at a time.

use std::collections::{BTreeMap, BTreeSet};

use quorate_quorum::SiteId;

use super::queue::{Entry, Queue};
use super::repair::HolderQuery;
use super::{Fences, Message, Mutex, Options, Pass, Release, Target};
use crate::{GrantNo, Out, Shared, Ticket};

/// The arbiter half of a site.
///
/// Holders pass the permission on among themselves and report afterwards, so `lock` and `number`
/// are only the last position of the permission that was reported here. All loans of the
/// permission form one chain of numbers, whether the arbiter or a holder makes them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Arbiter {
    pub(super) options: Options,
    /// The last known holder; the paper's *lock*.
    pub(super) lock: Option<Entry>,
    /// The number of the holder's loan, or of the last loan if there is no holder.
    pub(super) number: GrantNo,
    /// The requests that wait, the next one first; the paper's `req_q`.
    pub(super) waiting: Queue,
    /// Releases that overtook the report of the pass before them (E4).
    pub(super) early: BTreeMap<GrantNo, Release>,
    /// The requests announced to the holder of this loan, the latest last. Without lists the
    /// holder keeps only the latest, but it may leave before that one arrives.
    pub(super) announced: Vec<Ticket>,
    /// The last announcement one step ahead (5.3). Boxed, like `query`, because it is rare and
    /// there may be many resources.
    pub(super) announced_ahead: Option<Box<Announcement>>,
    /// Set while the holder is lost and the candidates for the permission are being asked.
    pub(super) query: Option<Box<HolderQuery>>,
}

/// Sent to `head`: when you get loan `number`, `second` comes after you.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Announcement {
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
            announced: Vec::new(),
            announced_ahead: None,
            query: None,
        }
    }

    pub(super) fn is_vacant(&self) -> bool {
        let idle = self.lock.is_none() && self.query.is_none();
        idle && self.waiting.is_empty() && self.early.is_empty()
    }

    /// Whether a request waits here for the permission.
    pub(super) fn has_waiters(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Action A.2: lends our permission to a request, or queues it and tells the holder which
    /// request comes next.
    ///
    /// Cao & Singhal 2001, section 3.3. The arms carry the paper's case numbers, counted in its
    /// order. The lower rank has priority.
    pub(super) fn on_request(&mut self, site: &Shared, entry: Entry, out: &mut Out<Mutex>) {
        if self.holds(entry.ticket) || self.waiting.contains(entry.ticket) {
            return self.on_repeated_request(site, entry, out);
        }
        let Some(holder) = &self.lock else {
            if site.quarantined || self.query.is_some() {
                return self.queue_without_holder(entry, out);
            }
            assert!(self.waiting.is_empty(), "a free arbiter has no waiters");
            return self.lend(site, entry, out);
        };
        let (rank, holder) = (entry.rank(), holder.rank());
        match self.waiting.head().map(Entry::rank) {
            // Case 3: an older request already waits.
            Some(head) if head < rank => fail(entry.ticket, out),
            // Case 4: it overtakes a head that had overtaken the holder. The holder was sent an
            // inquire then; now only the head must learn that it is no longer next.
            Some(head) if head < holder => {
                fail(head.1, out);
                if entry.held { self.inquire(&entry, out) } else { self.transfer(&entry, out) }
            }
            // Cases 1 and 5: the first to overtake the holder, which may have to yield.
            _ if rank < holder => self.inquire(&entry, out),
            // Cases 2 and 6: it is next, behind an older holder. The paper forgets case 6's fail:
            // three sites then wait for each other (E5, scenario `mutex/e5_next_behind_an_elder`).
            _ => {
                self.transfer(&entry, out);
                fail(entry.ticket, out);
            }
        }
        self.waiting.insert(entry);
        self.announce_ahead(out);
    }

    /// Queues a request while there is no holder that could yield to it.
    ///
    /// A head that had overtaken the lost holder was next and was sent no fail. If it is overtaken
    /// now it must be sent one, as in case 4. Scenario: `mutex/session_overtaken_while_asking`.
    fn queue_without_holder(&mut self, entry: Entry, out: &mut Out<Mutex>) {
        let head = self.waiting.head().filter(|head| entry.rank() < head.rank());
        if let Some(head) = head.filter(|_| self.query.is_some()) {
            fail(head.ticket, out);
        }
        fail(entry.ticket, out);
        self.waiting.insert(entry);
    }

    /// Replaces the entry of a request that is known already, and repeats the answer.
    fn on_repeated_request(&mut self, site: &Shared, entry: Entry, out: &mut Out<Mutex>) {
        if let Some(holder) = self.lock.as_mut().filter(|holder| holder.ticket == entry.ticket) {
            let Entry { asked, refuses, .. } = *holder;
            *holder = Entry { asked, refuses, ..entry };
            return self.send_reply(site, out);
        }
        let before = self.waiting.remove(entry.ticket).expect("it waits here");
        fail(entry.ticket, out);
        let Entry { asked, refuses, .. } = before;
        self.waiting.insert(Entry { asked, refuses, ..entry });
        self.inquire_or_announce(out);
        self.announce_ahead(out);
    }

    /// Action C.2: takes the permission back, or records the request it was passed to.
    ///
    /// **Deviation.** C.2 does not check whose release it is. One that overtakes the report of the
    /// pass before it would free a permission that is elsewhere. It is kept in `early` until the
    /// chain of loans has reached it (E4). Scenario: `mutex/e4_release_overtakes_the_pass`.
    pub(super) fn on_release(&mut self, site: &mut Shared, release: Release, out: &mut Out<Mutex>) {
        site.raise_floor(release.floor, out);
        let lent = self.lock.is_some() || self.query.is_some();
        if self.is_loan(release.ticket, release.number) {
            self.end_loan(site, release.passed, out);
        } else if lent && release.number > self.number {
            self.waiting.remove(release.ticket);
            self.early.insert(release.number, release);
            self.follow_early_release(site, out);
        } else {
            // The chain has moved past this loan, but the request is over all the same.
            return self.on_cancel(site, release.ticket, out);
        }
        self.announce_ahead(out);
    }

    /// Action A.4: takes the permission back from a request that keeps waiting.
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
        self.end_loan(site, passed, out);
        self.announce_ahead(out);
    }

    /// Removes a request that was given up before our permission reached it.
    ///
    /// A holder may be passing it the permission. The report of that pass then finds no such
    /// request here ([`on_missing_receiver`](Self::on_missing_receiver)).
    pub(super) fn on_cancel(&mut self, site: &mut Shared, ticket: Ticket, out: &mut Out<Mutex>) {
        if self.holds(ticket) {
            self.end_loan(site, None, out);
        } else if self.waiting.remove(ticket).is_some() {
            self.drop_candidate(site, ticket, out);
            self.announce_head(out);
        } else {
            return out.ignore("the request is over already");
        }
        self.announce_ahead(out);
    }

    /// Updates the sites that cannot pass this request a permission. If it is the holder, the pass
    /// to it may have been lost with a session, so the reply is sent again.
    pub(super) fn on_direct(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        cut: BTreeSet<SiteId>,
        out: &mut Out<Mutex>,
    ) {
        if let Some(holder) = self.lock.as_mut().filter(|holder| holder.ticket == ticket) {
            holder.cut = cut;
            self.send_reply(site, out);
        } else if let Some(entry) = self.waiting.get_mut(ticket) {
            entry.cut = cut;
        } else {
            out.ignore("the request is over already");
        }
    }

    /// Ends the holder's loan and follows the permission to its present holder.
    pub(super) fn end_loan(
        &mut self,
        site: &mut Shared,
        passed: Option<Pass>,
        out: &mut Out<Mutex>,
    ) {
        let holder = self.lock.take().expect("a loan that ends has a holder");
        self.follow_chain(site, holder.ticket.site, passed, out);
    }

    /// Follows the chain of loans from `passer`, whose loan is over. Lends again where it ends.
    pub(super) fn follow_chain(
        &mut self,
        site: &mut Shared,
        mut passer: SiteId,
        mut passed: Option<Pass>,
        out: &mut Out<Mutex>,
    ) {
        while let Some(pass) = passed {
            self.number = self.number.next();
            if let Some(entry) = self.receiver(pass.next) {
                let unreachable = !entry.is_reachable_from(passer);
                self.lock = Some(entry);
                self.announced = pass.rest.iter().map(|target| target.ticket).collect();
                if unreachable {
                    self.send_reply(site, out);
                }
                return self.update_new_holder(&pass, out);
            }
            if self.has_refused(pass.next) {
                break;
            }
            let Some(release) = self.early.remove(&self.number) else {
                return self.on_missing_receiver(site, out);
            };
            // The receiver has left already (E4).
            if release.ticket != pass.next.ticket {
                out.contradiction("a loan has one holder");
                return self.on_missing_receiver(site, out);
            }
            passer = release.ticket.site;
            passed = release.passed;
        }
        self.lend_to_head(site, out);
    }

    /// Takes the receiver of a pass out of the queue, unless the permission does not count for it.
    fn receiver(&mut self, next: Target) -> Option<Entry> {
        let entry = self.waiting.get(next.ticket)?;
        let counts = entry.session == next.session && entry.accepts(self.number);
        if counts { self.waiting.remove(next.ticket) } else { None }
    }

    /// Whether the receiver of a pass still waits here and has refused this loan: so it never had
    /// it, and nobody has it after it. Scenario: `mutex/session_refused_pass`.
    fn has_refused(&self, next: Target) -> bool {
        let entry = self.waiting.get(next.ticket);
        entry.is_some_and(|entry| entry.session == next.session && !entry.accepts(self.number))
    }

    /// Sends the receiver of a pass what it cannot know yet.
    fn update_new_holder(&mut self, pass: &Pass, out: &mut Out<Mutex>) {
        if let Some(announcement) = &self.announced_ahead
            && (announcement.head, announcement.number) == (pass.next.ticket, self.number)
        {
            self.announced.push(announcement.second.ticket);
        }
        self.inquire_or_announce(out);
    }

    /// Sends the holder an inquire if the head goes before it, and a transfer otherwise.
    pub(super) fn inquire_or_announce(&mut self, out: &mut Out<Mutex>) {
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
        if !std::mem::take(&mut self.early).is_empty() {
            out.contradiction("I3: a permission that came back was not passed on");
        }
        match self.waiting.pop() {
            Some(head) => self.lend(site, head, out),
            None => {
                self.lock = None;
                self.announced.clear();
                self.announced_ahead = None;
            }
        }
    }

    fn lend(&mut self, site: &Shared, entry: Entry, out: &mut Out<Mutex>) {
        assert!(!site.quarantined, "I9: a restarted site lends nothing in its quarantine");
        let session = site.session_of(entry.ticket.site);
        assert!(session == Some(entry.session), "I1, I2: a holder or waiter has a session here");
        let before = self.number;
        if self.number.incarnation < site.incarnation() {
            self.number = GrantNo { incarnation: site.incarnation(), count: site.loans() };
        }
        self.number = self.number.max(entry.refuses).next();
        assert!(self.number > before, "I3: numbers only grow");
        self.announced.clear();
        self.lock = Some(entry);
        if let Some(next) = self.waiting.head().filter(|next| self.may_announce(next)) {
            self.announced.push(next.ticket);
        }
        self.send_reply(site, out);
    }

    /// Sends the holder its permission, for the first time or again.
    fn send_reply(&self, site: &Shared, out: &mut Out<Mutex>) {
        let holder = self.lock.as_ref().expect("only a holder is sent a permission");
        let known = self.announced.iter().filter(|&&ticket| self.is_announced(ticket));
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

    /// Sends the holder a transfer for the head, unless it was announced already.
    pub(super) fn announce_head(&mut self, out: &mut Out<Mutex>) {
        if self.lock.is_some()
            && let Some(head) = self.waiting.head()
            && !self.is_announced(head.ticket)
        {
            let head = head.clone();
            self.transfer(&head, out);
        }
    }

    pub(super) fn transfer(&mut self, next: &Entry, out: &mut Out<Mutex>) {
        let (ticket, number) = (self.holder(), self.number);
        if self.permission_has_left() || !self.may_announce(next) {
            return;
        }
        self.announced.push(next.ticket);
        out.send(ticket.site, Message::Transfer { ticket, number, next: next.target() });
    }

    /// Sends the holder an inquire for `next`.
    fn inquire(&mut self, next: &Entry, out: &mut Out<Mutex>) {
        let (ticket, number) = (self.holder(), self.number);
        if self.permission_has_left() {
            return;
        }
        let then = self.may_announce(next).then(|| next.target());
        if then.is_some() {
            self.announced.push(next.ticket);
        }
        let demand = next.held && self.lock.as_ref().is_some_and(|holder| !holder.held);
        out.send(ticket.site, Message::Inquire { ticket, number, then, demand });
    }

    /// Whether the holder can pass the permission to `next`, which has not refused that loan.
    fn may_announce(&self, next: &Entry) -> bool {
        let reachable = next.is_reachable_from(self.holder().site);
        self.options.passing && reachable && next.will_accept(self.number.next())
    }

    /// Whether the holder will pass to this request, once all announcements have reached it.
    fn is_announced(&self, next: Ticket) -> bool {
        if self.options.lists {
            self.announced.contains(&next)
        } else {
            self.announced.last() == Some(&next)
        }
    }

    /// Section 5.3: tells the head which request comes after it, before it has the permission.
    pub(super) fn announce_ahead(&mut self, out: &mut Out<Mutex>) {
        let enabled = self.options.ahead && self.options.passing && self.lock.is_some();
        if !enabled || self.permission_has_left() {
            return;
        }
        let (Some(head), Some(second)) = (self.waiting.head(), self.waiting.second()) else {
            return;
        };
        let number = self.number.next();
        let accepted = head.will_accept(number) && second.will_accept(number.next());
        if !accepted || !second.is_reachable_from(head.ticket.site) {
            return;
        }
        let head = head.ticket;
        let announcement = Announcement { head, second: second.target(), number };
        if self.announced_ahead.as_deref() != Some(&announcement) {
            self.announced_ahead = Some(Box::new(announcement));
            out.send(
                head.site,
                Message::Transfer { ticket: head, number, next: announcement.second },
            );
        }
    }

    /// Whether a stored release proves that the known holder has passed the permission on. A
    /// message to it would come too late; its successor gets it when the chain has reached it.
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
        self.lock.as_ref().expect("only a holder is sent messages about a loan").ticket
    }
}

pub(super) fn fail(ticket: Ticket, out: &mut Out<Mutex>) {
    out.send(ticket.site, Message::Fail { ticket });
}

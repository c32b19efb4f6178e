//! The arbiter half: lends this site's permission to one request at a time.

use std::collections::{BTreeMap, BTreeSet};

use super::{Message, Mutex, Options, Pass, Release};
use crate::{GrantNo, Out, Shared, Ticket};

/// The arbiter half of a site.
///
/// A permission is a token that travels: holders hand it on among themselves and report
/// afterwards. `lock` and `number` are therefore only the last place of the permission that this
/// arbiter has heard of. Loans are numbered in one chain, whoever makes them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Arbiter {
    options: Options,
    /// The holder, as far as known; the paper's *lock*.
    pub(super) lock: Option<Ticket>,
    /// The number of the holder's loan, or of the last one.
    pub(super) number: GrantNo,
    /// The requests that wait, the next one first; the paper's `req_q`.
    pub(super) waiting: BTreeSet<Ticket>,
    /// Releases that overtook the report of the pass that made them possible (E4).
    pub(super) early: BTreeMap<GrantNo, Release>,
    /// Who was announced to the holder of this loan.
    told: BTreeSet<Ticket>,
    /// The last announcement one step ahead (5.3).
    advised: Option<Advice>,
}

/// "If you get loan `number`, `second` comes after you", said to `head`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Advice {
    head: Ticket,
    second: Ticket,
    number: GrantNo,
}

impl Arbiter {
    pub(super) fn new(options: Options) -> Self {
        Self {
            options,
            lock: None,
            number: GrantNo::default(),
            waiting: BTreeSet::new(),
            early: BTreeMap::new(),
            told: BTreeSet::new(),
            advised: None,
        }
    }

    pub(super) fn is_vacant(&self) -> bool {
        self.lock.is_none() && self.waiting.is_empty() && self.early.is_empty()
    }

    /// Lends our permission to `ticket`, or queues it and tells the holder who comes next.
    ///
    /// Cao & Singhal 2001, section 3.3, action A.2. The arms carry the paper's case numbers,
    /// counted in its order. The lower ticket has priority.
    pub(super) fn on_request(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<Mutex>) {
        if self.lock == Some(ticket) || self.waiting.contains(&ticket) {
            return self.repeat_answer(site, ticket, out);
        }
        let Some(holder) = self.lock else {
            assert!(self.waiting.is_empty(), "a free arbiter keeps no one waiting");
            return self.lend(site, ticket, out);
        };
        match self.waiting.first().copied() {
            // Case 3: an older request already waits.
            Some(head) if head < ticket => fail(ticket, out),
            // Case 4: it overtakes a head that had overtaken the holder. The holder was asked
            // to give way then; now only the head must learn that it is no longer next.
            Some(head) if head < holder => {
                fail(head, out);
                self.transfer(ticket, out);
            }
            // Cases 1 and 5: the first to overtake the holder, which may have to give way.
            _ if ticket < holder => self.inquire(ticket, out),
            // Cases 2 and 6: it is next, behind an older holder. The paper forgets case 6's fail:
            // three sites then wait for each other (E5, scenario `mutex/e5_next_behind_an_elder`).
            _ => {
                self.transfer(ticket, out);
                fail(ticket, out);
            }
        }
        self.waiting.insert(ticket);
        self.advise(out);
    }

    /// Takes the permission back, or learns to whom it was handed. Action C.2.
    ///
    /// **Deviation.** C.2 does not ask whose release it is. One that overtakes the report of the
    /// pass it follows would free a permission that is elsewhere; it is kept until the chain of
    /// loans has come that far (E4). Scenario: `mutex/e4_release_overtakes_the_pass`.
    pub(super) fn on_release(&mut self, site: &mut Shared, release: Release, out: &mut Out<Mutex>) {
        site.raise_floor(release.floor);
        if self.is_holder(release.ticket, release.number) {
            self.hand_on(site, release.passed, out);
        } else if self.lock.is_some() && release.number > self.number {
            self.waiting.remove(&release.ticket);
            self.early.insert(release.number, release);
        } else {
            return out.ignore("the loan is over already");
        }
        self.advise(out);
    }

    /// Takes the permission back from a request that goes on waiting. Action A.4.
    pub(super) fn on_yield(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        number: GrantNo,
        passed: Option<Pass>,
        out: &mut Out<Mutex>,
    ) {
        if !self.is_holder(ticket, number) {
            return out.ignore("the loan is over already");
        }
        self.waiting.insert(ticket);
        self.hand_on(site, passed, out);
        self.advise(out);
    }

    /// Forgets a request that was given up before our permission reached it.
    ///
    /// The permission may be on its way to it from a holder; then the report of that pass will
    /// find no such request here, and counts as a release.
    pub(super) fn on_cancel(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<Mutex>) {
        if self.lock == Some(ticket) {
            self.hand_on(site, None, out);
        } else if self.waiting.first() == Some(&ticket) {
            self.waiting.remove(&ticket);
            self.announce_head(out);
        } else if !self.waiting.remove(&ticket) {
            return out.ignore("the request is over already");
        }
        self.advise(out);
    }

    /// Follows the permission from the holder, whose loan is over, to where it is now.
    fn hand_on(&mut self, site: &Shared, mut passed: Option<Pass>, out: &mut Out<Mutex>) {
        while let Some(pass) = passed {
            self.number = self.number.next();
            if self.waiting.remove(&pass.next) {
                self.lock = Some(pass.next);
                return self.greet_holder(pass, out);
            }
            // It has left already (E4), or gave up before the pass reached it.
            passed = self.early.remove(&self.number).and_then(|release| {
                assert_eq!(release.ticket, pass.next, "a loan has one holder");
                release.passed
            });
        }
        self.lend_to_head(site, out);
    }

    /// Tells a holder that got the permission by a pass what it cannot know yet.
    fn greet_holder(&mut self, pass: Pass, out: &mut Out<Mutex>) {
        self.told = pass.rest;
        if let Some(advice) = self.advised
            && (advice.head, advice.number) == (pass.next, self.number)
        {
            self.told.insert(advice.second);
        }
        match self.waiting.first().copied() {
            Some(head) if head < pass.next => self.inquire(head, out),
            _ => self.announce_head(out),
        }
    }

    fn lend_to_head(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        assert!(self.early.is_empty(), "a permission that came back was not handed on");
        match self.waiting.pop_first() {
            Some(head) => self.lend(site, head, out),
            None => {
                self.lock = None;
                self.told.clear();
                self.advised = None;
            }
        }
    }

    fn lend(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<Mutex>) {
        self.lock = Some(ticket);
        self.number = self.number.next();
        self.told.clear();
        if self.options.passing {
            self.told.extend(self.waiting.first());
        }
        self.reply(site, ticket, self.told.clone(), out);
    }

    fn reply(&self, site: &Shared, ticket: Ticket, then: BTreeSet<Ticket>, out: &mut Out<Mutex>) {
        let (arbiter, number, floor) = (site.site(), self.number, site.floor());
        out.send(ticket.site, Message::Reply { arbiter, ticket, number, then, floor });
    }

    /// Answers a request that came twice: once is enough to queue it.
    fn repeat_answer(&self, site: &Shared, ticket: Ticket, out: &mut Out<Mutex>) {
        if self.lock == Some(ticket) {
            self.reply(site, ticket, self.told.clone(), out);
        } else {
            fail(ticket, out);
        }
    }

    /// Tells the holder who comes next, unless it knows.
    fn announce_head(&mut self, out: &mut Out<Mutex>) {
        if let Some(&head) = self.waiting.first()
            && !self.told.contains(&head)
        {
            self.transfer(head, out);
        }
    }

    fn transfer(&mut self, next: Ticket, out: &mut Out<Mutex>) {
        if !self.options.passing || self.permission_has_left() {
            return;
        }
        let (ticket, number) = (self.holder(), self.number);
        self.note_told(next);
        out.send(ticket.site, Message::Transfer { ticket, number, next });
    }

    /// Asks the holder to give way to `next`.
    fn inquire(&mut self, next: Ticket, out: &mut Out<Mutex>) {
        if self.permission_has_left() {
            return;
        }
        let (ticket, number) = (self.holder(), self.number);
        let then = self.options.passing.then_some(next);
        self.note_told(next);
        out.send(ticket.site, Message::Inquire { ticket, number, then });
    }

    /// Without lists a holder keeps only the last announcement.
    fn note_told(&mut self, next: Ticket) {
        if !self.options.lists {
            self.told.clear();
        }
        self.told.insert(next);
    }

    /// Tells the next request who comes after it, so that it need not learn that inside. 5.3.
    fn advise(&mut self, out: &mut Out<Mutex>) {
        let on = self.options.ahead && self.options.passing && self.lock.is_some();
        if !on || self.permission_has_left() {
            return;
        }
        let mut waiting = self.waiting.iter().copied();
        let (Some(head), Some(second)) = (waiting.next(), waiting.next()) else { return };
        let advice = Advice { head, second, number: self.number.next() };
        if self.advised != Some(advice) {
            self.advised = Some(advice);
            let (number, next) = (advice.number, second);
            out.send(head.site, Message::Transfer { ticket: head, number, next });
        }
    }

    /// A stored release proves that the holder we know of has handed the permission on: whatever
    /// we told it would come too late, and is told to its successor when the chain gets there.
    fn permission_has_left(&self) -> bool {
        !self.early.is_empty()
    }

    fn is_holder(&self, ticket: Ticket, number: GrantNo) -> bool {
        (self.lock, self.number) == (Some(ticket), number)
    }

    fn holder(&self) -> Ticket {
        self.lock.expect("only a lent permission has somebody to speak to")
    }
}

fn fail(ticket: Ticket, out: &mut Out<Mutex>) {
    out.send(ticket.site, Message::Fail { ticket });
}

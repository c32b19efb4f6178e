//! The manager half: lends its vote to one request at a time, and lets others join it.
//!
//! Manabe & Park 2004, figure 1(b). Requests are compared, never processes (E3). What cannot happen
//! while sessions keep the order is a violation, not a panic.

use std::collections::{BTreeMap, BTreeSet};

use quorate_quorum::SiteId;

use super::queue::{Entry, Queue};
use super::session::{Apart, Session, Status};
use super::{Choice, Group, GroupLock, Groups, Message, Options};
use crate::{Fence, Fences, Out, SessionNo, Shared, Tick, Ticket, Violation};

/// A vote tells of so many others that wait, and not more.
const WAITING_MAX: usize = 32;

/// The manager half of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Manager {
    options: Options,
    pub(super) status: Status,
    pub(super) queue: Queue,
    /// Those we let join pivots that have lost our vote, by pivot.
    pub(super) apart: BTreeMap<Ticket, Apart>,
    /// Pivots that ask whether anybody is left whom we let join, when we have restarted and cannot
    /// know.
    pub(super) unanswered: BTreeSet<Ticket>,
}

/// A pivot's message that it is inside.
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
            apart: BTreeMap::new(),
            unanswered: BTreeSet::new(),
        }
    }

    /// Queues a request. It gets the vote if that is free, overtakes a weaker holder, or joins the
    /// session if it can.
    pub(super) fn on_request(&mut self, site: &Shared, entry: Entry, out: &mut Out<GroupLock>) {
        let (ticket, now) = (entry.ticket, entry.since);
        if self.knows(ticket) {
            return out.ignore("the request is known already");
        }
        // When it came matters for the limit only, and must tell no two states apart without it.
        let since = if self.options.limit.is_some() { now } else { Tick::ZERO };
        self.queue.insert(Entry { since, ..entry });
        let leads = self.queue.head().is_some_and(|head| head.ticket == ticket);
        match self.status {
            Status::Vacant => {
                let alone = self.queue.iter().nth(1).is_none();
                assert!(alone || site.quarantined, "a vacant manager keeps no one waiting");
                self.grant(site, out);
            }
            Status::WaitLock(holder) if leads => {
                out.send(holder.site, Message::Cancel { ticket: holder });
                self.status = Status::WaitCancel(holder);
            }
            Status::Locked(_) => self.admit(site, now, out),
            Status::WaitLock(_) | Status::WaitCancel(_) | Status::Releasing(_) => {}
        }
    }

    /// The holder of our vote is inside: whoever can may join it.
    ///
    /// A cancel that crosses the lock has lost the race. A pivot repeats its lock when we have a
    /// new session at its site, and gives us the right to admit anew.
    pub(super) fn on_lock(
        &mut self,
        site: &mut Shared,
        now: Tick,
        Lock { ticket, group, fence, right }: Lock,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        match &mut self.status {
            Status::Locked(session) if session.pivot == ticket => session.right = right,
            status if status.waits_for(ticket) => {
                self.queue.remove(ticket).expect("who has the vote is queued");
                site.raise_floor(fence.next(), out);
                let followers = self.apart.remove(&ticket).unwrap_or_default().followers;
                let session = Session { pivot: ticket, group, fence, right, followers };
                self.status = Status::Locked(session);
            }
            _ => return Err(Violation::NotHolder(ticket)),
        }
        self.admit(site, now, out);
        Ok(())
    }

    /// The holder gave our vote back: the strongest gets it, which may be the same again.
    pub(super) fn on_cancelled(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        if self.status != Status::WaitCancel(ticket) {
            return Err(Violation::NotHolder(ticket));
        }
        self.grant(site, out);
        Ok(())
    }

    /// Forgets a request, whatever it is to us. It may have our vote without knowing it; then no
    /// answer to a cancel comes but this one.
    pub(super) fn on_no_need(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<GroupLock>) {
        if self.queue.remove(ticket).is_some() {
            if self.status.waits_for(ticket) {
                self.grant(site, out);
            }
        } else if !self.remove_followers(|follower| follower == ticket, out) {
            out.ignore("the request is not here, or not any more");
        }
    }

    /// The pivot has left: nobody else joins, and it hears when those who did have left.
    ///
    /// If it has lost our vote meanwhile, it asks only for the latter. When we have restarted, we
    /// have forgotten whom we let in: they have stopped when our quarantine is over.
    pub(super) fn on_release(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<GroupLock>) {
        match std::mem::take(&mut self.status) {
            Status::Locked(session) if session.pivot == ticket => {
                assert!(!self.queue.contains(ticket), "who is inside is not queued");
                self.status = Status::Releasing(session);
                self.finish(out);
            }
            status => {
                self.status = status;
                if let Some(apart) = self.apart.get_mut(&ticket) {
                    apart.asked = true;
                } else if site.quarantined {
                    self.unanswered.insert(ticket);
                } else {
                    out.send(ticket.site, Message::Finished { ticket });
                }
            }
        }
    }

    /// The session is over everywhere: the vote goes to the strongest.
    ///
    /// If the pivot has lost its quorum, or our right to admit has ended, followers may be left
    /// here; they have stopped, and what they send will find nothing.
    pub(super) fn on_over(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        if self.status.session().is_none_or(|session| session.pivot != ticket) {
            return Err(Violation::NotHolder(ticket));
        }
        self.grant(site, out);
        Ok(())
    }

    /// The session of `client` is over here, and with it all that its requests have here.
    ///
    /// A pivot may be inside still, but then not by our vote, so the next may have it at once.
    /// Nobody knows which fences it has used.
    pub(super) fn on_closed(
        &mut self,
        site: &mut Shared,
        client: SiteId,
        out: &mut Out<GroupLock>,
    ) {
        let queued = self.queue.remove_site(client);
        self.unanswered.retain(|pivot| pivot.site != client);
        for (_, apart) in self.apart.iter_mut().filter(|(pivot, _)| pivot.site == client) {
            apart.asked = false;
        }
        let admitted = self.remove_followers(|follower| follower.site == client, out);
        if self.status.holder().is_none_or(|holder| holder.site != client) {
            if !queued && !admitted {
                out.ignore("it had nothing here");
            }
            return;
        }
        site.skip_fences(out);
        if let Status::Locked(session) | Status::Releasing(session) = &mut self.status {
            let followers = std::mem::take(&mut session.followers);
            if !followers.is_empty() {
                self.apart.insert(session.pivot, Apart { followers, asked: false });
            }
        }
        self.grant(site, out);
    }

    /// We have a session at `peer`: the right to admit that its pivot gave us for it holds now.
    pub(super) fn on_open(&mut self, site: &Shared, now: Tick, out: &mut Out<GroupLock>) {
        self.admit(site, now, out);
    }

    /// A pivot is known to be inside still, after we were in doubt.
    pub(super) fn on_assured(&mut self, site: &Shared, now: Tick, out: &mut Out<GroupLock>) {
        self.admit(site, now, out);
    }

    /// The quarantine after a restart is over: all whom we may have let in before have stopped.
    pub(super) fn on_cleared(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        for ticket in std::mem::take(&mut self.unanswered) {
            out.send(ticket.site, Message::Finished { ticket });
        }
        if self.status == Status::Vacant {
            self.grant(site, out);
        }
    }

    /// Lends the vote to the strongest request; the paper's `SendOK`. It stays in the queue, so
    /// that a stronger one is seen to overtake it.
    pub(super) fn grant(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        self.status = Status::Vacant;
        if site.quarantined {
            return;
        }
        let Some(head) = self.queue.head() else { return };
        let (ticket, session) = (head.ticket, site.session_of(head.ticket.site));
        assert!(session == Some(head.session), "who is lent to has a session here");
        let ok = Message::Ok {
            ticket,
            fences: Fences { floor: site.floor(), ceil: site.ceil() },
            waiting: self.others(ticket),
            clock: site.clock.time(),
        };
        out.send(ticket.site, ok);
        self.status = Status::WaitLock(ticket);
    }

    /// Who else waits, if a pivot wants to know.
    fn others(&self, ticket: Ticket) -> Vec<(Ticket, Groups)> {
        if self.options.choice == Choice::Arbitrary {
            return Vec::new();
        }
        let others = self.queue.iter().filter(|entry| entry.ticket != ticket && !entry.held);
        let others = others.map(|entry| (entry.ticket, entry.groups.clone()));
        others.take(WAITING_MAX).collect()
    }

    /// Lets those who can join the session.
    fn admit(&mut self, site: &Shared, now: Tick, out: &mut Out<GroupLock>) {
        let Status::Locked(session) = &mut self.status else { return };
        let Some(right) = session.right(site) else { return };
        let is_tired =
            |entry: &Entry| self.options.limit.is_some_and(|limit| now >= entry.since + limit);
        let (pivot, fence, clock) = (session.pivot, session.fence, site.clock.time());
        for ticket in self.queue.joining(&session.group, is_tired) {
            self.queue.remove(ticket);
            assert!(session.followers.insert(ticket), "a request joins once");
            let group = session.group.clone();
            out.send(ticket.site, Message::Enter { ticket, pivot, group, fence, right, clock });
        }
    }

    /// Tells the pivot that nobody is left, once it has left itself.
    fn finish(&mut self, out: &mut Out<GroupLock>) {
        if let Status::Releasing(session) = &self.status
            && session.followers.is_empty()
        {
            let ticket = session.pivot;
            out.send(ticket.site, Message::Finished { ticket });
        }
    }

    /// Takes out followers that have left or whose site is lost; false if there was none.
    fn remove_followers(
        &mut self,
        gone: impl Fn(Ticket) -> bool,
        out: &mut Out<GroupLock>,
    ) -> bool {
        let mut any = false;
        if let Some(session) = self.status.session_mut() {
            let before = session.followers.len();
            session.followers.retain(|&follower| !gone(follower));
            if session.followers.len() < before {
                any = true;
                self.finish(out);
            }
        }
        self.apart.retain(|&ticket, apart| {
            let before = apart.followers.len();
            apart.followers.retain(|&follower| !gone(follower));
            any |= apart.followers.len() < before;
            let done = apart.followers.is_empty();
            if done && apart.asked {
                out.send(ticket.site, Message::Finished { ticket });
            }
            !done
        });
        any
    }

    /// Whether we have heard of a request that is not over.
    fn knows(&self, ticket: Ticket) -> bool {
        let joined = self.status.session().is_some_and(|s| s.followers.contains(&ticket));
        joined || self.status.holder() == Some(ticket) || self.queue.contains(ticket)
    }

    /// Those we let join and that have not left, and their sites.
    pub(super) fn admitted(&self) -> impl Iterator<Item = (SiteId, Ticket)> + '_ {
        let session = self.status.session().map(|session| &session.followers);
        let apart = self.apart.values().map(|apart| &apart.followers);
        session.into_iter().chain(apart).flatten().map(|&follower| (follower.site, follower))
    }

    /// Whom somebody joined that we let in; `None` if we did not.
    pub(super) fn pivot_of(&self, follower: Ticket) -> Option<Ticket> {
        let session = self.status.session().map(|session| (session.pivot, &session.followers));
        let apart = self.apart.iter().map(|(&pivot, apart)| (pivot, &apart.followers));
        let mut all = session.into_iter().chain(apart);
        all.find(|(_, followers)| followers.contains(&follower)).map(|(pivot, _)| pivot)
    }

    pub(super) fn is_vacant(&self) -> bool {
        let idle = self.queue.is_empty() && self.apart.is_empty() && self.unanswered.is_empty();
        self.status == Status::Vacant && idle
    }

    /// The requests that have something of us, and those that wait.
    pub(super) fn lent(&self) -> impl Iterator<Item = Ticket> + '_ {
        let followers = self.status.session().map(|session| &session.followers);
        self.status.holder().into_iter().chain(followers.into_iter().flatten().copied())
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = Ticket> + '_ {
        let holder = self.status.holder();
        self.queue.iter().map(|entry| entry.ticket).filter(move |&ticket| Some(ticket) != holder)
    }
}

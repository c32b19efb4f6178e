//! Telling the locks what happens to all of them: a session opens, ends or falls silent, the
//! quarantine ends, the site is about to stop.
//!
//! A step tells a bounded number of locks; the rest follows in the next steps, which the site asks
//! for at once. Each lock is told what it does not know yet before it handles anything else, so
//! that its inputs come in the order of what happened. The next session opens when all locks were
//! told that the one before is over ([`Sessions::on_told`]), so that a lock that was not told yet
//! finds no session, and never a later one.
//!
//! [`Sessions::on_told`]: quorate_session::session::Sessions::on_told

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use quorate_protocol::{OutboundSession, SessionNo, Sessions, Tick};
use quorate_quorum::SiteId;
use quorate_session::session::{self, Event, HappeningNo, Rule, Untold};
use quorate_session::{CallId, Name, Question};

use super::Site;
use super::call::Place;
use super::site_core::SiteCore;
use super::table::TableEntry;
use crate::lock::{LockInstance, StepContext};
use crate::site_message::SiteMessage;

/// Something that happens to all locks of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// A session began, ended or fell silent.
    Session(Event),
    /// The quarantine is over.
    Cleared,
    /// The site is about to stop: nobody joins callers inside any more.
    Stopping,
}

impl session::Happening for Happening {
    fn event(self) -> Option<Event> {
        match self {
            Happening::Session(event) => Some(event),
            Happening::Cleared | Happening::Stopping => None,
        }
    }
}

/// What happened to all locks, and how many of them know.
#[derive(Clone, Debug, Default)]
pub(super) struct Telling {
    untold: Untold<Happening>,
    pass: Option<Pass>,
    /// How many more locks may be visited in this step.
    left: usize,
    /// Whether it is the turn of new claims to use the room in the streams.
    claims_are_next: bool,
    /// The number of each closed session of which not all locks know.
    closed: BTreeMap<SiteId, SessionNo>,
    /// The silent sites, and those whose sessions are over.
    silent: BTreeMap<SiteId, Silent>,
    /// The locks that were told in this step that a site is silent or a session over.
    pub(super) to_review: BTreeSet<Name>,
}

/// One pass through the locks.
#[derive(Clone, Debug)]
struct Pass {
    /// It tells everything up to this number.
    last: HappeningNo,
    place: PassPlace,
}

/// What protocols read of the sessions and the quarantine at present.
struct Present {
    sessions: Sessions,
    quarantined: bool,
}

/// How far a pass has come.
#[derive(Clone, Debug)]
enum PassPlace {
    /// The locks of callers inside, in the order in which these claimed them. Callers are visited
    /// first if all that happened is that sessions began: then locks ask again.
    Inside(Option<CallId>),
    /// The locks of callers that wait, the longest wait first.
    Waiting(Option<CallId>),
    /// All locks, in the order of the table.
    Table(Option<Name>),
}

/// Whether a silent site still counts for the common deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silent {
    /// Some grant that follows the common deadline may depend on it, until all locks were told
    /// this.
    Counts(HappeningNo),
    /// Every grant was looked at.
    IsLeftOut,
}

impl Telling {
    /// The number of what happened last: a lock that is made now has nothing to learn.
    pub(super) fn last(&self) -> HappeningNo {
        self.untold.last()
    }

    /// A step begins, in which this many locks may be visited.
    pub(super) fn begin_step(&mut self, locks: usize) {
        self.left = locks.max(1);
    }

    /// Whether a silent site, or one whose session is over, counts for the common deadline.
    pub(super) fn counts(&self, site: SiteId) -> bool {
        matches!(self.silent.get(&site), Some(Silent::Counts(_)))
    }

    /// The site answers, or has a new session.
    pub(super) fn note_answering(&mut self, site: SiteId) {
        self.silent.remove(&site);
    }

    /// The session of a site here is over.
    pub(super) fn note_closed(&mut self, site: SiteId, number: Option<SessionNo>) {
        self.closed.extend(number.map(|number| (site, number)));
    }

    /// Something happened; some locks may not have learned yet what it undoes.
    fn push(&mut self, happening: Happening) {
        let number = self.untold.push(happening);
        match happening {
            Happening::Session(Event::Silent(site)) => {
                self.silent.insert(site, Silent::Counts(number));
            }
            Happening::Session(Event::Lost(site)) if !self.is_left_out(site) => {
                self.silent.insert(site, Silent::Counts(number));
            }
            _ => {}
        }
        let is_among_callers =
            |pass: &mut Pass| matches!(pass.place, PassPlace::Inside(_) | PassPlace::Waiting(_));
        if self.can_wait() {
            self.pass = None; // callers inside come first, and the oldest of them
        } else {
            self.pass.take_if(is_among_callers); // the table is faster
        }
    }

    fn is_left_out(&self, site: SiteId) -> bool {
        self.silent.get(&site) == Some(&Silent::IsLeftOut)
    }

    /// Whether some lock may not have been told something.
    fn is_busy(&self) -> bool {
        !self.untold.is_empty()
    }

    /// Whether all there is to tell is that sessions began. Locks ask again then, and that waits
    /// for room in the streams.
    fn can_wait(&self) -> bool {
        self.untold.iter().all(Happening::is_beginning)
    }

    /// The place of the present pass, which begins if there is none.
    fn place(&mut self) -> PassPlace {
        let first = if self.can_wait() { PassPlace::Inside(None) } else { PassPlace::Table(None) };
        let last = self.last();
        self.pass.get_or_insert(Pass { last, place: first }).place.clone()
    }

    fn move_to(&mut self, place: PassPlace) {
        if let Some(pass) = &mut self.pass {
            pass.place = place;
        }
    }

    /// Ends a pass: what all locks were told.
    fn end_pass(&mut self) -> Vec<Happening> {
        let Some(Pass { last, .. }) = self.pass.take() else { return Vec::new() };
        for silent in self.silent.values_mut() {
            if matches!(silent, Silent::Counts(number) if *number <= last) {
                *silent = Silent::IsLeftOut;
            }
        }
        self.untold.forget(last)
    }
}

impl Happening {
    /// Whether a session began.
    fn is_beginning(self) -> bool {
        matches!(self, Happening::Session(event) if event.is_beginning())
    }

    /// Whether grants may depend on something that is over.
    fn may_degrade(self) -> bool {
        matches!(self, Happening::Session(Event::Silent(_) | Event::Lost(_)))
    }

    fn tell(self, lock: &mut dyn LockInstance, context: &mut StepContext<'_>) {
        match self {
            Happening::Session(event) => lock.on_session(context, event),
            Happening::Cleared => lock.on_cleared(context),
            Happening::Stopping => lock.stop_joining(),
        }
    }
}

impl SiteCore {
    /// When the site wants to be called to tell more locks: now, unless that waits for room.
    pub(super) fn tells_at(&self) -> Option<Tick> {
        let waits = self.telling.can_wait() && self.is_congested();
        (self.telling.is_busy() && !waits).then_some(self.now)
    }

    /// Whether new claims use the room in the streams before locks ask again. They take turns: a
    /// hundred thousand locks that ask again must not delay a claim for seconds, nor the other way
    /// round.
    pub(super) fn claims_go_first(&mut self) -> bool {
        if !self.telling.is_busy() || !self.telling.can_wait() || !self.can_place() {
            return false;
        }
        self.telling.claims_are_next = !self.telling.claims_are_next;
        self.telling.claims_are_next
    }

    /// Tells a lock what it does not know yet; false if it is vacant afterwards.
    fn tell_lock(&mut self, name: &Name, entry: &mut TableEntry) -> bool {
        let from = std::mem::replace(&mut entry.told, self.telling.last());
        let news: Vec<Happening> = self.telling.untold.of_lock(from).collect();
        let present = (news.len() > 1).then(|| self.go_back(&news));
        let mut is_used = true;
        for happening in news {
            if let Some(present) = &present {
                self.go_on(happening, present);
            }
            if !is_used || !self.is_true(happening) {
                continue;
            }
            if happening.may_degrade() {
                self.telling.to_review.insert(name.clone());
            }
            let tell = |lock: &mut dyn LockInstance, context: &mut StepContext<'_>| {
                happening.tell(lock, context);
            };
            is_used = self.run_on_lock(name, &mut *entry.lock, tell);
        }
        is_used
    }

    /// Undoes what protocols read of several happenings, and returns how it is at present: a lock
    /// is told of each as if the later ones had not happened yet. Otherwise it could lend to a
    /// request whose session is over too, and it was not told.
    fn go_back(&mut self, news: &[Happening]) -> Present {
        let sessions = &mut self.shared.sessions;
        let present = Present { sessions: sessions.clone(), quarantined: self.shared.quarantined };
        for happening in news.iter().rev() {
            match happening {
                Happening::Session(Event::Open(site, _)) => {
                    sessions.set_outbound(*site, OutboundSession::default());
                }
                Happening::Session(Event::Opened(site, _)) => sessions.set_inbound(*site, None),
                Happening::Session(Event::Closed(site)) => {
                    sessions.set_inbound(*site, self.telling.closed.get(site).copied());
                }
                Happening::Cleared => self.shared.quarantined = true,
                Happening::Session(Event::Silent(_) | Event::Lost(_)) | Happening::Stopping => {}
            }
        }
        present
    }

    /// Something has happened, for the lock that is told now.
    fn go_on(&mut self, happening: Happening, present: &Present) {
        let sessions = &mut self.shared.sessions;
        match happening {
            Happening::Session(Event::Open(site, _)) => {
                sessions.set_outbound(site, present.sessions.outbound(site));
            }
            Happening::Session(Event::Opened(site, _) | Event::Closed(site)) => {
                sessions.set_inbound(site, present.sessions.inbound(site));
            }
            Happening::Cleared => self.shared.quarantined = present.quarantined,
            Happening::Session(Event::Silent(_) | Event::Lost(_)) | Happening::Stopping => {}
        }
    }

    /// Whether it is still so: a silent site may answer again before all locks were told.
    fn is_true(&self, happening: Happening) -> bool {
        match happening {
            Happening::Session(Event::Silent(site)) => self.shared.is_silent(site),
            _ => true,
        }
    }
}

impl Site {
    /// Something happens to all locks. The first of them are told at once.
    pub(super) fn tell_all(&mut self, happening: Happening) {
        self.core.telling.push(happening);
        self.tell_locks();
    }

    /// Tells as many locks as a step may; false if none had to be told.
    pub(super) fn tell_locks(&mut self) -> bool {
        let mut is_telling = false;
        while self.core.telling.left > 0 && self.core.tells_at().is_some() {
            is_telling = true;
            match self.core.telling.place() {
                PassPlace::Inside(after) => {
                    let next = self.tell_callers(after, true);
                    let next = next.map(|last| PassPlace::Inside(Some(last)));
                    self.core.telling.move_to(next.unwrap_or(PassPlace::Waiting(None)));
                }
                PassPlace::Waiting(after) => {
                    let next = self.tell_callers(after, false);
                    let next = next.map(|last| PassPlace::Waiting(Some(last)));
                    self.core.telling.move_to(next.unwrap_or(PassPlace::Table(None)));
                }
                PassPlace::Table(after) => match self.tell_table(after.as_ref()) {
                    Some(last) => self.core.telling.move_to(PassPlace::Table(Some(last))),
                    None => self.end_pass(),
                },
            }
        }
        is_telling
    }

    /// Tells the locks of some callers that are inside, or that wait; the last of these, or `None`
    /// if there are no more callers.
    fn tell_callers(&mut self, after: Option<CallId>, inside: bool) -> Option<CallId> {
        let mut last = after;
        for _ in 0..self.core.telling.left {
            let from = last.map_or(Bound::Unbounded, Bound::Excluded);
            let (id, call) = self.core.calls.range((from, Bound::Unbounded)).next()?;
            last = Some(*id);
            self.core.telling.left -= 1;
            if inside != matches!(call.place, Place::Waiting(_)) {
                let name = call.name.clone();
                self.tell(&name);
                if self.core.is_congested() {
                    break;
                }
            }
        }
        last
    }

    /// Tells the next locks of the table; the last of them, or `None` if there are no more.
    fn tell_table(&mut self, after: Option<&Name>) -> Option<Name> {
        let (core, mut vacant, mut last) = (&mut self.core, Vec::new(), after.cloned());
        let (waits, mut is_over) = (core.telling.can_wait(), true);
        for (name, entry) in self.table.after_mut(after) {
            if core.telling.left == 0 || (waits && core.is_congested()) {
                is_over = false;
                break;
            }
            core.telling.left -= 1;
            last = Some(name.clone());
            if entry.told != core.telling.last() && !core.tell_lock(name, entry) {
                vacant.push(name.clone());
            }
        }
        for name in vacant {
            self.table.remove(&name);
        }
        last.filter(|_| !is_over)
    }

    /// All locks were told everything up to some happening.
    fn end_pass(&mut self) {
        self.core.leases_renewed = true; // a silent site may not count any more
        for happening in self.core.telling.end_pass() {
            if let Happening::Session(event) = happening
                && let Some(half) = event.ended_half()
            {
                let mut effects = Vec::new();
                self.core.sessions.on_told(event.site(), half, &mut effects);
                self.core.absorb(effects);
            }
        }
    }

    /// Tells a lock what it does not know yet; false if there is nothing. Its messages to itself
    /// are to be handled before anything else.
    pub(super) fn tell(&mut self, name: &Name) -> bool {
        let last = self.core.telling.last();
        if !self.core.telling.is_busy() {
            return false;
        }
        let Some(entry) = self.table.entry_mut(name).filter(|entry| entry.told != last) else {
            return false;
        };
        if !self.core.tell_lock(name, entry) {
            self.table.remove(name);
        }
        true
    }

    /// Tells a lock what it does not know yet, before it handles something else.
    pub(super) fn tell_first(&mut self, name: &Name) {
        if self.bring_up_to_date(name) {
            self.settle();
        }
    }

    /// Tells a lock what it does not know yet, and ends what depends on expired delegations; false
    /// if there is neither.
    fn bring_up_to_date(&mut self, name: &Name) -> bool {
        (self.tells_before_acting() && self.tell(name)) || self.expire_delegations_of(name)
    }

    /// Tells the lock of a call what it does not know yet; false if the call is over then.
    pub(super) fn tell_first_of(&mut self, id: CallId) -> bool {
        if let Some(call) = self.core.calls.get(&id) {
            let name = call.name.clone();
            self.tell_first(&name);
        }
        self.core.calls.contains_key(&id)
    }

    /// Tells the locks that a message concerns what they do not know yet; false if there is
    /// nothing.
    pub(super) fn tell_addressees(&mut self, message: &SiteMessage) -> bool {
        match message {
            SiteMessage::Protocol(addressed)
            | SiteMessage::Timed(addressed, _)
            | SiteMessage::Delegated(addressed, _) => self.bring_up_to_date(&addressed.name),
            SiteMessage::Refused { name, .. } | SiteMessage::Ask(_, Question::Show(name, _)) => {
                self.bring_up_to_date(name)
            }
            SiteMessage::Break(order, _) | SiteMessage::Stop(order, _) => {
                self.bring_up_to_date(&order.name)
            }
            SiteMessage::Delegations(delegations) => {
                let tell = |any, (name, _): &(Name, _)| self.bring_up_to_date(name) | any;
                delegations.iter().fold(false, tell)
            }
            SiteMessage::Stopping(_) | SiteMessage::Ask(..) | SiteMessage::Answer(..) => false,
        }
    }

    fn tells_before_acting(&self) -> bool {
        self.core.config.terms.keep(Rule::ToldBeforeActing)
    }
}

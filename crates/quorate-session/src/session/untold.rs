//! What happened to all locks of a site, and what each lock has still to be told.

use std::collections::VecDeque;

use super::Event;

/// Something that happens to all locks of a site.
pub trait Happening: Copy {
    /// The event of a session that it is, if it is one.
    fn event(self) -> Option<Event>;
}

impl Happening for Event {
    fn event(self) -> Option<Event> {
        Some(self)
    }
}

/// The ordinal of something that happened to all locks of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HappeningNo(pub u64);

/// What happened to all locks of a site and not all of them were told.
///
/// Each lock has the number of what it was told last, and is told the rest in order. A session that
/// begins and ends before a lock is told never was, for that lock.
///
/// ```
/// use quorate_quorum::SiteId;
/// use quorate_session::SessionNo;
/// use quorate_session::session::{Event, Untold};
///
/// let (two, mut untold) = (SiteId::new(1), Untold::default());
/// let begins = untold.push(Event::Open(two, SessionNo(4)));
/// let ends = untold.push(Event::Lost(two));
/// assert!(untold.of_lock(Default::default()).next().is_none(), "it knows nothing of session 4");
/// assert!(untold.of_lock(begins).eq([Event::Lost(two)]));
/// assert_eq!(untold.forget(ends), [Event::Lost(two)], "all know: the next session may begin");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Untold<H> {
    /// In order; a few for each other site.
    entries: VecDeque<Entry<H>>,
    last: HappeningNo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry<H> {
    number: HappeningNo,
    happening: H,
    /// Only locks that were told this are concerned: the others never learned of the session.
    since: HappeningNo,
}

impl<H> Default for Untold<H> {
    fn default() -> Self {
        Self { entries: VecDeque::new(), last: HappeningNo::default() }
    }
}

impl<H: Happening> Untold<H> {
    /// The number of what happened last: a lock that is made now has nothing to learn.
    pub fn last(&self) -> HappeningNo {
        self.last
    }

    /// Whether all locks were told everything.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What not all locks were told, in order.
    pub fn iter(&self) -> impl Iterator<Item = H> + '_ {
        self.entries.iter().map(|entry| entry.happening)
    }

    /// Something happens to all locks. Returns its number.
    pub fn push(&mut self, happening: H) -> HappeningNo {
        self.last = HappeningNo(self.last.0 + 1);
        let since = happening.event().and_then(|event| self.take_undone(event));
        let (number, since) = (self.last, since.unwrap_or_default());
        self.entries.push_back(Entry { number, happening, since });
        number
    }

    /// What a lock has to be told that was told everything up to `told`, in order.
    pub fn of_lock(&self, told: HappeningNo) -> impl Iterator<Item = H> + '_ {
        let concerns = move |entry: &&Entry<H>| entry.number > told && entry.since <= told;
        self.entries.iter().filter(concerns).map(|entry| entry.happening)
    }

    /// All locks were told everything up to `last`. Returns what that was.
    pub fn forget(&mut self, last: HappeningNo) -> Vec<H> {
        let mut told = Vec::new();
        while let Some(entry) = self.entries.pop_front_if(|entry| entry.number <= last) {
            told.push(entry.happening);
        }
        told
    }

    /// Forgets what an event undoes: the number of the beginning of its session, if that is among
    /// it.
    fn take_undone(&mut self, event: Event) -> Option<HappeningNo> {
        let undone = |entry: &Entry<H>| match (event, entry.happening.event()) {
            (Event::Lost(site), Some(Event::Open(other, _) | Event::Silent(other)))
            | (Event::Silent(site), Some(Event::Silent(other)))
            | (Event::Closed(site), Some(Event::Opened(other, _))) => site == other,
            _ => false,
        };
        let begins = |entry: &&Entry<H>| {
            undone(entry) && entry.happening.event().is_some_and(Event::is_beginning)
        };
        let since = self.entries.iter().find(begins).map(|entry| entry.number);
        self.entries.retain(|entry| !undone(entry));
        since
    }
}

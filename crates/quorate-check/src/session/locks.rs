//! The locks of a site: what each of them was told of the sessions.

use quorate_protocol::SessionNo;
use quorate_session::session::{Event, Half, HappeningNo, Untold};

use super::monitor::Monitor;

/// Our session at the other site, and its session here.
pub(super) type Believed = (Option<SessionNo>, Option<SessionNo>);

/// The locks of a site, told one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Locks {
    untold: Untold<Event>,
    locks: Vec<Lock>,
}

/// What one lock believes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Lock {
    told: HappeningNo,
    /// Our session at the other site.
    at: Option<SessionNo>,
    /// Its session here.
    of: Option<SessionNo>,
}

impl Locks {
    /// So many locks that know of nothing.
    pub(super) fn new(count: usize) -> Self {
        Self { untold: Untold::default(), locks: vec![Lock::default(); count] }
    }

    pub(super) fn count(&self) -> usize {
        self.locks.len()
    }

    /// Something happened that the locks are to be told.
    pub(super) fn push(&mut self, event: Event, monitor: &mut Monitor) {
        if event.is_beginning() {
            let none = |lock: &Lock| match event {
                Event::Open(..) => lock.at.is_none(),
                _ => lock.of.is_none(),
            };
            let all = self.locks.iter().all(none);
            monitor.expect(all, "S5: a session opens when all locks know of the end of the last");
        }
        self.untold.push(event);
    }

    /// Whether a lock has not been told everything.
    pub(super) fn is_behind(&self, lock: usize) -> bool {
        self.locks[lock].told < self.untold.last()
    }

    /// Tells a lock what it does not know yet. Returns what all locks know now.
    pub(super) fn tell(&mut self, lock: usize, monitor: &mut Monitor) -> Vec<Event> {
        let lock = &mut self.locks[lock];
        for event in self.untold.of_lock(lock.told) {
            lock.learn(event, monitor);
        }
        lock.told = self.untold.last();
        let all = self.locks.iter().map(|lock| lock.told).min().unwrap_or_default();
        self.untold.forget(all)
    }

    /// A lock was told everything: it believes in our session there and in its session here.
    pub(super) fn check(&self, lock: usize, sessions: Believed, monitor: &mut Monitor) {
        let Lock { at, of, .. } = self.locks[lock];
        monitor.expect((at, of) == sessions, "S5: a lock that was told everything knows");
    }

    /// A lock handles a message of a session: it must believe in it.
    pub(super) fn check_message(
        &self,
        lock: usize,
        half: Half,
        number: SessionNo,
        monitor: &mut Monitor,
    ) {
        let lock = &self.locks[lock];
        let believed = if half == Half::Requester { lock.at } else { lock.of };
        let knows = believed == Some(number);
        monitor.expect(knows, "S5: a lock is told before it handles anything later");
    }
}

impl Lock {
    fn learn(&mut self, event: Event, monitor: &mut Monitor) {
        match event {
            Event::Open(_, number) => {
                monitor.expect(self.at.is_none(), "S3: a lock is told of open after lost");
                self.at = Some(number);
            }
            Event::Silent(_) => {}
            Event::Lost(_) => {
                let was = self.at.take();
                monitor.expect(was.is_some(), "S5: a lock is told of lost once");
            }
            Event::Opened(_, number) => {
                monitor.expect(self.of.is_none(), "S3: a lock is told of opened after closed");
                self.of = Some(number);
            }
            Event::Closed(_) => {
                let was = self.of.take();
                monitor.expect(was.is_some(), "S5: a lock is told of closed once");
            }
        }
    }
}

//! Lamport's logical clock.

/// The largest ticket time a site has made or seen.
///
/// Cao & Singhal 2001, section 3.2: a request's sequence number is greater than that of any
/// request made or observed here. Nothing else needs the clock, so nothing else moves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clock(u64);

impl Clock {
    /// A clock that has seen `time`.
    pub fn at(time: u64) -> Self {
        Self(time)
    }

    /// The largest time made or seen.
    pub fn time(self) -> u64 {
        self.0
    }

    /// The time for a new ticket: later than everything seen so far.
    pub fn advance(&mut self) -> u64 {
        self.0 = self.0.checked_add(1).expect("a cluster makes fewer than 2^64 tickets");
        self.0
    }

    /// Advances the clock to at least `time`.
    pub fn observe(&mut self, time: u64) {
        self.0 = self.0.max(time);
    }
}

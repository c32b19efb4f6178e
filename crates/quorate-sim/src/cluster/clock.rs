//! True time, and the readings of a site's own clock.

use quorate_protocol::Tick;

use crate::chance::Chance;

/// A million: rates are in millionths.
const WHOLE: u64 = 1_000_000;

/// A clock that runs at a rate of its own. Integers only, and exact both ways.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The true time at which it was set, and the reading it was set to.
    set_at: u64,
    reading: u64,
    /// How many millionths of a second it counts in a second.
    rate: u64,
}

impl Clock {
    /// A clock set to `reading` at `now` that is fast or slow by so many millionths.
    pub(super) fn new(now: u64, reading: u64, skew: i64) -> Self {
        let rate = WHOLE.checked_add_signed(skew).expect("no clock runs backwards");
        assert!(rate > 0, "no clock stands still");
        Self { set_at: now, reading, rate }
    }

    /// A clock with a random reading that is fast or slow by at most so many millionths.
    pub(super) fn draw(now: u64, skew_max: u32, chance: &mut Chance) -> Self {
        let width = u64::from(skew_max) * 2 + 1;
        let skew = i64::try_from(chance.below(width)).expect("it is small") - i64::from(skew_max);
        Self::new(now, chance.below(1 << 50), skew)
    }

    /// The same clock, set to another reading.
    pub(super) fn set(self, now: u64, reading: u64) -> Self {
        Self { set_at: now, reading, ..self }
    }

    /// Its reading at a true time.
    pub(super) fn read(&self, now: u64) -> Tick {
        let passed = u128::from(now - self.set_at) * u128::from(self.rate) / u128::from(WHOLE);
        Tick(self.reading + u64::try_from(passed).expect("runs are short"))
    }

    /// The first true time at which its reading is `tick` or more.
    pub(super) fn when(&self, tick: Tick) -> u64 {
        let ahead = u128::from(tick.0.saturating_sub(self.reading)) * u128::from(WHOLE);
        let ahead = u64::try_from(ahead.div_ceil(u128::from(self.rate)));
        self.set_at.saturating_add(ahead.unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_read_is_the_first_at_which_it_is_read() {
        for skew in [-90_000, -4_500, -1, 0, 3, 4_500, 50_000] {
            let clock = Clock::new(1_000, 77, skew);
            for tick in [78, 79, 1_000_077, 3_000_000_019].map(Tick) {
                let when = clock.when(tick);
                assert!(clock.read(when) >= tick);
                assert!(clock.read(when - 1) < tick);
            }
            assert_eq!(clock.when(Tick(5)), 1_000, "what has passed is due at once");
        }
    }

    #[test]
    fn rates_differ_as_told() {
        let [slow, fast] = [-4_500, 4_500].map(|skew| Clock::new(0, 0, skew));
        let second = 1_000_000_000;
        assert_eq!((slow.read(second).0, fast.read(second).0), (995_500_000, 1_004_500_000));
    }
}

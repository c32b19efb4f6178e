//! Delays between attempts to connect: exponential, with jitter.

use std::time::Duration;

use quorate_session::session::Lease;

/// The delay before the next attempt to connect. It doubles with each failure, up to a sixth of a
/// lease, so that a connection is back well before a lease is over.
///
/// Each delay is drawn from the upper half of its range, so that many clients that lost the same
/// site do not come back at the same moment.
///
/// ```
/// use quorate_net::backoff::Backoff;
/// use quorate_session::session::Lease;
///
/// let mut backoff = Backoff::new(Lease::default());
/// assert!(backoff.next_delay() <= Backoff::FIRST);
/// assert!(backoff.next_delay() > Backoff::FIRST / 2);
/// ```
#[derive(Clone, Debug)]
pub struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    /// The first delay, before jitter.
    pub const FIRST: Duration = Duration::from_millis(50);

    /// No attempt has failed yet.
    pub fn new(lease: Lease) -> Self {
        let longest = lease.length() / 6;
        Self { next: Self::FIRST.min(longest), longest }
    }

    /// An attempt failed: how long to wait before the next one.
    pub fn next_delay(&mut self) -> Duration {
        let delay = self.next;
        self.next = (delay * 2).min(self.longest);
        delay / 2 + (delay / 2).mul_f64(random_fraction())
    }

    /// An attempt succeeded: the next failure starts with the shortest delay.
    pub fn reset(&mut self) {
        self.next = Self::FIRST.min(self.longest);
    }
}

/// A random number from 0 to 1. A system without random numbers gets no jitter.
fn random_fraction() -> f64 {
    getrandom::u32().map_or(1.0, |draw| f64::from(draw) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(ms: u64) -> Lease {
        Lease::new(Duration::from_millis(ms)).unwrap()
    }

    #[test]
    fn delays_double_up_to_a_sixth_of_a_lease() {
        let mut backoff = Backoff::new(lease(3000));
        for most in [50, 100, 200, 400, 500, 500] {
            let most = Duration::from_millis(most);
            let delay = backoff.next_delay();
            assert!(most / 2 <= delay && delay <= most, "{delay:?}, at most {most:?}");
        }
        backoff.reset();
        assert!(backoff.next_delay() <= Backoff::FIRST);
    }

    /// A sixth of it is shorter than the usual first delay.
    #[test]
    fn the_shortest_lease_has_delays_too() {
        let mut backoff = Backoff::new(Lease::new(Lease::MIN).unwrap());
        for _ in 0..3 {
            let delay = backoff.next_delay();
            assert!(!delay.is_zero() && delay <= Lease::MIN / 6, "{delay:?}");
        }
    }
}

//! A deadline that is counted from the receiver's own renewal.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Renewal;
use crate::Tick;

/// A deadline on its way from the site that knows it (the giver) to one with another clock.
///
/// The time left must not be counted from receipt, because the message may have been in transit
/// for long. It is counted from a renewal of the receiver that the giver has handled.
///
/// ```
/// use std::time::Duration;
/// use quorate_session::Tick;
/// use quorate_session::session::{RelativeDeadline, Renewal};
/// // The giver's grant ends at 900, and it handled the receiver's renewal 7 at 400.
/// let relative = RelativeDeadline::new(Tick(900), Renewal(7), Tick(400)).expect("it is not over");
/// assert_eq!(relative.after, Duration::from_nanos(500));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RelativeDeadline {
    /// k: the latest renewal of the receiver that the giver has handled.
    pub renewal: Renewal,
    /// x: the time from then to the deadline.
    pub after: Duration,
}

impl RelativeDeadline {
    /// The deadline `until`, if the giver handled the receiver's latest renewal at `handled`;
    /// `None` if it had passed by then.
    pub fn new(until: Tick, renewal: Renewal, handled: Tick) -> Option<Self> {
        let after = Duration::from_nanos(until.0.checked_sub(handled.0)?);
        assert!(handled + after <= until, "I8: no later than the giver's");
        (!after.is_zero()).then_some(Self { renewal, after })
    }
}

//! A deadline that is counted from the receiver's own renewal.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Renewal;
use crate::Tick;

/// A validity on its way from the one who has it to one who is inside on its word.
///
/// The time left must not be counted from receipt: the message may have been under way for long.
/// It is counted from a renewal of the receiver's own that the giver had handled.
///
/// ```
/// use std::time::Duration;
/// use quorate_session::Tick;
/// use quorate_session::session::Renewal;
/// use quorate_session::session::RelativeDeadline;
/// // The giver is good until 900, and handled the receiver's renewal 7 at 400.
/// let down = RelativeDeadline::new(Tick(900), Renewal(7), Tick(400)).expect("it is not over");
/// assert_eq!(down.after, Duration::from_nanos(500));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RelativeDeadline {
    /// k: the latest renewal of the receiver that the giver has handled.
    pub renewal: Renewal,
    /// x: from then until the giver's own end.
    pub after: Duration,
}

impl RelativeDeadline {
    /// What a giver says that is good until `until` and handled the receiver's latest renewal at
    /// `handled`; `None` if it was over by then.
    pub fn new(until: Tick, renewal: Renewal, handled: Tick) -> Option<Self> {
        let after = Duration::from_nanos(until.0.checked_sub(handled.0)?);
        assert!(handled + after <= until, "I8: no later than the giver's");
        (!after.is_zero()).then_some(Self { renewal, after })
    }
}

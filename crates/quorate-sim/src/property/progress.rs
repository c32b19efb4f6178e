//! No deadlock: when nothing is under way and nobody is inside, nobody waits.
//!
//! Cao & Singhal 2001, theorem 2. A state property, not "eventually": such a state has no way out
//! but a new claim, and a lock must not need the next customer to serve this one. Where a timer is
//! armed, it may still find a way out; so many that find none are a deadlock too.

use super::Standing;

pub(super) const NAME: &str = "progress";

/// No quiet world needs more timers to run out before somebody gets in.
const FUTILE_MAX: u32 = 500;

pub(super) fn judge(standing: &Standing) -> Result<(), String> {
    match *standing {
        Standing { in_flight: 0, armed: 0, inside: 0, waiting: waiting @ 1.., .. } => {
            Err(format!("{waiting} wait, nobody is inside, and no message is under way"))
        }
        Standing { futile, waiting, .. } if futile > FUTILE_MAX => {
            Err(format!("{waiting} wait, and {futile} timers ran out for nothing"))
        }
        _ => Ok(()),
    }
}

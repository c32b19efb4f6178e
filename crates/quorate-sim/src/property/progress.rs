//! No deadlock: when nothing is under way and nobody is inside, nobody waits.
//!
//! Cao & Singhal 2001, theorem 2. A state property, not "eventually": such a state has no way out
//! but a new claim, and a lock must not need the next customer to serve this one.

use super::Standing;

pub(super) const NAME: &str = "progress";

pub(super) fn judge(standing: &Standing) -> Result<(), String> {
    match standing {
        Standing { in_flight: 0, inside: 0, waiting: waiting @ 1.., .. } => {
            Err(format!("{waiting} wait, nobody is inside, and no message is under way"))
        }
        _ => Ok(()),
    }
}

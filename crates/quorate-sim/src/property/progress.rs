//! No deadlock: when nothing is under way and nobody is inside, nobody waits but those who have no
//! quorum.
//!
//! Cao & Singhal 2001, theorem 2. It is a property of states, not of "eventually": only a new claim
//! leads out of such a state, and a lock must not need that. An armed timer may still find a way
//! out; many in a row that find none are a deadlock too.

use super::WorldCounts;

pub(super) const NAME: &str = "progress";

/// No quiet world needs more timers to run out before somebody gets in.
const FUTILE_MAX: u32 = 500;

pub(super) fn monitor(counts: &WorldCounts) -> Result<(), String> {
    match *counts {
        WorldCounts { in_flight: 0, armed: 0, inside: 0, waiting, unservable, .. }
            if waiting > unservable =>
        {
            let waiting = waiting - unservable;
            Err(format!("{waiting} wait, nobody is inside, and no message is under way"))
        }
        WorldCounts { futile, waiting, .. } if futile > FUTILE_MAX => {
            Err(format!("{waiting} wait, and {futile} timers ran out for nothing"))
        }
        _ => Ok(()),
    }
}

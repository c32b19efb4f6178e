//! A storage that checks fences refuses no valid holder, and never serves two under one fence.
//!
//! The promise to users: fences protect against a caller that was paused and does not know that its
//! time is over.

use quorate_protocol::Fence;
use quorate_session::CallId;

use crate::cluster::storage::Write;

pub(super) const NAME: &str = "storage";

pub(super) fn monitor(call: CallId, fence: Fence, valid: bool, write: Write) -> Result<(), String> {
    let call = call.0;
    match write {
        Write::Refused(highest) if valid => Err(format!(
            "call {call} is valid, and its write with fence {fence} was refused after {highest}"
        )),
        Write::Mixed(other) => {
            Err(format!("calls {} and {call} both wrote with fence {fence}", other.0))
        }
        Write::Accepted | Write::Refused(_) => Ok(()),
    }
}

//! No caller waits longer than it said, by the clock of its process, whether or not any site
//! answers.
//!
//! The promise of a client: a wait ends at the caller's deadline. Timers may be late; a process
//! that is paused keeps its callers waiting until it goes on.

use quorate_session::CallId;

use crate::cluster::event::ClientName;

pub(super) const NAME: &str = "deadlines";

pub(super) fn of_late(client: ClientName, call: CallId) -> String {
    format!("call {} of {client} waits though its deadline has passed", call.0)
}

//! A holder is not lost to crashes of a minority of the other sites.
//!
//! The promise to holders: with majorities of 3, 5 or 7 sites a grant survives the crash of 1, 2
//! or 3 others, whoever waits where. It is judged where nothing but such crashes happens, for
//! mutexes that were held long enough to collect spare permissions.

use quorate_session::CallId;

use crate::cluster::event::ClientName;

pub(super) const NAME: &str = "survival";

pub(super) fn of_lost(client: ClientName, call: CallId) -> String {
    format!(
        "call {} of {client} is lost, though only a minority of other sites has crashed",
        call.0
    )
}

//! Views say no more than is known: whichever sites answer, they do not call a lock free that a
//! caller holds. docs/guarantees.md, "What is known".

use quorate_quorum::SiteSet;
use quorate_session::{CallId, Name};

pub(super) const NAME: &str = "views";

pub(super) fn of_called_free(call: CallId, name: &Name, sites: &SiteSet) -> String {
    format!("sites {sites} call {name} free, and call {} is valid", call.0)
}

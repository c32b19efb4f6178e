//! No site or client breaks an invariant of its own, no site reports that another broke the
//! contract, and no caller is told something impossible.
//!
//! All sites run this code, so a message that its receiver calls a violation is our fault.

use std::fmt::Display;

use quorate_quorum::SiteId;
use quorate_session::CallId;

use crate::cluster::event::ClientName;

pub(super) const NAME: &str = "contract";

/// Notes that correct sites never write.
const NEVER: [&str; 5] = [
    "broke the contract",
    "wrong half",
    "is no peer",
    "there can be no such session",
    "the name is in use otherwise",
];

pub(super) fn of_note(site: SiteId, about: SiteId, what: &str) -> Result<(), String> {
    let wrong = NEVER.iter().any(|never| what.contains(never));
    if wrong { Err(format!("{site} notes of {about}: {what}")) } else { Ok(()) }
}

pub(super) fn of_panic(whose: &dyn Display, message: &str) -> String {
    format!("{whose} broke an invariant: {message}")
}

pub(super) fn of_deaf(site: SiteId) -> String {
    format!("site {site} has a deadline and did not ask to be woken")
}

pub(super) fn of_overdue(client: ClientName) -> String {
    format!("{client} has a deadline that has passed")
}

pub(super) fn of_misled(client: ClientName, call: CallId, what: &str) -> String {
    format!("call {} of {client} {what}", call.0)
}

//! No site breaks an invariant of its own, and none finds that another broke the contract.
//!
//! All sites run this code: a message that its receiver calls a violation is our mistake.

use quorate_quorum::SiteId;

pub(super) const NAME: &str = "contract";

/// Notes that no history of honest sites leads to.
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

pub(super) fn of_panic(site: SiteId, message: &str) -> String {
    format!("site {site} broke an invariant: {message}")
}

pub(super) fn of_deaf(site: SiteId) -> String {
    format!("site {site} has a deadline and did not ask to be woken")
}

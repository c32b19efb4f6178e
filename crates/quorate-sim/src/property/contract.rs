//! Sites that follow the protocol never break its contract, nor an invariant of their own.

use quorate_protocol::Violation;
use quorate_quorum::SiteId;

pub(super) const NAME: &str = "contract";

pub(super) fn of_violation(site: SiteId, violation: Violation) -> String {
    format!("{site} was sent what no correct site sends: {violation}")
}

pub(super) fn of_panic(site: SiteId, message: &str) -> String {
    format!("{site} broke an invariant: {message}")
}

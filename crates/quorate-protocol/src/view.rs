//! The state of a protocol, for validity and for display.

use std::time::Duration;

use quorate_quorum::{SiteId, SiteSet};

use crate::token::Stamp;
use crate::{Tick, Ticket};

/// What a grant's validity depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValidityBasis {
    /// Nothing: the claim is not inside.
    Nothing,
    /// The permissions of these sites.
    Permissions(SiteSet),
    /// This site's delegation about this request, until the deadline it sends.
    Delegation(SiteId, Ticket),
    /// Leases of the protocol itself, until this time or the end of our session at this site,
    /// whichever is earlier.
    Until(Tick, Option<SiteId>),
}

/// One resource as one site sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The claims of this site.
    pub claims: Vec<ClaimView>,
    /// The tickets to which this site has lent its permission, as far as it knows.
    pub lent: Vec<Ticket>,
    /// The tickets that wait here, the next one first.
    pub queue: Vec<Ticket>,
    /// The round of the token, if there is one and it is here.
    pub token: Option<Stamp>,
    /// When the waiters here can enter at the earliest, if holders declare how long they stay.
    pub etas: Vec<Eta>,
}

/// The earliest time at which a request can enter, from the declared durations of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eta {
    /// The request.
    pub ticket: Ticket,
    /// The start of the wait, by the clock of the site that computed it; `None` if the wait starts
    /// when the group's turn comes, which is unknown.
    pub from: Option<Tick>,
    /// The length of the wait.
    pub after: Duration,
}

/// A caller's claim: inside, or waiting for some sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimView {
    /// Its ticket.
    pub ticket: Ticket,
    /// Whether it is inside.
    pub inside: bool,
    /// Whether an arbiter replied that it has to wait.
    pub held_up: bool,
    /// The sites whose permission is missing.
    pub missing: Vec<SiteId>,
}

//! What a protocol shows of itself.

use std::time::Duration;

use quorate_quorum::{SiteId, SiteSet};

use crate::token::Stamp;
use crate::{Tick, Ticket};

/// What a grant rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Nothing: the claim is not inside.
    Nothing,
    /// The permissions of these sites.
    Permissions(SiteSet),
    /// One site's word about this request, for as long as it tells.
    Word(SiteId, Ticket),
    /// Leases of the protocol's own, which end then, or with our session at this site if that is
    /// earlier: then it forgets us.
    Until(Tick, Option<SiteId>),
}

/// One resource as one site sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The claims of this site's callers.
    pub claims: Vec<ClaimView>,
    /// The tickets to which this site's permission is lent, as far as it knows.
    pub lent: Vec<Ticket>,
    /// The tickets that wait here, the next one first.
    pub queue: Vec<Ticket>,
    /// The session of the token, if there is one and it is here.
    pub token: Option<Stamp>,
    /// When those who wait here can get in, where they declare how long they stay.
    pub etas: Vec<Eta>,
}

/// When a request can get in at the earliest, by what others declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eta {
    /// The request.
    pub ticket: Ticket,
    /// The moment from which the time counts, by the clock of the site that says it; `None` if it
    /// is the one at which it is the group's turn, which nobody knows.
    pub from: Option<Tick>,
    /// How long it takes from then on.
    pub after: Duration,
}

/// A caller's claim: inside, or waiting for some sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimView {
    /// Its ticket.
    pub ticket: Ticket,
    /// Whether it is inside.
    pub inside: bool,
    /// Whether it was told to wait for somebody.
    pub held_up: bool,
    /// The sites whose permission it still waits for.
    pub missing: Vec<SiteId>,
}

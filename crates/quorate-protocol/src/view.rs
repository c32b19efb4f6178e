//! What a protocol shows of itself.

use quorate_quorum::{SiteId, SiteSet};

use crate::Ticket;

/// What a grant rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Nothing: the claim is not inside.
    Nothing,
    /// The permissions of these sites.
    Permissions(SiteSet),
    /// One site's word about this request, for as long as it tells.
    Word(SiteId, Ticket),
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

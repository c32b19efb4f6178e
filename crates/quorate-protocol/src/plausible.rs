//! Numbers of other sites, checked where they enter.
//!
//! Numbers only grow, so one number near the end of its type would use up all that follow it, here
//! and on disk. No honest site is ever refused: `docs/decisions/0019-plausible-numbers.md` has the
//! argument for each bound.

use quorate_quorum::SiteId;

use crate::{Fence, Fences, GrantNo, Shared, Ticket, Violation};

/// No Lamport time, fence or other number that only grows is above this one.
pub const NUMBER_MAX: u64 = 1 << 62;

/// By how much a Lamport time or a fence of another site may lie above ours the first time.
pub const JUMP_MAX: u64 = 1 << 48;

/// By how much numbers of other sites may lie above ours.
///
/// A number that is further away is rejected, and then twice that distance is allowed. So one
/// message moves nothing far, and no honest site is rejected for ever, whatever it was told itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jumps {
    time: u64,
    fence: u64,
}

impl Default for Jumps {
    fn default() -> Self {
        Self { time: JUMP_MAX, fence: JUMP_MAX }
    }
}

/// By how much the number of a loan may lie above the last one that its arbiter knows.
pub(crate) const LOANS_AHEAD_MAX: u64 = 1 << 32;

/// A field of a message that cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Field {
    /// A site that the cluster does not have.
    Site,
    /// A Lamport time far above ours.
    Time,
    /// A fence far above ours.
    Fence,
    /// The number of a loan that was never made.
    Loan,
    /// The number of a request that was never made.
    #[strum(serialize = "request number")]
    RequestNumber,
    /// An epoch far above those known.
    Epoch,
    /// A round that no token reaches.
    Round,
    /// A lease that is missing, or longer than any.
    Lease,
    /// A queue with an empty entry, or with a request of ours that we did not make.
    Queue,
    /// A token that cannot have been passed to us.
    Token,
    /// A version of a ledger that no ledger reaches.
    Version,
}

/// Whether a number lies at most so far above another.
pub(crate) fn is_near(number: u64, known: u64, ahead: u64) -> bool {
    number <= known.saturating_add(ahead)
}

impl Shared {
    /// An error about a field, unless it is plausible.
    pub(crate) fn check(&self, plausible: bool, field: Field) -> Result<(), Violation> {
        let accepted = plausible || !self.checks_numbers();
        if accepted { Ok(()) } else { Err(Violation::Implausible(field)) }
    }

    pub(crate) fn check_site(&self, site: SiteId) -> Result<(), Violation> {
        self.check(site.index() < self.n(), Field::Site)
    }

    pub(crate) fn check_sites<'a>(
        &self,
        sites: impl IntoIterator<Item = &'a SiteId>,
    ) -> Result<(), Violation> {
        sites.into_iter().try_for_each(|site| self.check_site(*site))
    }

    pub(crate) fn check_time(&self, time: u64) -> Result<(), Violation> {
        self.check_near(time, self.clock.time(), self.jumps.time, Field::Time)
    }

    pub(crate) fn check_ticket(&self, ticket: Ticket) -> Result<(), Violation> {
        self.check_site(ticket.site)?;
        self.check_time(ticket.time)
    }

    pub(crate) fn check_fence(&self, fence: Fence) -> Result<(), Violation> {
        self.check_near(fence.0, self.ceil().0, self.jumps.fence, Field::Fence)
    }

    fn check_near(&self, number: u64, ours: u64, jump: u64, field: Field) -> Result<(), Violation> {
        self.check(number <= NUMBER_MAX, field)?;
        self.check(is_near(number, ours, jump), field).map_err(|_| Violation::Far(field))
    }

    /// A message was rejected, and the stream that it came in is over. If its number was only far
    /// above ours, one of twice the distance is accepted from now on.
    pub fn note_rejected(&mut self, violation: Violation) {
        let jump = match violation {
            Violation::Far(Field::Time) => &mut self.jumps.time,
            Violation::Far(Field::Fence) => &mut self.jumps.fence,
            _ => return,
        };
        *jump = (*jump * 2).min(NUMBER_MAX);
    }

    pub(crate) fn check_fences(&self, fences: Fences) -> Result<(), Violation> {
        self.check_fence(fences.floor)?;
        self.check_fence(fences.ceil)
    }

    /// Whether a loan can have this number at all.
    pub(crate) fn check_loan(&self, number: GrantNo) -> Result<(), Violation> {
        self.check(number.count <= NUMBER_MAX, Field::Loan)
    }
}

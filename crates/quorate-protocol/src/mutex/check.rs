//! Whether a message can be true, as far as its receiver knows.

use super::arbiter::Arbiter;
use super::{Message, Pass, Release, Target};
use crate::plausible::{Field, LOANS_AHEAD_MAX, is_near};
use crate::{GrantNo, Shared, Violation};

impl Message {
    /// Checks sites, times, fences and numbers of loans.
    pub(super) fn check(&self, site: &Shared) -> Result<(), Violation> {
        site.check_ticket(self.ticket())?;
        match self {
            Message::Request { cut, .. } | Message::Direct { cut, .. } => site.check_sites(cut),
            Message::Reply { arbiter, number, then, fences, .. } => {
                site.check_site(*arbiter)?;
                site.check_loan(*number)?;
                check_targets(site, then)?;
                site.check_fences(*fences)
            }
            Message::Inquire { number, then, .. } => {
                site.check_loan(*number)?;
                check_targets(site, then)
            }
            Message::Transfer { number, next, .. } => {
                site.check_loan(*number)?;
                check_targets(site, [next])
            }
            Message::Yield { number, passed, .. } => {
                site.check_loan(*number)?;
                check_pass(site, passed.as_ref())
            }
            Message::Release(Release { number, passed, floor, .. }) => {
                site.check_loan(*number)?;
                site.check_fence(*floor)?;
                check_pass(site, passed.as_ref())
            }
            Message::Where { upto: number, .. }
            | Message::Lack { upto: number, .. }
            | Message::Have { number, .. } => site.check_loan(*number),
            Message::Raise { ceil, .. } | Message::Raised { ceil, .. } => site.check_fence(*ceil),
            Message::Fail { .. } | Message::Cancel { .. } => Ok(()),
        }
    }

    /// The loan of the arbiter that it is about, if it is for one.
    fn loan_of_arbiter(&self) -> Option<GrantNo> {
        match self {
            Message::Yield { number, .. }
            | Message::Release(Release { number, .. })
            | Message::Have { number, .. }
            | Message::Lack { upto: number, .. } => Some(*number),
            _ => None,
        }
    }
}

fn check_targets<'a>(
    site: &Shared,
    targets: impl IntoIterator<Item = &'a Target>,
) -> Result<(), Violation> {
    targets.into_iter().try_for_each(|target| site.check_ticket(target.ticket))
}

fn check_pass(site: &Shared, pass: Option<&Pass>) -> Result<(), Violation> {
    pass.map_or(Ok(()), |pass| check_targets(site, pass.rest.iter().chain([&pass.next])))
}

impl Arbiter {
    /// Whether a message is about a loan that can be one of ours. Holders pass the permission on
    /// and number the loans, but in our incarnation, and few of them before they report it.
    pub(super) fn check_loan(&self, site: &Shared, message: &Message) -> Result<(), Violation> {
        let Some(number) = message.loan_of_arbiter() else { return Ok(()) };
        let ours = site.incarnation();
        let known = if self.number.incarnation == ours { self.number.count } else { 0 };
        let known = known.max(site.loans());
        let ahead = number.incarnation == ours && !is_near(number.count, known, LOANS_AHEAD_MAX);
        site.check(number.incarnation <= ours && !ahead, Field::Loan)
    }
}

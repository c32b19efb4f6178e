//! Whether a message can be true, as far as its receiver knows.

use super::Message;
use crate::{Shared, Violation};

impl Message {
    /// Checks sites, times, fences and numbers of loans.
    pub(super) fn check(&self, site: &Shared) -> Result<(), Violation> {
        site.check_ticket(self.ticket())?;
        match self {
            Message::Ok { number, fences, clock, .. } => {
                site.check_loan(*number)?;
                site.check_fences(*fences)?;
                site.check_time(*clock)
            }
            Message::Cancel { number, .. } | Message::Cancelled { number, .. } => {
                site.check_loan(*number)
            }
            Message::Release { floor, .. } => floor.map_or(Ok(()), |floor| site.check_fence(floor)),
            Message::Raise { ceil, .. } | Message::Raised { ceil, .. } => site.check_fence(*ceil),
            Message::Named { fences, .. } => site.check_fences(*fences),
            Message::Request { .. }
            | Message::Wait { .. }
            | Message::Name { .. }
            | Message::Taken { .. } => Ok(()),
        }
    }
}

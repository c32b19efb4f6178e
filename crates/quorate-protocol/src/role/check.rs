//! Whether a message can be true, as far as its receiver knows.

use super::Message;
use crate::{Shared, Violation};

impl Message {
    /// Checks sites, times, fences and numbers of loans.
    pub(super) fn check(&self, site: &Shared) -> Result<(), Violation> {
        site.check_ticket(self.ticket())?;
        match self {
            Message::RepProcess { pr, fence, stage_fence, .. } => {
                site.check_ticket(*pr)?;
                site.check_fence(*fence)?;
                site.check_fence(*stage_fence)
            }
            Message::Revoke { pr, .. } => site.check_ticket(*pr),
            Message::RecGroup { number, fences, clock, .. } => {
                site.check_loan(*number)?;
                site.check_fences(*fences)?;
                site.check_time(*clock)
            }
            Message::RelGroup { number, .. } | Message::RepRelGroup { number, .. } => {
                site.check_loan(*number)
            }
            Message::LibGroup { floor, .. } => {
                floor.map_or(Ok(()), |floor| site.check_fence(floor))
            }
            Message::Raise { ceil, .. } | Message::Raised { ceil, .. } => site.check_fence(*ceil),
            Message::ReqProcess { .. }
            | Message::Wait { .. }
            | Message::RelProcess { .. }
            | Message::ReqGroup { .. }
            | Message::Queued { .. } => Ok(()),
        }
    }
}

//! Whether a message can be true, as far as its receiver knows.

use super::Message;
use crate::{Shared, Violation};

impl Message {
    /// Checks sites, times and fences.
    pub(super) fn check(&self, site: &Shared) -> Result<(), Violation> {
        site.check_ticket(self.ticket())?;
        match self {
            Message::Ok { fences, waiting, clock, .. } => {
                site.check_fences(*fences)?;
                site.check_time(*clock)?;
                waiting.iter().try_for_each(|(ticket, _)| site.check_ticket(*ticket))
            }
            Message::Enter { pivot, fence, clock, .. } => {
                site.check_ticket(*pivot)?;
                site.check_fence(*fence)?;
                site.check_time(*clock)
            }
            Message::Lock { fence, .. } => site.check_fence(*fence),
            Message::Raise { ceil, .. } | Message::Raised { ceil, .. } => site.check_fence(*ceil),
            _ => Ok(()),
        }
    }
}

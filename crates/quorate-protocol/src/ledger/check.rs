//! Whether a message can be true, as far as its receiver knows.

use super::Message;
use crate::plausible::{Field, NUMBER_MAX};
use crate::{Shared, Violation};

impl Message {
    /// Checks sites, times, fences, versions, and that all units are some of the pool's.
    pub(super) fn check(&self, site: &Shared, units: u32) -> Result<(), Violation> {
        for ticket in self.tickets() {
            site.check_ticket(ticket)?;
        }
        let exist = self.numbers().all(|numbers| numbers.last().is_some_and(|&last| last < units));
        if let (false, Some(ticket)) = (exist, self.tickets().next()) {
            return Err(Violation::Numbers(ticket));
        }
        match self {
            Message::Request { known: version, .. }
            | Message::Joined { version, .. }
            | Message::Gone { version, .. } => check_version(site, *version),
            Message::Part { update } => check_version(site, update.version),
            Message::Reply { update, fences, clock, .. } => {
                check_version(site, update.version)?;
                site.check_fences(*fences)?;
                site.check_time(*clock)
            }
            Message::Enter { floor, .. } => site.check_fence(*floor),
            Message::Raise { ceil, .. } | Message::Raised { ceil, .. } => site.check_fence(*ceil),
            _ => Ok(()),
        }
    }
}

fn check_version(site: &Shared, version: u64) -> Result<(), Violation> {
    site.check(version <= NUMBER_MAX, Field::Version)
}

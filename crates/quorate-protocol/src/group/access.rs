//! A read-write lock is a group lock.

use quorate_quorum::SiteId;
use quorate_session::Access;

use super::{Claim, Group};
use crate::ClaimId;

impl Claim {
    /// What the caller of `claim` at `site` asks of the group lock: all readers are one group, and
    /// each writer is a group of its own.
    ///
    /// A claim's number is not used again while its site lives. A site that has restarted may use
    /// it again: nobody lets it in before the sessions of its former life are over, and with them
    /// what a writer of that name had.
    pub fn of_access(access: Access, site: SiteId, ClaimId(claim): ClaimId) -> Self {
        let group = match access {
            Access::Read => Group::new("read"),
            Access::Write => Group::new(&format!("write {site}/{claim}")),
        };
        Self { groups: [group].into_iter().collect(), hasty: false }
    }
}

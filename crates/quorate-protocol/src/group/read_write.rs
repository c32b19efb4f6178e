//! A read-write lock as a group lock.

use quorate_quorum::SiteId;
use quorate_session::Access;

use super::{Claim, Group};
use crate::ClaimId;

impl Claim {
    /// The group claim for read or write access: all readers share one group, and each writer has a
    /// group of its own.
    ///
    /// A site does not reuse a claim number while it runs. After a restart it may, but it is not
    /// admitted until the sessions of its previous incarnation have ended, and with them every
    /// grant of a writer with the same group name.
    pub fn of_access(access: Access, site: SiteId, ClaimId(claim): ClaimId) -> Self {
        let group = match access {
            Access::Read => Group::new("read"),
            Access::Write => Group::new(&format!("write {site}/{claim}")),
        };
        Self { groups: [group].into_iter().collect(), no_wait: false }
    }
}

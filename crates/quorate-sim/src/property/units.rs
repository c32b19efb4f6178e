//! Never more units inside than there are.
//!
//! Manabe & Tajima, theorem 1. A lock that is no pool is one unit, and has `exclusion` for it.

use quorate_protocol::pool::Units as Size;
use quorate_quorum::SiteId;

pub(super) const NAME: &str = "units";

/// How many units are inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Units {
    inside: u32,
}

impl Units {
    pub(super) fn on_enter(&mut self, site: SiteId, size: Size) -> Result<(), String> {
        let before = self.inside;
        self.inside += size.count;
        if self.inside <= size.of {
            return Ok(());
        }
        Err(format!("{site} enters with {size} while {before} are inside"))
    }

    pub(super) fn on_leave(&mut self, size: Size) {
        self.inside -= size.count;
    }
}

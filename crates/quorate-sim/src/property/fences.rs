//! Fences grow along conflicting grants.
//!
//! DESIGN of the site layer: a fence is above every fence used before it on that resource. Those of
//! a pool order only grants that could not have been inside together; the members of a group share
//! one.

use quorate_protocol::Fence;

use crate::Marks;

pub(super) const NAME: &str = "fences grow";

/// The highest fence granted so far, by kind of grant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Fences {
    highest: Vec<Fence>,
}

impl Fences {
    pub(super) fn on_enter(&mut self, fence: Fence, marks: &Marks) -> Result<(), String> {
        let before = |kind: &usize| self.highest.get(*kind).copied();
        let highest = marks.above.iter().filter_map(before).max().unwrap_or_default();
        let level = marks.level.iter().filter_map(before).max().unwrap_or_default();
        for &kind in &marks.own {
            if self.highest.len() <= kind {
                self.highest.resize(kind + 1, Fence::default());
            }
            self.highest[kind] = self.highest[kind].max(fence);
        }
        if fence > highest && fence >= level {
            return Ok(());
        }
        Err(format!("fence {fence} follows fence {}", highest.max(level)))
    }
}

//! Fences grow along conflicting grants.
//!
//! DESIGN of the site layer: a fence is above every fence used before it on that resource.

use quorate_protocol::Fence;

pub(super) const NAME: &str = "fences grow";

/// The highest fence granted so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Fences {
    highest: Fence,
}

impl Fences {
    pub(super) fn on_enter(&mut self, fence: Fence) -> Result<(), String> {
        let highest = self.highest;
        self.highest = highest.max(fence);
        if fence > highest {
            return Ok(());
        }
        Err(format!("fence {fence} follows fence {highest}"))
    }
}

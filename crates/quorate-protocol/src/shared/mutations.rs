//! Changes to the shared state of a site, for mutants.

use super::Shared;
use crate::Fence;

impl Shared {
    /// Sets the floor back to an earlier value.
    pub(crate) fn keep_floor(&mut self, floor: Fence) {
        self.floor = floor;
    }
}

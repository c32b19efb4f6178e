//! What locks with a repair undone do to the state that all resources of a site share.

use super::Shared;
use crate::Fence;

impl Shared {
    /// Forgets that the floor was raised.
    pub(crate) fn keep_floor(&mut self, floor: Fence) {
        self.floor = floor;
    }
}

//! Changes to the shared state of a site, for mutants.

use super::Shared;
use crate::Fence;

impl Shared {
    /// Sets whether the numbers of other sites are checked.
    pub fn check_numbers(&mut self, checked: bool) {
        self.trusts_numbers = !checked;
    }

    /// Whether numbers of other sites are checked.
    pub fn checks_numbers(&self) -> bool {
        !self.trusts_numbers
    }

    /// Sets the floor back to an earlier value.
    pub(crate) fn keep_floor(&mut self, floor: Fence) {
        self.floor = floor;
    }
}

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

    /// A session counts as closed here that is not: fences may have been used in it until now.
    pub(crate) fn end_session(&mut self) {
        self.ended_ceil = self.ceil;
    }

    /// Sets the floor back to an earlier value.
    pub(crate) fn keep_floor(&mut self, floor: Fence) {
        self.floor = floor;
    }
}

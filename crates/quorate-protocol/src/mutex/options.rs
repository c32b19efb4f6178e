//! The switches of the mutex.

use std::time::Duration;

/// Which of the paper's refinements are on, by default all, and when a holder asks for spare
/// permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "four independent switches of the paper")]
pub struct Options {
    /// The paper's main idea: a leaving holder passes the permission straight to the next request.
    /// If off, the permission returns to its arbiter first, as in Maekawa's algorithm, and the
    /// other three switches have no effect.
    pub passing: bool,
    /// Section 5.2.1: a request that yields a permission passes it straight to the request it
    /// yields to.
    pub yield_pass: bool,
    /// Section 5.3: the head of the queue is told in advance which request comes after it.
    pub ahead: bool,
    /// Section 5.3: a holder keeps all requests announced to it and passes the rest on.
    pub lists: bool,
    /// A request that has been inside for so long asks every site it reaches for a spare
    /// permission; `None`: never. Not in the paper; a site derives it from the lease.
    pub spares: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self { passing: true, yield_pass: true, ahead: true, lists: true, spares: None }
    }
}

impl Options {
    /// The basic algorithm of section 3, without its refinements.
    pub fn basic() -> Self {
        Self { yield_pass: false, ahead: false, lists: false, ..Self::default() }
    }

    /// The names of the options: four switches, and a time.
    pub const NAMES: [&'static str; 5] = ["passing", "yield_pass", "ahead", "lists", "spares"];

    /// Turns the switch called `name` on or off; false if there is no such switch.
    pub fn set(&mut self, name: &str, on: bool) -> bool {
        let switch = match name {
            "passing" => &mut self.passing,
            "yield_pass" => &mut self.yield_pass,
            "ahead" => &mut self.ahead,
            "lists" => &mut self.lists,
            _ => return false,
        };
        *switch = on;
        true
    }
}

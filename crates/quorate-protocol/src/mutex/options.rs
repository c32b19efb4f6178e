//! The switches of the mutex.

/// Which of the paper's refinements are on; by default all are.
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
}

impl Default for Options {
    fn default() -> Self {
        Self { passing: true, yield_pass: true, ahead: true, lists: true }
    }
}

impl Options {
    /// The basic algorithm of section 3, without its refinements.
    pub fn basic() -> Self {
        Self { passing: true, yield_pass: false, ahead: false, lists: false }
    }

    /// The names of the switches, as options spell them.
    pub const NAMES: [&'static str; 4] = ["passing", "yield_pass", "ahead", "lists"];

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

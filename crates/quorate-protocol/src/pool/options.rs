//! The switches of a pool.

/// How a pool behaves where the paper leaves a choice. All are off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Messages may overtake each other or come twice: an arbiter remembers every request that is
    /// over. Sessions keep the order, and there the memory would refuse a request that asks again
    /// after its session was lost.
    pub unordered: bool,
    /// Who fits may pass by a request that does not, as long as there would be room for both.
    /// Otherwise whatever comes back is kept for the first in line.
    pub bypass: bool,
}

impl Options {
    /// The names of the switches, as options are spelt by people.
    pub const NAMES: [&'static str; 2] = ["unordered", "bypass"];

    /// Turns the switch called `name` on or off; false if there is none of that name.
    pub fn set(&mut self, name: &str, on: bool) -> bool {
        let switch = match name {
            "unordered" => &mut self.unordered,
            "bypass" => &mut self.bypass,
            _ => return false,
        };
        *switch = on;
        true
    }
}

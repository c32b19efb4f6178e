//! The options of a ledger pool.

use std::time::Duration;

/// How a ledger pool sends ledgers, and when a caller inside registers at more sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// A ledger with at most so many entries is sent whole with every permission. Of a longer one
    /// only the changes are sent that the borrower does not know.
    pub whole: usize,
    /// A caller that has been inside for so long registers with every site it reaches; `None`:
    /// never. A site derives it from the lease.
    pub spares: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self { whole: 32, spares: None }
    }
}

impl Options {
    /// The names of the options: a number, and a time.
    pub const NAMES: [&'static str; 2] = ["whole", "spares"];
}

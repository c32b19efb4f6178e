//! Why a grant was lost.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a grant was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Why {
    /// The permissions it depends on no longer contain a quorum.
    NoQuorum,
    /// The delegation it depends on has expired.
    DelegationExpired,
    /// It has stayed for longer than it declared. Its caller is told to stop, and the claim is
    /// released when it has.
    Overdue,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::NoQuorum => f.write_str("the sites that support it are no longer a quorum"),
            Why::Overdue => f.write_str("it has stayed for longer than it declared"),
            Why::DelegationExpired => f.write_str("the delegation it depends on has expired"),
        }
    }
}

//! The timer of a claim that stays inside.

use std::fmt;

use crate::ClaimId;

/// Expires when this claim has been inside for some time: it collects spare permissions then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StayTimer(pub ClaimId);

impl fmt::Display for StayTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stay-{}", self.0.0)
    }
}

//! Naive twins: every construction for small n against its definition, over all sets of sites.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod defined;
mod twins;

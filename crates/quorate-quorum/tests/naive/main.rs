//! Naive twins: every construction for small n against its definition, over all sets of sites.

mod defined;
mod twins;

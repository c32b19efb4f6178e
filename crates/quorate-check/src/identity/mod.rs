//! Searches every schedule of the identities of three sites, one of whose folders is wiped, set
//! back or copied.
//!
//! The sites run the production code of the identity layer alone; the world around it has disks,
//! and connections that break after any message. `docs/site.md` says what was searched.

mod model;
mod world;

pub use model::{IdentityAction, IdentityReport, IdentitySpace, check_identities};

//! One whole site as pure code: what lets protocols written for reliable channels and known
//! crashes run on a real network.
//!
//! Built so far: [`session`], the leases and streams between sites, and [`validity`], how long a
//! grant that rests on them is good. `docs/site.md` is their page.

mod error;
pub mod session;
pub mod validity;

pub use error::SiteError;

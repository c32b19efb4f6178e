//! One whole site as pure code: what lets protocols written for reliable channels and known
//! crashes run on a real network.
//!
//! Start at [`Site`]: it joins the [sessions](quorate_session::session) between sites, the table of
//! resources and the callers of this site. [`registry`] is the one list of protocols.
//! `docs/site.md` is its page.

pub mod client_gateway;
mod config;
mod disk;
mod effect;
pub mod registry;
mod resource;
mod said;
mod site;
pub mod validity;

#[cfg(test)]
extern crate self as quorate_site; // the tests inside use the same network as those outside

pub use config::Config;
pub use disk::{Disk, Past, TOKENS_MAX};
pub use effect::{Audit, Effect, Grant, Input};
pub use quorate_protocol::{group, role, token};
pub use said::Said;
pub use site::{GrantState, Site};

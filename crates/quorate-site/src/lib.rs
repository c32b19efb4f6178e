//! One whole site as pure code: what lets protocols written for reliable channels and known
//! crashes run on a real network.
//!
//! Start at [`Site`]: it joins the [`session`]s between sites, the table of resources and the
//! callers of this site. [`registry`] is the one list of protocols. `docs/site.md` is its page.

mod claim;
mod config;
mod disk;
mod effect;
mod error;
pub mod gate;
mod name;
mod question;
pub mod registry;
mod resource;
mod said;
pub mod session;
mod site;
pub mod validity;
mod view;

#[cfg(test)]
extern crate self as quorate_site; // the tests inside use the same network as those outside

pub use claim::{CallId, Card, Claim, Denial, Grant, Loss};
pub use config::Config;
pub use disk::{Disk, Past, TOKENS_MAX};
pub use effect::{Audit, Break, Effect, Input};
pub use error::SiteError;
pub use name::Name;
pub use question::{Answer, AskId, PeerReport, Question, SiteReport};
pub use quorate_protocol::group::{self, Access, Group, Groups};
pub use quorate_protocol::pool::Units;
pub use quorate_protocol::role::{self, Role};
pub use quorate_protocol::token;
pub use registry::{Got, Kind, Want};
pub use said::Said;
pub use site::Site;
pub use view::{CallView, EtaView, RequestView, ResourceView, Standing, explain};

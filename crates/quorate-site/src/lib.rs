//! One whole site as pure code. It lets protocols that assume reliable channels and known crashes
//! run on a real network.
//!
//! Start at [`Site`]: it joins the [sessions](quorate_session::session) between sites, the table of
//! locks and the callers of this site. [`kinds`] lists the kinds of lock. See `docs/site.md`.

pub mod client_gateway;
mod config;
mod disk;
mod effect;
pub mod identity;
pub mod kinds;
mod lock;
mod site;
mod site_message;
pub mod validity;

pub use config::Config;
pub use disk::{Disk, Kept, Past};
pub use effect::{Audit, Effect, Grant, Input};
pub use identity::{SitePacket, Start, StartError};
pub use quorate_protocol::{group, role, token};
pub use site::{GrantState, Site};
pub use site_message::{Addressed, Delegation, SiteMessage};

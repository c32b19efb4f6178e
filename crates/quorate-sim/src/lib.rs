//! A simulated cluster: a protocol at every site, channels between them, and properties that are
//! checked after every event.
//!
//! [`cluster`] runs whole sites, with clocks, connections, disks and faults.
//!
//! A [`World`] moves only when told. Three drivers tell it: scripts, seeds, and the checker of
//! `quorate-check`, which tries every schedule.

mod chance;
mod channels;
mod claims;
pub mod cluster;
mod event;
mod property;
mod quorums;
pub mod random;
pub mod script;
mod subject;
mod subjects;
mod world;

pub use channels::{Lane, Order};
pub use claims::Claims;
pub use event::{Event, Observer, Unwatched, who};
pub use property::{Breach, PROPERTIES, properties};
pub use quorums::{Quorums, Shape};
pub use subject::{Marks, Subject, Warrant};
pub use subjects::{Catalogue, Ours, PROTOCOLS, Setting, Visitor, coterie, site_settings, visit};
pub use world::{Contract, Fault, Faults, Slips, Standpoint, World};

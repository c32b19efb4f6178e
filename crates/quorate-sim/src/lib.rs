//! A simulated cluster: a protocol at every site, channels between them, and properties that are
//! checked after every event.
//!
//! [`cluster`] runs whole sites, with clocks, connections, disks and faults.
//!
//! A [`World`] moves only when told. Three drivers tell it: scripts, seeds, and the checker of
//! `quorate-check`, which tries every schedule.

mod chance;
mod channels;
pub mod cluster;
mod event;
mod property;
pub mod random;
pub mod script;
mod subject;
mod subjects;
mod world;

pub use channels::Lane;
pub use event::{Event, Observer, Unwatched};
pub use property::{Breach, PROPERTIES};
pub use subject::Subject;
pub use subjects::{PROTOCOLS, Setting, Visitor, site_settings, visit};
pub use world::{Contract, Fault, Faults, Standpoint, World};

//! A simulated cluster: a protocol at every site, channels between them, and properties that are
//! checked after every event.
//!
//! [`cluster`] runs whole sites, with clocks, connections, disks and faults.
//!
//! A world moves only when told. Three drivers tell it, through [`AnyWorld`]: scripts, seeds, and
//! the checker of `quorate-check`, which tries every schedule.

mod chance;
mod channels;
mod claims;
pub mod cluster;
mod event;
mod memo;
mod property;
mod quorums;
pub mod random;
pub mod script;
mod setup;
mod subject;
mod subjects;
mod world;

pub use channels::{Lane, Order};
pub use claims::{Claim, Claims};
pub use event::{Caller, Event, Grant, Message, Observer, Unwatched, Value};
pub use property::{Breach, PROPERTIES, properties};
pub use quorums::{Quorums, Shape};
pub use setup::{AnyProtocol, AnySetup, Catalogue, Configured, Facts, Setting, Setup, setup};
pub use subject::{Marks, Subject, Warrant};
pub use subjects::{Mutant, PROTOCOLS, coterie, find, site_settings};
pub use world::{AnyWorld, Channel, Contract, Fault, Faults, Slips, Standpoint, TimerView};

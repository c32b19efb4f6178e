//! A simulated cluster: a protocol at every site, channels between them, and properties that are
//! checked after every event.
//!
//! [`cluster`] runs whole sites, with clocks, connections, disks and faults.
//!
//! A world does nothing by itself. Three drivers move it, through [`AnyWorld`]: scripts, seeds, and
//! the checker of `quorate-check`, which tries every schedule.

mod chance;
mod channels;
mod claims;
pub mod cluster;
mod event;
mod memo;
mod property;
mod protocols;
mod quorums;
pub mod random;
pub mod script;
mod setup;
mod sim_protocol;
mod time;
mod world;

pub use channels::{Lane, Order};
pub use claims::{Claim, Claims};
pub use event::{Caller, Event, Grant, Message, Observer, Unwatched, Value};
pub use property::{Breach, PROPERTIES, properties};
pub use protocols::{LedgerQuorums, PROTOCOLS, SimMutant, coterie, find, site_settings};
pub use quorums::{Quorums, Shape};
pub use setup::{AnyProtocol, AnySetup, Catalogue, Configured, Facts, Setting, Setup, setup};
pub use sim_protocol::{Delegation, FenceOrder, SimProtocol};
pub use world::{
    AnyWorld, Channel, ClaimState, Contract, Fault, Faults, SessionlessFaults, TimerView,
};

//! Lies: changed frames for the decoder, and changed packets that decode for whole sites.
//!
//! Exclusion is not promised against a peer that lies. A site must live: no panic, no endless step,
//! a bounded number of effects, no implausible number on disk, and it starts again from its disk.
//! See `docs/fuzzing.md`.

mod case;
mod chance;
mod clients;
mod cluster;
mod frames;
mod judge;
mod mutator;
mod run;
mod spans;
mod victim;

pub use case::{Case, place};
pub use cluster::Locks;
pub use frames::{Frames, frames};
pub use run::{Failure, Plan, Report, run};
pub use victim::Event;

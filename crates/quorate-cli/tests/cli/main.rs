//! The program `quorate` as a shell sees it: what it prints, and how it exits.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod bench;
mod check;
mod cluster;
mod connections;
mod deadlines;
mod drain;
mod elect;
mod faults;
mod full_disk;
mod groups;
mod identity;
mod known;
mod laboratory;
mod limits;
mod lock;
mod many_clients;
mod pools;
mod program;
mod queries;
mod quorum;
mod roles;
mod serve;
mod tokens;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_quorate");

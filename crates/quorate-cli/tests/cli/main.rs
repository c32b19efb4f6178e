//! The program `quorate` as a shell sees it: what it prints, and how it exits.

mod bench;
mod crowd;
mod elect;
mod faults;
mod groups;
mod laboratory;
mod lock;
mod quorum;
mod roles;
mod serve;
mod sites;
mod tell;
mod tokens;
mod tools;
mod units;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_quorate");

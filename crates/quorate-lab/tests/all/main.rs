//! The laboratory: its library, and the program `quorate-lab` as a shell sees it.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod baselines;
mod blocking;
mod boxes;
mod browser;
mod check;
mod experiments;
mod figures;
mod fuzz;
mod lab;
mod quorum;
mod random;
mod report;
mod scenarios;
mod script;
mod spaces;
mod stories;
#[path = "../../../quorate-cli/tests/cli/program.rs"]
mod tools;
mod trace;
mod whole;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_quorate-lab");

/// An answer of one JSON object a line.
fn json_lines(done: &tools::Done) -> Vec<serde_json::Value> {
    done.out.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

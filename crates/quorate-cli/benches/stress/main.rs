//! What one busy client, one busy site or one hostile peer costs everybody else, measured on real
//! processes: `cargo bench -p quorate-cli --bench stress -- names --sites 5 --count 100000`.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail anywhere")]
#![allow(clippy::disallowed_methods, reason = "faults last for a time")]

mod burst;
mod bystander;
mod client;
#[allow(dead_code, reason = "the tests of the program use the rest")]
#[path = "../../tests/cli/cluster.rs"]
mod cluster;
mod crashes;
mod failover;
mod lateness;
mod names;
#[allow(dead_code, reason = "the tests of the program use the rest")]
#[path = "../../tests/cli/program.rs"]
mod program;
mod sites;
mod waiters;

use clap::{Parser, Subcommand};

/// The program that is measured.
const PROGRAM: &str = env!("CARGO_BIN_EXE_quorate");

/// Measure what a busy client, a busy site or a hostile peer costs everybody else
#[derive(Debug, Parser)]
#[command(name = "stress")]
struct Arguments {
    #[command(subcommand)]
    scenario: Scenario,
    /// The number of sites
    #[arg(long, global = true, default_value_t = 3)]
    sites: usize,
    /// How many names, claims or waiters
    #[arg(long, global = true, default_value_t = 100_000)]
    count: usize,
    /// The length of a lease, in milliseconds
    #[arg(long, global = true, default_value_t = 3000)]
    lease_ms: u64,
    /// What cargo passes to every benchmark
    #[arg(long, global = true, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Scenario {
    /// Hold many names through one site while the others restart, pause or are cut off
    Names,
    /// Claim many names at once, beside another client
    Burst,
    /// Kill one site after the other beside locks that are waited for everywhere, and count the
    /// grants that are lost
    Crashes {
        /// How many times a site is killed
        #[arg(long, default_value_t = 70)]
        times: usize,
    },
    /// Let the site of a client go away, and measure how soon another serves it; then how late
    /// deadlines are
    Failover,
    /// Queue many waiters on one name, and ask who they are
    Waiters,
}

fn main() {
    let arguments = Arguments::parse();
    match arguments.scenario {
        Scenario::Names => names::run(&arguments),
        Scenario::Burst => burst::run(&arguments),
        Scenario::Crashes { times } => crashes::run(&arguments, times),
        Scenario::Failover => failover::run(&arguments),
        Scenario::Waiters => waiters::run(&arguments),
    }
}

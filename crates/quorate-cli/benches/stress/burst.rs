//! One client claims many names at once; another one wants its own lock now and then.

use std::time::{Duration, Instant};

use crate::Arguments;
use crate::bystander::Bystander;
use crate::client::{hold_names, run as run_client};
use crate::sites::Sites;

/// How long the bystander is measured alone.
const ALONE: Duration = Duration::from_secs(3);

/// Prints how long a bystander waits before and during a burst.
pub(crate) fn run(arguments: &Arguments) {
    let sites = Sites::start(arguments);
    let alone = Bystander::alone(sites.address(1), ALONE);
    println!("bystander alone: {alone}");
    let bystander = Bystander::start(sites.address(1));
    let start = Instant::now();
    run_client(async {
        let guards = hold_names(sites.address(1), arguments.count).await;
        println!("{} names claimed at once, held after {:.1?}", guards.len(), start.elapsed());
        let lost = guards.iter().filter(|guard| !guard.is_valid()).count();
        println!("{lost} of them lost");
    });
    let during = bystander.finish();
    println!("bystander meanwhile: {during}");
    let ratio = during.median() as f64 / alone.median() as f64;
    println!("median meanwhile / alone: {ratio:.1}");
    println!("peak memory of site 1: {} MiB", sites.cluster.peak_memory(1));
}

//! How many messages a second the simulator delivers, properties on, and how that depends on the
//! number of sites. One thread, heavy load: many sites ask at once, and again as soon as they can.
//!
//! `cargo bench -p quorate-sim`

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quorate_protocol::mutex::{Mutex, Options};
use quorate_quorum::{Kind, build};
use quorate_sim::random::{Delay, Plan, Span, T, run};
use quorate_sim::{Claims, Unwatched};

/// Claims from `callers` sites, spread over the cluster.
fn plan(n: usize, callers: usize, requests: u32, delay: Delay) -> Plan {
    let asks = |site| if site % (n / callers) == 0 { requests } else { 0 };
    let grid = build(Kind::Grid, n).expect("a grid takes every number of sites");
    Plan {
        requests: (0..n).map(asks).collect(),
        inside: Span::Fixed(T / 2),
        delay,
        ..Plan::calm::<Mutex>(grid, Options::default(), Claims::all(vec![()]))
    }
}

fn messages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("messages");
    group.sample_size(10);
    for (n, callers, requests) in [(25, 25, 100), (100, 100, 20), (1_000, 500, 2), (10_000, 500, 1)]
    {
        for (name, delay) in [("constant", Delay::Constant), ("exponential", Delay::Exponential)] {
            let plan = plan(n, callers, requests, delay);
            let delivered = run(&plan, 1, &mut Unwatched).tally.messages;
            group.throughput(Throughput::Elements(delivered));
            group.bench_with_input(BenchmarkId::new(name, n), &plan, |bench, plan| {
                bench.iter(|| run(plan, 1, &mut Unwatched));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, messages);
criterion_main!(benches);

//! How long it takes to build a quorum system, and to pick a live quorum from it.
//!
//! `cargo bench -p quorate-quorum`

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use quorate_quorum::{Kind, SiteId, SiteSet, build};

const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

fn construction(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("build");
    for kind in Kind::all() {
        for n in SIZES {
            group.bench_function(BenchmarkId::new(kind.name(), n), |bench| {
                bench.iter(|| build(*kind, black_box(n)).expect("any number of sites fits"));
            });
        }
    }
}

/// A site's own quorum with all sites up, and the nearest live one with one member of it down.
fn live_choice(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pick");
    for kind in Kind::all() {
        for n in SIZES {
            let system = build(*kind, n).expect("any number of sites fits");
            let (site, all) = (SiteId::new(n / 3), SiteSet::full(n));
            let own = system.pick_for(site, &all).expect("all sites are up");
            let mut live = all.clone();
            let lost = own.iter().find(|member| *member != site);
            live.remove(lost.expect("a quorum has other members"));
            let other = system.pick_for(site, &live);
            assert!(other.is_some_and(|other| system.is_quorum(&other) && other.is_subset(&live)));
            group.bench_function(BenchmarkId::new(format!("{kind}, own"), n), |bench| {
                bench.iter(|| system.pick_for(black_box(site), &all));
            });
            group.bench_function(BenchmarkId::new(format!("{kind}, one down"), n), |bench| {
                bench.iter(|| system.pick_for(black_box(site), &live));
            });
        }
    }
}

criterion_group!(benches, construction, live_choice);
criterion_main!(benches);

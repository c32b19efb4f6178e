//! The time the mutex takes for one message, at the arbiter and at the requester.
//!
//! `cargo bench -p quorate-protocol`

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use quorate_protocol::mutex::{Fences, Message, Mutex, Options, Release, Target};
use quorate_protocol::{
    ClaimId, Effect, Fence, GrantNo, Input, Out, Protocol, SessionNo, Shared, Tick, Ticket,
};
use quorate_quorum::{Kind, SiteId, build};

const SITES: usize = 25;

fn site() -> (Mutex, Shared) {
    let quorums = build(Kind::Grid, SITES).expect("a grid takes every number of sites");
    (Mutex::new(Options::default()), Shared::new(SiteId::new(0), quorums))
}

fn ticket(time: u64, site: usize) -> Ticket {
    Ticket { time, site: SiteId::new(site), claim: ClaimId(1) }
}

fn feed(mutex: &mut Mutex, shared: &mut Shared, out: &mut Out<Mutex>, input: Input<Mutex>) {
    mutex.step(shared, Tick::ZERO, input, out).expect("the input keeps the contract");
    for effect in out.drain() {
        std::hint::black_box::<Effect<Mutex>>(effect);
    }
}

/// Eight requests arrive at one arbiter, and each gets the permission and releases it: half of the
/// messages are requests, half are releases.
fn arbiter(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("arbiter");
    group.throughput(Throughput::Elements(16));
    group.bench_function("request and release", |bench| {
        bench.iter_batched(
            site,
            |(mut mutex, mut shared)| {
                let mut out = Out::new();
                for other in 1..=8 {
                    let ticket = ticket(1, other);
                    let request = Input::Deliver(
                        ticket.site,
                        Message::Request { ticket, held: false, cut: [].into() },
                    );
                    feed(&mut mutex, &mut shared, &mut out, request);
                }
                for other in 1..=8 {
                    let ticket = ticket(1, other);
                    let number = GrantNo::new(other as u64);
                    let floor = Fence(other as u64 + 1);
                    let release = Release { ticket, number, passed: None, floor };
                    let release = Input::Deliver(ticket.site, Message::Release(release));
                    feed(&mut mutex, &mut shared, &mut out, release);
                }
                mutex
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// A claim collects the nine permissions of its quorum and leaves.
fn requester(criterion: &mut Criterion) {
    let ((_, shared), session) = (site(), SessionNo(0));
    let quorum: Vec<SiteId> = shared.quorum().expect("every site has one").iter().collect();
    let mut group = criterion.benchmark_group("requester");
    group.throughput(Throughput::Elements(quorum.len() as u64));
    group.bench_function("a whole entry, per reply", |bench| {
        bench.iter_batched(
            site,
            |(mut mutex, mut shared)| {
                let mut out = Out::new();
                feed(&mut mutex, &mut shared, &mut out, Input::Acquire(ClaimId(1), ()));
                for &arbiter in &quorum {
                    let (to, number) = (Target { ticket: ticket(1, 0), session }, GrantNo::new(1));
                    let (then, fences) = ([].into(), Fences { floor: Fence(1), ceil: Fence(9) });
                    let reply = Message::Reply { arbiter, to, number, then, fences };
                    feed(&mut mutex, &mut shared, &mut out, Input::Deliver(arbiter, reply));
                }
                feed(&mut mutex, &mut shared, &mut out, Input::Release(ClaimId(1)));
                mutex
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, arbiter, requester);
criterion_main!(benches);

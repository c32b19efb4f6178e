//! Table 1 of Cao & Singhal 2001, measured: messages for an entry under light and heavy load, and
//! the delay from one holder to the next. Delays are constant, so that the figures are exact.

use std::collections::BTreeSet;
use std::sync::Arc;

use quorate_laboratory::baselines::{
    Lamport, Maekawa, Raymond, RicartAgrawala, SinghalDynamic, SinghalHeuristic, SuzukiKasami,
};
use quorate_laboratory::{Algorithm, find};
use quorate_quorum::SiteId;
use quorate_sim::random::{Plan, Span, T, Tally, run};
use quorate_sim::{AnySetup, Claim, Claims, Event, Observer, Order, Shape, Unwatched};

/// So many sites, on the quorums that the algorithm uses if nothing is said.
fn cluster<A: Algorithm>(n: usize) -> Arc<dyn AnySetup> {
    let algorithm = find(A::NAME, &[]).expect("it is known");
    let shape = Shape::Kind(A::QUORUM.to_owned(), n);
    algorithm.setup(&shape, &[]).expect("such quorums exist")
}

fn measure<A: Algorithm>(n: usize, inside: u64, requests: u32) -> Tally {
    let plan = Plan::calm_in(cluster::<A>(n), Claims::all(vec![()]));
    let plan = Plan { requests: vec![requests; n], inside: Span::Fixed(inside), ..plan };
    let outcome = run(&plan, 1, &mut Unwatched);
    assert_eq!((outcome.breach, outcome.tally.unserved), (None, 0));
    outcome.tally
}

/// What a stretch of heavy load costs: everybody asks again at once. Beginning and end of a run
/// are the same whatever its length, so two runs of different length differ by the middle alone.
fn heavy<A: Algorithm>(n: usize, inside: u64) -> Tally {
    let (short, mut long) = (measure::<A>(n, inside, 20), measure::<A>(n, inside, 40));
    long.entries -= short.entries;
    long.messages -= short.messages;
    long.handovers -= short.handovers;
    long.handover_ticks -= short.handover_ticks;
    long
}

/// Asserts what an entry costs, and how long a hand-over takes, each as a fraction.
fn assert_heavy<A: Algorithm>(n: usize, messages: (u64, u64), handover: (u64, u64)) {
    for inside in [2 * T, T / 10] {
        let tally = heavy::<A>(n, inside);
        assert_eq!(tally.messages * messages.1, tally.entries * messages.0, "{} of {n}", A::NAME);
        let claimed = tally.handovers * T * handover.0;
        assert_eq!(tally.handover_ticks * handover.1, claimed, "{} of {n}", A::NAME);
    }
}

/// As the table says, but for three. The dynamic structure costs 2(N-1), as the introduction of the
/// paper has it, and not 3(N-1)/2. Maekawa costs 4(K-1) while requests come in their order. The
/// token of Raymond walks once around the tree in N entries, however deep that is: 2(N-1)/N edges
/// for each, with a request and a privilege on every edge; less than 4, and than T(log N)/2.
#[test]
fn heavy_load() {
    for n in [3, 9, 16] {
        let sites = n as u64;
        let others = sites - 1;
        assert_heavy::<Lamport>(n, (3 * others, 1), (1, 1));
        assert_heavy::<RicartAgrawala>(n, (2 * others, 1), (1, 1));
        assert_heavy::<SinghalDynamic>(n, (2 * others, 1), (1, 1));
        assert_heavy::<SuzukiKasami>(n, (sites, 1), (1, 1));
        assert_heavy::<SinghalHeuristic>(n, (sites, 1), (1, 1));
    }
    for n in [3, 7, 15, 31, 63] {
        let sites = n as u64;
        assert_heavy::<Raymond>(n, (4 * (sites - 1), sites), (2 * (sites - 1), sites));
    }
    for (n, k) in [(9, 5), (16, 7), (25, 9)] {
        assert_heavy::<Maekawa>(n, (4 * (k - 1), 1), (2, 1));
    }
}

/// Counts messages between different sites.
#[derive(Default)]
struct Meter(u64);

impl Observer for Meter {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        if let Event::Sends { from, to, .. } = event {
            self.0 += u64::from(from != to);
        }
    }
}

/// What each entry costs when sites enter one after the other, and nobody else asks.
fn light<A: Algorithm>(n: usize, order: &[usize]) -> Vec<u64> {
    let (mut world, claim) = (cluster::<A>(n).world(None, Order::Fifo), Claim::of(()));
    let cost = |site: &usize| {
        let (site, mut meter) = (SiteId::new(*site), Meter::default());
        let claim = world.acquire(site, &claim, &mut meter).expect("it may ask");
        world.settle(&mut meter);
        world.release(site, claim, &mut meter).expect("it is inside");
        world.settle(&mut meter);
        assert_eq!(world.breach(), None);
        meter.0
    };
    order.iter().map(cost).collect()
}

/// Sites in an order without a pattern.
fn mixed(n: usize, entries: usize) -> Vec<usize> {
    (1..=entries).map(|entry| entry * entry * 7 / 3 % n).collect()
}

/// For each entry, the sites that were inside since its own last one; at the beginning those before
/// it in the list of sites are.
fn since(order: &[usize]) -> Vec<u64> {
    let distinct = |at: usize| {
        let mine = order[..at].iter().rposition(|site| *site == order[at]);
        let later = &order[mine.map_or(0, |mine| mine + 1)..at];
        let first = if mine.is_none() { 0..order[at] } else { 0..0 };
        first.chain(later.iter().copied()).collect::<BTreeSet<_>>().len() as u64
    };
    (0..order.len()).map(distinct).collect()
}

/// The way from one node of a heap to another, in edges.
fn distance(mut a: usize, mut b: usize) -> u64 {
    let mut edges = 0;
    while a != b {
        if a > b {
            a = (a - 1) / 2;
        } else {
            b = (b - 1) / 2;
        }
        edges += 1;
    }
    edges
}

/// As the table says where it is exact. The dynamic structure asks who was inside since, twice half
/// of the others on average, which is N-1; the heuristic half of the others, and the token; Raymond
/// there and back along the tree.
#[test]
fn light_load() {
    for n in [2, 3, 9, 16] {
        let order = mixed(n, 60);
        let others = n as u64 - 1;
        assert!(light::<Lamport>(n, &order).iter().all(|cost| *cost == 3 * others));
        assert!(light::<RicartAgrawala>(n, &order).iter().all(|cost| *cost == 2 * others));
        let holders = [0].into_iter().chain(order.iter().copied());
        let moves: Vec<_> = holders.zip(order.iter().copied()).collect();
        let tokens = moves.iter().map(|(from, to)| if from == to { 0 } else { others + 1 });
        assert_eq!(light::<SuzukiKasami>(n, &order), tokens.collect::<Vec<_>>());
        let ways = moves.iter().map(|(from, to)| 2 * distance(*from, *to));
        assert_eq!(light::<Raymond>(n, &order), ways.collect::<Vec<_>>());
        let asked = since(&order);
        let twice: Vec<_> = asked.iter().map(|sites| 2 * sites).collect();
        assert_eq!(light::<SinghalDynamic>(n, &order), twice);
        let looked =
            asked.iter().zip(&moves).map(|(sites, (from, to))| sites + u64::from(from != to));
        assert_eq!(light::<SinghalHeuristic>(n, &order), looked.collect::<Vec<_>>());
    }
    for (n, k) in [(4, 3), (9, 5), (16, 7)] {
        assert!(light::<Maekawa>(n, &mixed(n, 30)).iter().all(|cost| *cost == 3 * (k - 1)));
    }
}

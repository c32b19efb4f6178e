//! Loads and resilience beside those of another library, on systems both can express.

use quoracle::{Distribution, Expr, Node, Objective, StrategyLimits, choose, majority};
use quorate_quorum::analysis::{Class, dual, mixed_load, smallest_stop};
use quorate_quorum::{Kind, SiteId, SiteSet, build};

use crate::tools::{all, set};

fn node(site: usize) -> Expr<usize> {
    Expr::Node(Node::new(site))
}

fn every(mut exprs: impl Iterator<Item = Expr<usize>>) -> Expr<usize> {
    let first = exprs.next().expect("at least one");
    exprs.fold(first, |all, expr| all * expr)
}

fn either(mut exprs: impl Iterator<Item = Expr<usize>>) -> Expr<usize> {
    let first = exprs.next().expect("at least one");
    exprs.fold(first, |any, expr| any + expr)
}

/// Any of these quorums.
fn expression(quorums: &[SiteSet]) -> Expr<usize> {
    either(quorums.iter().map(|quorum| every(quorum.iter().map(SiteId::index).map(node))))
}

fn peer_load(system: &quoracle::QuorumSystem<usize>, reads: f64) -> f64 {
    let reads = Distribution::fixed(reads).unwrap();
    let limits = StrategyLimits::default();
    let strategy = system.strategy(Objective::Load, Some(&reads), None, &limits, 0).unwrap();
    strategy.load(Some(&reads), None).unwrap()
}

fn our_load(n: usize, reads: &[SiteSet], writes: &[SiteSet], share: f64) -> f64 {
    let classes = [
        Class { share, quorums: reads.to_vec() },
        Class { share: 1.0 - share, quorums: writes.to_vec() },
    ];
    mixed_load(&classes, &vec![1.0; n]).unwrap().upper
}

#[test]
fn the_grid_of_two_rows_is_three_eighths_busy_at_a_quarter_of_reads() {
    let reads = [set(&[0, 1, 2]), set(&[3, 4, 5])];
    let writes = dual(&reads).unwrap();
    let peer = quoracle::QuorumSystem::from_reads(expression(&reads));
    for quarters in 0..=4 {
        let share = f64::from(quarters) / 4.0;
        let (ours, theirs) = (our_load(6, &reads, &writes, share), peer_load(&peer, share));
        assert!((ours - theirs).abs() < 1e-6, "{share}: {ours} {theirs}");
    }
    assert!((our_load(6, &reads, &writes, 0.25) - 3.0 / 8.0).abs() < 1e-9);
    let stops = |quorums: &[SiteSet]| smallest_stop(6, quorums).unwrap().len();
    assert_eq!((stops(&reads) - 1, stops(&writes) - 1), (1, 2));
    assert_eq!((peer.read_resilience(), peer.write_resilience()), (1, 2));
}

#[test]
fn exclusive_quorums_have_the_load_the_peer_finds() {
    let kinds = [(Kind::Grid, 4), (Kind::Grid, 9), (Kind::Plane, 7), (Kind::Tree, 7)];
    for (kind, n) in kinds.into_iter().chain([(Kind::Weighted, 6), (Kind::Cyclic, 8)]) {
        let quorums = all(&*build(kind, n).unwrap());
        // Reads are as exclusive as writes: their dual would have too many quorums for the peer.
        let (reads, writes) = (expression(&quorums), expression(&quorums));
        let peer = quoracle::QuorumSystem::new(reads, writes).unwrap();
        let ours = our_load(n, &quorums, &quorums, 0.0);
        let theirs = peer_load(&peer, 0.0);
        assert!((ours - theirs).abs() < 1e-6, "{kind} of {n}: {ours} {theirs}");
    }
}

#[test]
fn majorities_and_thresholds_have_the_load_the_peer_finds() {
    for n in [3, 4, 5, 7] {
        let peer =
            quoracle::QuorumSystem::from_writes(majority((0..n).map(node).collect()).unwrap());
        let quorums = all(&*build(Kind::Majority, n).unwrap());
        let (ours, theirs) = (our_load(n, &quorums, &quorums, 0.0), peer_load(&peer, 0.0));
        assert!((ours - theirs).abs() < 1e-6, "majority of {n}: {ours} {theirs}");
    }
    let peer = quoracle::QuorumSystem::from_reads(choose(2, (0..5).map(node).collect()).unwrap());
    let reads: Vec<_> = (0..5).flat_map(|a| (0..a).map(move |b| set(&[a, b]))).collect();
    let writes = dual(&reads).unwrap();
    let (ours, theirs) = (our_load(5, &reads, &writes, 0.5), peer_load(&peer, 0.5));
    assert!((ours - theirs).abs() < 1e-6, "{ours} {theirs}");
}

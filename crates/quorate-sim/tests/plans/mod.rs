//! Plans of random runs with faults.

use std::sync::Arc;

use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Delay, Plan, Span, T};
use quorate_sim::{Claims, Contract, Faults, Order, Slips, Subject};

/// One quorum system for all claims.
pub(crate) type System = Arc<dyn QuorumSystem>;

/// All that is lost comes back; fence ceilings are moved on by two, so that they are.
pub(crate) const MENDED: Contract = Contract { reopens: true, restarts: true, fence_block: 2 };

/// Majorities of `n` sites that ask twice each.
pub(crate) fn plan<P: Subject<Claim = (), Quorums = System>>(
    n: usize,
    options: P::Options,
    faults: Faults,
) -> Plan<P> {
    Plan {
        quorums: build(Kind::Majority, n).unwrap(),
        options,
        claims: Claims::all(vec![()]),
        requests: vec![2; n],
        think: Span::UpTo(10 * T),
        inside: Span::UpTo(3 * T),
        gives_up: 0,
        delay: Delay::Exponential,
        skew: false,
        order: Order::Fifo,
        faults: Some(faults),
        slips: Slips::default(),
    }
}

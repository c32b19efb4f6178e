//! Plans of random runs with faults.

use std::sync::Arc;

use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::Plan;
use quorate_sim::{Claims, Faults, SimProtocol};

/// One quorum system for all claims.
pub(crate) type System = Arc<dyn QuorumSystem>;

/// Majorities of `n` sites that ask twice each.
pub(crate) fn plan<P: SimProtocol<Claim = (), Quorums = System>>(
    n: usize,
    options: P::Options,
    faults: Faults,
) -> Plan {
    let plan = Plan::new::<P>(build(Kind::Majority, n).unwrap(), options, Claims::all(vec![()]));
    Plan { faults: Some(faults), ..plan }
}

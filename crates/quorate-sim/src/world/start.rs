//! Initial worlds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quorate_protocol::{FENCE_BLOCK, Tick};
use quorate_quorum::SiteId;

use super::links::Links;
use super::uncompared::{Fixed, Scratch};
use super::{Contract, Node, World};
use crate::channels::{Channels, Order};
use crate::memo::Memo;
use crate::property::Monitor;
use crate::{Quorums, Setup, SimProtocol};

impl<P: SimProtocol> World<P> {
    /// A cluster in its initial state. With sessions, channels keep the order.
    pub(crate) fn of_setup(setup: Arc<Setup<P>>, contract: Option<Contract>, order: Order) -> Self {
        let order = if contract.is_some() { Order::Fifo } else { order };
        let (quorums, options) = (&setup.quorums, &setup.options);
        let fence_block = contract.map_or(FENCE_BLOCK, |contract| contract.fence_block);
        let mut monitor = Monitor::new();
        let node = |site| {
            let shared = quorums.shared(site).with_fence_block(fence_block);
            let protocol = P::at(site, quorums, options);
            monitor.on_token(None, protocol.held_token());
            Memo::new(Node {
                held_token: protocol.held_token(),
                protocol,
                timers: BTreeMap::new(),
                disk_ceil: shared.ceil(),
                disk: None,
                shared,
                claims: BTreeMap::new(),
                claims_made: 0,
                vacant: true,
                up: true,
            })
        };
        Self {
            nodes: SiteId::all(quorums.n()).map(node).collect(),
            channels: Channels::new(quorums.n(), order),
            now: Tick::ZERO,
            waiting: 0,
            inside: 0,
            occupied: 0,
            monitor,
            contract,
            links: Links::default(),
            crashed_holders: Vec::new(),
            delegated_holders: Vec::new(),
            crashed_roots: BTreeMap::new(),
            expired_roots: BTreeSet::new(),
            lingering: Vec::new(),
            armed: 0,
            futile: 0,
            scratch: Scratch::default(),
            fixed: Fixed(setup),
        }
    }
}

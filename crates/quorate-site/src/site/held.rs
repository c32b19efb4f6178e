//! Effects that wait until other sites have registered a write of this one.

use std::collections::{BTreeSet, VecDeque};

use quorate_quorum::SiteId;
use quorate_session::CallId;
use quorate_session::session::Packet;

use super::site_core::SiteCore;
use crate::effect::Effect;
use crate::identity::SitePacket;

/// Effects that wait for the registration of a write.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// The number of the write.
    number: u64,
    /// From which effect of the present step on they wait.
    from: Option<usize>,
    /// Whether effects of an earlier step wait.
    holding: bool,
    effects: VecDeque<Effect>,
    /// The calls whose grants wait.
    calls: BTreeSet<CallId>,
}

impl Held {
    /// The effects of the present step from index `from` on, and all later ones, wait until write
    /// `number` is registered.
    pub(super) fn hold(&mut self, number: u64, from: usize) {
        self.number = number;
        self.from.get_or_insert(from);
    }

    /// The connection with the peer has gone, and with it what was to be sent on it.
    pub(super) fn drop_packets(&mut self, peer: SiteId) {
        self.effects.retain(
            |effect| !matches!(effect, Effect::Packet(to, SitePacket::Session(_)) if *to == peer),
        );
    }

    /// Whether an effect waits: it may reveal what a raised ceiling allowed, or it is about a grant
    /// that waits. Leases are renewed meanwhile, and a caller that was granted its lock before
    /// learns at once what becomes of it.
    fn keeps(&mut self, effect: &Effect) -> bool {
        match effect {
            Effect::Packet(_, SitePacket::Session(Packet::Up(..) | Packet::Down(..))) => true,
            Effect::Grant(call, _) => {
                self.calls.insert(*call);
                true
            }
            Effect::Degraded(call, _)
            | Effect::Restored(call)
            | Effect::Broken(call, ..)
            | Effect::Lost(call, _) => self.calls.contains(call),
            _ => false,
        }
    }
}

impl SiteCore {
    /// The effects of a step that need not wait, in order, after those that have waited.
    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        let step = std::mem::take(&mut self.out);
        let held = &mut self.held;
        let from = held.from.take();
        if self.identity.registered_writes() >= held.number {
            held.holding = false;
            held.calls.clear();
            if held.effects.is_empty() {
                return step;
            }
            let mut all: Vec<Effect> = held.effects.drain(..).collect();
            all.extend(step);
            return all;
        }
        let first = if held.holding { 0 } else { from.unwrap_or(step.len()) };
        held.holding = true;
        let mut passing = Vec::new();
        for (place, effect) in step.into_iter().enumerate() {
            if place < first || !held.keeps(&effect) {
                passing.push(effect);
            } else {
                held.effects.push_back(effect);
            }
        }
        passing
    }
}

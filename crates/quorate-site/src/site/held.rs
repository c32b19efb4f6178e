//! Effects that wait until other sites have registered a write of this one.

use std::collections::BTreeMap;

use quorate_quorum::SiteId;
use quorate_session::session::Packet;
use quorate_session::{CallId, Queue};

use super::site_core::SiteCore;
use crate::effect::Effect;
use crate::identity::SitePacket;

/// Effects that wait for the registration of writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// The number of the latest write that effects of earlier steps wait for.
    number: u64,
    /// The writes of the present step: from which effect on, and the number.
    writes: Vec<(usize, u64)>,
    /// The effects, each with the number of its write. A steady stream of writes must not hold back
    /// what waits for the first of them.
    effects: Queue<(u64, Effect)>,
    /// The calls whose grants wait, and how many effects of each wait.
    calls: BTreeMap<CallId, usize>,
}

impl Held {
    /// The effects of the present step from index `from` on, and all later ones, wait until write
    /// `number` is registered.
    pub(super) fn hold(&mut self, number: u64, from: usize) {
        self.writes.push((from, number));
    }

    /// The connection with the peer has gone, and with it what was to be sent on it.
    pub(super) fn drop_packets(&mut self, peer: SiteId) {
        let gone = |effect: &Effect| match effect {
            Effect::Packet(to, SitePacket::Session(_)) => *to == peer,
            _ => false,
        };
        self.effects.retain(|(_, effect)| !gone(effect));
    }

    /// The effects whose writes are registered, in order.
    fn release(&mut self, registered: u64) -> Vec<Effect> {
        let mut released = Vec::new();
        while let Some((_, effect)) = self.effects.pop_front_if(|(number, _)| *number <= registered)
        {
            if let Some(call) = call_of(&effect)
                && let Some(waiting) = self.calls.get_mut(&call)
            {
                *waiting -= 1;
                if *waiting == 0 {
                    self.calls.remove(&call);
                }
            }
            released.push(effect);
        }
        released
    }

    /// Whether an effect waits: it may reveal what a raised ceiling allowed, or it is about a grant
    /// that waits. Leases are renewed meanwhile, and a caller that was granted its lock before
    /// learns at once what becomes of it.
    fn keeps(&self, effect: &Effect) -> bool {
        match effect {
            Effect::Packet(_, SitePacket::Session(Packet::Up(..) | Packet::Down(..)))
            | Effect::Grant(..) => true,
            effect => call_of(effect).is_some_and(|call| self.calls.contains_key(&call)),
        }
    }

    /// Keeps an effect until write `number` is registered.
    fn keep(&mut self, number: u64, effect: Effect) {
        if let Some(call) = call_of(&effect) {
            *self.calls.entry(call).or_default() += 1;
        }
        self.effects.push_back((number, effect));
    }
}

/// The call whose grant an effect is about.
fn call_of(effect: &Effect) -> Option<CallId> {
    match effect {
        Effect::Grant(call, _)
        | Effect::Degraded(call, _)
        | Effect::Restored(call)
        | Effect::Broken(call, ..)
        | Effect::Lost(call, _) => Some(*call),
        _ => None,
    }
}

impl SiteCore {
    /// The effects of a step that need not wait, in order, after those that have waited.
    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        let step = std::mem::take(&mut self.out);
        let registered = self.identity.registered_writes();
        let held = &mut self.held;
        let mut writes = std::mem::take(&mut held.writes).into_iter().peekable();
        if writes.peek().is_none() && held.effects.is_empty() && held.number <= registered {
            return step;
        }
        let mut passing = held.release(registered);
        for (place, effect) in step.into_iter().enumerate() {
            while let Some((_, number)) = writes.next_if(|(from, _)| *from <= place) {
                held.number = number;
            }
            if held.number > registered && held.keeps(&effect) {
                held.keep(held.number, effect);
            } else {
                passing.push(effect);
            }
        }
        held.number = writes.last().map_or(held.number, |(_, number)| number);
        passing
    }
}

//! What an entry of a mutex costs under light and heavy load.

use quorate_quorum::SiteId;
use quorate_sim::random::{Delay, Plan, Span, Tally};
use quorate_sim::{Claim, Claims, Event, Observer, Order, Quorums, SimProtocol, Unwatched, setup};

use super::{Chance, in_t, seeds, served, share};

/// The cost under heavy load: every site asks again at once.
#[derive(Clone, Copy, Debug)]
pub(in crate::experiment) struct Heavy {
    /// Messages for an entry.
    pub(in crate::experiment) messages: f64,
    /// From one holder to the next, in T.
    pub(in crate::experiment) handover: f64,
    /// Entries in T.
    pub(in crate::experiment) throughput: f64,
}

/// The cost under heavy load if every stay takes so many ticks, and every message takes T.
///
/// Two runs of different length have the same beginning and end, so they differ only in the middle.
pub(in crate::experiment) fn heavy<P: SimProtocol<Claim = ()>>(
    quorums: &P::Quorums,
    options: &P::Options,
    inside: u64,
) -> Heavy {
    let plan = crowded::<P>(quorums, options, inside);
    let n = quorums.n();
    let [short, long] = [6, 12]
        .map(|each| served(&Plan { requests: vec![each; n], ..plan.clone() }, 1, &mut Unwatched));
    let entries = long.entries - short.entries;
    let ticks = long.handover_ticks - short.handover_ticks;
    Heavy {
        messages: share(long.messages - short.messages, entries),
        handover: in_t(ticks) / (long.handovers - short.handovers) as f64,
        throughput: entries as f64 / in_t(long.elapsed_ticks - short.elapsed_ticks),
    }
}

/// The cost under heavy load with unequal delays: the mean of some runs in which every site enters
/// forty times.
pub(in crate::experiment) fn uneven<P: SimProtocol<Claim = ()>>(
    quorums: &P::Quorums,
    options: &P::Options,
    inside: u64,
    (seed, runs): (u64, u64),
) -> Heavy {
    let plan = crowded::<P>(quorums, options, inside);
    let plan = Plan { delay: Delay::Exponential, requests: vec![40; quorums.n()], ..plan };
    let mut sum = Tally::default();
    for seed in seeds(seed, runs) {
        sum.add(&served(&plan, seed, &mut Unwatched));
    }
    Heavy {
        messages: share(sum.messages, sum.entries),
        handover: in_t(sum.handover_ticks) / sum.handovers as f64,
        throughput: sum.entries as f64 / in_t(sum.elapsed_ticks),
    }
}

fn crowded<P: SimProtocol<Claim = ()>>(
    quorums: &P::Quorums,
    options: &P::Options,
    inside: u64,
) -> Plan {
    let plan = Plan::calm::<P>(quorums.clone(), options.clone(), Claims::all(vec![()]));
    Plan { inside: Span::Fixed(inside), ..plan }
}

/// Messages for an entry under light load: one caller at a time, at random sites.
pub(in crate::experiment) fn light<P: SimProtocol<Claim = ()>>(
    quorums: &P::Quorums,
    options: &P::Options,
    seed: u64,
) -> f64 {
    // A few rounds first, so that the initial state does not matter.
    light_of::<P>(quorums, options, seed, (5 * quorums.n(), 30 * quorums.n()))
}

/// The same for so many entries, after so many that do not count.
pub(in crate::experiment) fn light_of<P: SimProtocol<Claim = ()>>(
    quorums: &P::Quorums,
    options: &P::Options,
    seed: u64,
    (before, entries): (usize, usize),
) -> f64 {
    let cluster = setup::<P>(quorums.clone(), options.clone());
    let mut world = cluster.world(None, Order::Fifo);
    let (mut meter, mut chance, claim) = (Meter(0), Chance(seed), Claim::of(()));
    for entry in 0..before + entries {
        if entry == before {
            meter.0 = 0;
        }
        let site = SiteId::new(chance.below(quorums.n()));
        let claim = world.acquire(site, &claim, &mut meter).expect("every site may ask");
        world.settle(&mut meter);
        world.release(site, claim, &mut meter).expect("who asks alone is let in");
        world.settle(&mut meter);
    }
    meter.0 as f64 / entries as f64
}

/// Counts messages between different sites.
struct Meter(u64);

impl Observer for Meter {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        if let Event::Sends { from, to, .. } = event {
            self.0 += u64::from(from != to);
        }
    }
}

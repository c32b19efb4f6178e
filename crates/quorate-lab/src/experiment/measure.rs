//! What an entry costs under light and heavy load, with constant delays.

use quorate_quorum::SiteId;
use quorate_sim::random::{Delay, Plan, Span, T, Tally, run};
use quorate_sim::{Claims, Event, Observer, Order, Quorums, Slips, Subject, Unwatched, World};

/// Under heavy load: everybody asks again at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heavy {
    /// Messages for an entry.
    pub(super) messages: f64,
    /// From one holder to the next, in T.
    pub(super) handover: f64,
}

/// What heavy load costs if everybody stays inside for so many ticks.
///
/// Beginning and end of a run are the same whatever its length, so two runs of different length
/// differ by the middle alone.
pub(super) fn heavy<P: Subject<Claim = ()>>(
    quorums: &P::Quorums,
    options: &P::Options,
    inside: u64,
) -> Heavy {
    let [short, long] = [6, 12].map(|requests| tally::<P>(quorums, options, inside, requests));
    let (entries, handovers) = (long.entries - short.entries, long.handovers - short.handovers);
    let ticks = long.handover_ticks - short.handover_ticks;
    Heavy {
        messages: (long.messages - short.messages) as f64 / entries as f64,
        handover: ticks as f64 / handovers as f64 / T as f64,
    }
}

fn tally<P: Subject<Claim = ()>>(
    quorums: &P::Quorums,
    options: &P::Options,
    inside: u64,
    requests: u32,
) -> Tally {
    let plan = Plan::<P> {
        quorums: quorums.clone(),
        options: options.clone(),
        claims: Claims::all(vec![()]),
        requests: vec![requests; quorums.n()],
        think: Span::Fixed(0),
        inside: Span::Fixed(inside),
        gives_up: 0,
        delay: Delay::Constant,
        skew: false,
        order: Order::Fifo,
        faults: None,
        slips: Slips::default(),
    };
    let outcome = run(&plan, 1, &mut Unwatched);
    let served = outcome.breach.is_none() && outcome.tally.unserved == 0;
    assert!(served, "{} serves everybody: {:?}", P::NAME, outcome.breach);
    outcome.tally
}

/// Messages for an entry under light load: one caller at a time, at sites in no particular order.
pub(super) fn light<P: Subject<Claim = ()>>(
    quorums: &P::Quorums,
    options: &P::Options,
    seed: u64,
) -> f64 {
    let mut world = World::<P>::new(quorums, options);
    let (mut meter, n) = (Meter(0), quorums.n());
    // A few rounds, until it no longer matters how everything began.
    let (before, entries) = (5 * n, 30 * n);
    let mut chance = Chance(seed);
    for entry in 0..before + entries {
        if entry == before {
            meter.0 = 0;
        }
        let site = SiteId::new(chance.below(n));
        let claim = world.acquire(site, (), &mut meter).expect("every site may ask");
        settle(&mut world, &mut meter);
        world.release(site, claim, &mut meter).expect("who asks alone is let in");
        settle(&mut world, &mut meter);
    }
    meter.0 as f64 / entries as f64
}

fn settle<P: Subject>(world: &mut World<P>, meter: &mut Meter) {
    while let Some(channel) = { world.busy_channels().next() } {
        world.deliver(channel, meter);
    }
}

/// Counts messages between different sites.
struct Meter(u64);

impl<P: Subject> Observer<P> for Meter {
    fn see(&mut self, _: usize, event: &Event<'_, P>) {
        if let Event::Sends { from, to, .. } = event {
            self.0 += u64::from(from != to);
        }
    }
}

/// Numbers without a pattern, the same for the same seed: splitmix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) % n as u64).expect("below the number of sites")
    }
}

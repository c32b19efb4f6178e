//! Random runs of the pool, and its figures: Manabe & Tajima, section 4.
//!
//! s is the size of a quorum, h the number of units asked for, k how many there are. Requesters
//! stand apart from their arbiters where messages are counted: none is a site's to itself.
//! `docs/protocols/pool.md` sets claim and measurement side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_protocol::pool::mutations::{Mutant, Mutation};
use quorate_protocol::pool::{Claim, Message, Options, Pool, Units};
use quorate_quorum::{Arbiters, SiteId, SiteSet};
use quorate_sim::random::{Plan, Span, T, TimedObserver, run};
use quorate_sim::{
    AnyWorld, Claim as Asked, ClaimState, Claims, Contract, Event, Faults, Lane, Observer, Order,
    SimProtocol, Unwatched, setup,
};

const FOR_GOOD: Contract = Contract { reopens: false, restarts: false, fence_block: 2 };

fn claim(count: usize, of: usize) -> Claim {
    let number = |units| u32::try_from(units).unwrap();
    Claim { units: Units { count: number(count), of: number(of) }, numbered: false, no_wait: false }
}

/// Site after site asks for one unit, two, and so on up to all, and from one on again.
fn mix(k: usize) -> Claims {
    Claims::each((1..=k).map(|h| vec![claim(h, k)]).collect())
}

/// The same by sites that all want to know which units they have.
fn numbered(k: usize) -> Claims {
    let numbered = |h| Claim { numbered: true, ..claim(h, k) };
    Claims::each((1..=k).map(|h| vec![numbered(h)]).collect())
}

fn plan<P>(arbiters: Arbiters, options: P::Options) -> Plan
where
    P: SimProtocol<Claim = Claim, Quorums = Arc<Arbiters>>,
{
    let claims = mix(arbiters.k());
    Plan::new::<P>(Arc::new(arbiters), options, claims)
}

/// So many requesters, and behind them so many arbiters that all are asked.
fn apart(requesters: usize, s: usize, k: usize) -> Arbiters {
    let all: SiteSet = SiteId::all(requesters + s).skip(requesters).collect();
    Arbiters::listed(requesters + s, &vec![vec![all]; k]).unwrap()
}

#[test]
fn every_family_and_every_switch_is_clean() {
    for (n, k) in [(5, 1), (5, 3), (7, 4), (9, 5)] {
        for arbiters in [Arbiters::uniform(n, k), Arbiters::improved(n, k), Arbiters::plain(n, k)] {
            let arbiters = arbiters.unwrap();
            for bypass in [false, true] {
                let options = Options { bypass, ..Options::default() };
                let plan = plan::<Pool>(arbiters.clone(), options);
                Plan { gives_up: 3, skew: true, ..plan }.assert_clean(60);
            }
        }
    }
}

#[test]
fn several_claims_of_a_site_at_once_are_clean() {
    let plan = plan::<Pool>(Arbiters::uniform(5, 4).unwrap(), Options::default());
    let plan = Plan { claims: mix(4).at_once(3), requests: vec![6; 5], gives_up: 3, ..plan };
    plan.assert_clean(300);
}

/// No unit is had twice, a unit's fences grow, and every round of names ends.
#[test]
fn units_with_numbers_are_clean() {
    let mixed = Faults { lose: 6, silent: 6, crash: 2, ..Faults::NONE };
    for (n, k) in [(3, 3), (5, 3), (7, 4)] {
        for faults in [None, Some(mixed)] {
            let plan = plan::<Pool>(Arbiters::uniform(n, k).unwrap(), Options::default());
            let claims = numbered(k).at_once(2);
            Plan { claims, faults, gives_up: 2, ..plan }.assert_clean(300);
        }
    }
}

#[test]
fn messages_may_overtake_each_other_and_come_twice() {
    let options = Options { unordered: true, ..Options::default() };
    let plan = plan::<Pool>(Arbiters::improved(5, 3).unwrap(), options);
    Plan { order: Order::Any { duplicates: 8 }, gives_up: 3, ..plan }.assert_clean(500);
}

#[test]
fn sessions_may_end_and_sites_crash() {
    for (n, k) in [(3, 2), (5, 3), (7, 4)] {
        let plan = plan::<Pool>(Arbiters::uniform(n, k).unwrap(), Options::default());
        let faults = Some(Faults { lose: 6, silent: 4, crash: 2, ..Faults::NONE });
        let tally = Plan { faults, gives_up: 2, ..plan }.assert_clean(500);
        assert!(tally.lost > 0 && tally.crashed > 0);
    }
}

/// As many arbiters as the largest quorum can spare die for good, and everybody else is served.
#[test]
fn arbiters_may_die_as_long_as_a_quorum_is_left() {
    for (n, k) in [(5, 1), (5, 3), (7, 2), (9, 2)] {
        for arbiters in [Arbiters::uniform(n, k), Arbiters::improved(n, k)] {
            let arbiters = arbiters.unwrap();
            let spare = n - arbiters.of(1).unwrap().min_size();
            let crash = u32::try_from(spare).unwrap();
            let faults = Some(Faults { crash, contract: FOR_GOOD, ..Faults::NONE });
            Plan { faults, ..plan::<Pool>(arbiters, Options::default()) }.assert_clean(200);
        }
    }
}

/// One more, and claims without a quorum wait for ever; but they keep nobody else from being
/// served, and nobody gets units that are not there.
#[test]
fn one_death_more_blocks_only_those_without_a_quorum() {
    let arbiters = || Arbiters::uniform(5, 3).unwrap();
    let faults = Some(Faults { crash: 2, contract: FOR_GOOD, ..Faults::NONE });
    let with = Plan { faults, ..plan::<Pool>(arbiters(), Options::default()) };
    let outcomes: Vec<_> = (0..300).map(|seed| run(&with, seed, &mut Unwatched)).collect();
    assert!(outcomes.iter().all(|outcome| outcome.breach.is_none()));
    assert!(outcomes.iter().any(|outcome| outcome.tally.unserved > 0));
    let options = (Options::default(), Mutation::NoWithdrawal);
    let without = Plan { faults, ..plan::<Mutant>(arbiters(), options) };
    let breaches = (0..300).filter_map(|seed| run(&without, seed, &mut Unwatched).breach);
    let breaches: Vec<_> = breaches.map(|breach| breach.property).collect();
    assert!(!breaches.is_empty());
    assert!(breaches.iter().all(|&property| property == "progress"), "{breaches:?}");
}

/// A repair, and a seed of `sessions_may_end_and_sites_crash` that shows what it is for.
#[test]
fn a_seed_shows_what_each_repair_is_for() {
    for (undone, property) in [
        (Mutation::N2, "units"),
        (Mutation::BothHalves, "units"),
        (Mutation::DoneKept, "progress"),
        (Mutation::FloorKept, "fences grow"),
        (Mutation::CeilVolatile, "fences grow"),
        (Mutation::NoRecheck, "progress"),
        (Mutation::TryIgnored, "progress"),
    ] {
        let options = (Options::default(), undone);
        let plan = plan::<Mutant>(Arbiters::uniform(3, 2).unwrap(), options);
        let faults = Some(Faults { lose: 6, silent: 4, crash: 2, ..Faults::NONE });
        let plan = Plan { faults, requests: vec![3; 3], ..plan };
        let broken = |seed| run(&plan, seed, &mut Unwatched).breach.map(|breach| breach.property);
        assert!((0..20_000).any(|seed| broken(seed) == Some(property)), "{undone}");
    }
}

/// The other repairs of numbers have stories: undone, they may go round for ever.
#[test]
fn a_seed_shows_what_the_round_of_names_is_for() {
    let options = (Options::default(), Mutation::Unnamed);
    let plan = plan::<Mutant>(Arbiters::uniform(5, 3).unwrap(), options);
    let plan = Plan { claims: numbered(3), requests: vec![3; 5], ..plan };
    let broken = |seed| run(&plan, seed, &mut Unwatched).breach.map(|breach| breach.property);
    assert!((0..1_000).any(|seed| broken(seed) == Some("exclusion")));
}

/// Undoing it breaks nothing, but a holder that loses a session has less to rest on.
#[test]
fn more_grants_are_lost_if_permissions_that_come_inside_do_not_count() {
    fn lost<P>(options: P::Options) -> u64
    where
        P: SimProtocol<Claim = Claim, Quorums = Arc<Arbiters>>,
    {
        let plan = plan::<P>(Arbiters::uniform(5, 3).unwrap(), options);
        let faults = Some(Faults { lose: 30, silent: 30, ..Faults::NONE });
        let claims = Claims::each(vec![vec![claim(2, 3)], vec![claim(3, 3)]]);
        let (think, inside) = (Span::UpTo(4 * T), Span::UpTo(60 * T));
        let plan = Plan { faults, claims, think, inside, ..plan };
        let run = |seed| {
            let outcome = run(&plan, seed, &mut Unwatched);
            assert_eq!(outcome.breach, None, "seed {seed}");
            outcome.tally.lost
        };
        (0..300).map(run).sum()
    }
    let with = lost::<Pool>(Options::default());
    let without = lost::<Mutant>((Options::default(), Mutation::DropInside));
    assert!(without > with + 200, "{without}, and {with} with the repair");
}

#[test]
fn an_entry_that_nobody_contends_costs_three_messages_an_arbiter() {
    for s in 1..=4 {
        for k in 1..=4 {
            for h in 1..=k {
                let mut plan = plan::<Pool>(apart(1, s, k), Options::default());
                plan.claims = Claims::all(vec![claim(h, k)]);
                plan.requests = [vec![3], vec![0; s]].concat();
                assert_eq!(plan.assert_clean(1).messages, 3 * 3 * s as u64);
            }
        }
    }
}

/// Counts the cancels that each arrival of a request causes.
#[derive(Default)]
struct Cancels {
    arrived: Option<u32>,
    most: BTreeMap<u32, u32>,
    since: u32,
}

impl TimedObserver for Cancels {
    fn see(&mut self, _: quorate_protocol::Tick, depth: usize, event: &Event<'_>) {
        match event {
            Event::Receives { message, .. } if message.kind == "request" => {
                let Message::Request { units, .. } = message.downcast() else { unreachable!() };
                (self.arrived, self.since) = (Some(*units), 0);
            }
            Event::Sends { message, .. } if message.kind == "cancel" => {
                let units = self.arrived.expect("only an arrival makes an arbiter ask back");
                self.since += 1;
                assert!(self.since <= units, "{} cancels for {units} units", self.since);
                let most = self.most.entry(units).or_default();
                *most = self.since.max(*most);
            }
            _ if depth == 0 => self.arrived = None,
            _ => {}
        }
    }
}

#[test]
fn a_request_for_h_units_causes_at_most_h_cancels_at_an_arbiter() {
    // Every other requester asks for one unit.
    let each = (1..=4).flat_map(|h| [vec![claim(1, 4)], vec![claim(h, 4)]]).collect();
    let plan = plan::<Pool>(apart(9, 3, 4), Options::default());
    let requests = [vec![4; 9], vec![0; 3]].concat();
    let plan = Plan { claims: Claims::each(each), requests, ..plan };
    let mut cancels = Cancels::default();
    for seed in 0..400 {
        assert_eq!(run(&plan, seed, &mut cancels).breach, None);
    }
    // Chance reaches the bound up to three; `the_bound_is_reached` reaches four.
    assert_eq!(cancels.most, BTreeMap::from([(1, 1), (2, 2), (3, 3), (4, 3)]));
}

/// Every cancel is charged to the arrival that caused it: one request costs (3h + 3)s at most.
#[test]
fn all_messages_stay_below_the_bound() {
    for (s, k) in [(1, 2), (2, 3), (3, 4), (5, 5)] {
        let requesters = 2 * k;
        let mut plan = plan::<Pool>(apart(requesters, s, k), Options::default());
        plan.requests = [vec![3; requesters], vec![0; s]].concat();
        let claimed = SiteId::all(requesters).map(|site| plan.claims.next(site, 0));
        let claimed = claimed.map(|claim| claim.downcast::<Claim>().units.count);
        let bound: u64 = claimed.map(|h| 3 * (3 * u64::from(h) + 3) * s as u64).sum();
        for seed in 0..200 {
            let outcome = run(&plan, seed, &mut Unwatched);
            assert_eq!((outcome.breach, outcome.tally.unserved), (None, 0));
            assert!(outcome.tally.messages <= bound, "{} of {bound}", outcome.tally.messages);
        }
    }
}

#[derive(Default)]
struct Counted(u64);

impl Observer for Counted {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        self.0 += u64::from(matches!(event, Event::Sends { .. }));
    }
}

/// The worst case of the paper: k requests for one unit each have been lent to everywhere, but know
/// it nowhere whole, when a better one for h arrives everywhere. h of them give everything back.
fn worst_case(s: usize, k: usize, h: usize) -> u64 {
    let arbiters = Arc::new(apart(k + 1, s, k));
    let cluster = setup::<Pool>(arbiters, Options::default());
    let mut world = cluster.world(None, Order::Fifo);
    let mut counted = Counted::default();
    let first = SiteId::new(0);
    let victims: Vec<SiteId> = SiteId::all(k + 1).skip(1).collect();
    let members: Vec<SiteId> = SiteId::all(k + 1 + s).skip(k + 1).collect();
    for &victim in &victims {
        world.set_clock(victim, 10);
        world.acquire(victim, &Asked::of(claim(1, k)), &mut counted).unwrap();
        for &member in &members {
            assert!(world.deliver((victim, member, Lane::Up), &mut counted));
        }
    }
    world.acquire(first, &Asked::of(claim(h, k)), &mut counted).unwrap();
    for &member in &members {
        assert!(world.deliver((first, member, Lane::Up), &mut counted));
    }
    // What the first member lent and asked back arrives before anything of the others.
    for &victim in &victims {
        while world.deliver((members[0], victim, Lane::Up), &mut counted) {}
    }
    while world.in_flight() + world.waiting() > 0 {
        for channel in world.busy_channels() {
            world.deliver(channel, &mut counted);
        }
        release_all(&mut *world, &mut counted);
    }
    release_all(&mut *world, &mut counted);
    assert_eq!(world.breach(), None);
    counted.0 - 3 * (s * (k + 1)) as u64
}

fn release_all(world: &mut dyn AnyWorld, counted: &mut Counted) {
    for site in SiteId::all(world.n()) {
        let claims = world.claims(site).iter();
        let inside = claims.filter(|(_, state)| **state == ClaimState::Inside);
        for claim in inside.map(|(claim, _)| *claim).collect::<Vec<_>>() {
            world.release(site, claim, counted).unwrap();
        }
    }
}

#[test]
fn the_bound_is_reached() {
    for s in 2..=3 {
        for k in 1..=4 {
            for h in 1..=k {
                assert_eq!(worst_case(s, k, h), 3 * (h * s) as u64, "s = {s}, k = {k}, h = {h}");
            }
        }
    }
}

/// With one arbiter the victims are inside when they are asked, and do not answer.
#[test]
fn one_arbiter_asks_in_vain() {
    for k in 1..=4 {
        for h in 1..=k {
            assert_eq!(worst_case(1, k, h), h as u64);
        }
    }
}

/// Messages for the same mix of requests: what quorums for each number of units save.
#[test]
fn fewer_messages_than_with_quorums_for_one_unit() {
    for (n, k) in [(9, 3), (16, 4)] {
        let messages = |arbiters: Arbiters| {
            plan::<Pool>(arbiters, Options::default()).assert_clean(100).messages
        };
        let plain = messages(Arbiters::plain(n, k).unwrap());
        let uniform = messages(Arbiters::uniform(n, k).unwrap());
        let improved = messages(Arbiters::improved(n, k).unwrap());
        assert!(improved < uniform && uniform < plain, "{plain}, {uniform}, {improved}");
    }
}

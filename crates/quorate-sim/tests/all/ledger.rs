//! Random runs of the ledger pool, and its figures. `docs/protocols/ledger.md` sets claim and
//! measurement side by side.

use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::ledger::mutations::{Mutant, Mutation};
use quorate_protocol::ledger::{Claim, Grant, LedgerPool, Options, Units};
use quorate_protocol::{SPLITMIX_STEP, Ticket, splitmix};
use quorate_quorum::{Kind, QuorumSystem, SiteId, build};
use quorate_sim::random::{Plan, Span, T, run};
use quorate_sim::{
    AnyWorld, ClaimState, Claims, Contract, Event, Faults, LedgerQuorums, Observer, Order,
    SimProtocol, Unwatched, setup,
};

const FOR_GOOD: Contract = Contract { reopens: false, restarts: false, fence_block: 2 };

/// A ledger of any length is sent in changes.
const CHANGES: Options = Options { whole: 0, spares: None };

fn claim(count: u32, of: u32) -> Claim {
    Claim { units: Units { count, of }, numbered: true, no_wait: false }
}

/// Site after site asks for one unit, two, and so on up to all, and from one on again.
fn mix(k: u32) -> Claims {
    Claims::each((1..=k).map(|h| vec![claim(h, k)]).collect())
}

fn on(kind: Kind, n: usize, units: u32) -> LedgerQuorums {
    LedgerQuorums { units, quorums: build(kind, n).unwrap() }
}

fn plan<P>(quorums: LedgerQuorums, options: P::Options) -> Plan
where
    P: SimProtocol<Claim = Claim, Quorums = LedgerQuorums>,
{
    let claims = mix(quorums.units);
    Plan::new::<P>(quorums, options, claims)
}

#[test]
fn every_coterie_is_clean() {
    for (kind, n) in [
        (Kind::Majority, 3),
        (Kind::Majority, 5),
        (Kind::Plane, 7),
        (Kind::Grid, 9),
        (Kind::Tree, 7),
        (Kind::Plane, 13),
        (Kind::Majority, 13),
    ] {
        for k in [1, 3] {
            for options in [Options::default(), CHANGES] {
                let plan = plan::<LedgerPool>(on(kind, n, k), options);
                Plan { gives_up: 3, skew: true, ..plan }.assert_clean(60);
            }
        }
    }
}

#[test]
fn several_claims_of_a_site_at_once_are_clean() {
    for options in [Options::default(), CHANGES] {
        let plan = plan::<LedgerPool>(on(Kind::Majority, 5, 4), options);
        let plan = Plan { claims: mix(4).at_once(3), requests: vec![6; 5], gives_up: 3, ..plan };
        plan.assert_clean(300);
    }
}

#[test]
fn sessions_may_end_and_sites_crash() {
    let spares = Some(Duration::from_nanos(5 * T));
    for (n, k) in [(3, 1), (3, 2), (5, 3), (7, 4)] {
        for options in [Options::default(), CHANGES, Options { spares, ..CHANGES }] {
            let plan = plan::<LedgerPool>(on(Kind::Majority, n, k), options);
            let faults = Some(Faults { lose: 6, silent: 4, crash: 2, ..Faults::NONE });
            let inside = Span::UpTo(12 * T);
            let claims = mix(k).at_once(2);
            let plan = Plan { faults, inside, claims, gives_up: 2, ..plan };
            let tally = plan.assert_clean(250);
            assert!(tally.lost > 0 && tally.crashed > 0);
            let registers = tally.by_kind.get("registered").copied().unwrap_or_default();
            assert!(registers > 0, "callers register at more sites");
        }
    }
}

/// A minority of sites dies for good, and everybody else is served, also with one unit of many.
#[test]
fn a_minority_may_die() {
    for (n, k) in [(3, 1), (5, 4), (5, 8), (7, 2)] {
        let crash = u32::try_from(n / 2).unwrap();
        let faults = Some(Faults { crash, contract: FOR_GOOD, ..Faults::NONE });
        let plan = plan::<LedgerPool>(on(Kind::Majority, n, k), Options::default());
        Plan { faults, ..plan }.assert_clean(200);
    }
}

/// One more and those who have no quorum wait for ever; but nobody gets units that are not there.
#[test]
fn one_death_more_blocks_but_never_over_allocates() {
    let faults = Some(Faults { crash: 3, contract: FOR_GOOD, ..Faults::NONE });
    let plan = plan::<LedgerPool>(on(Kind::Majority, 5, 3), Options::default());
    let plan = Plan { faults, ..plan };
    let outcomes: Vec<_> = (0..300).map(|seed| run(&plan, seed, &mut Unwatched)).collect();
    assert!(outcomes.iter().all(|outcome| outcome.breach.is_none()));
    assert!(outcomes.iter().any(|outcome| outcome.tally.unserved > 0));
}

#[test]
fn alone_a_claim_costs_3_k_minus_1_to_enter_and_k_minus_1_to_leave() {
    for (kind, n) in [(Kind::Majority, 3), (Kind::Majority, 5), (Kind::Plane, 7), (Kind::Grid, 16)]
    {
        let quorums = on(kind, n, 4);
        let k = quorums.quorums.min_size() as u64;
        for site in 0..n {
            let mut plan =
                Plan::calm::<LedgerPool>(quorums.clone(), CHANGES, Claims::all(vec![claim(2, 4)]));
            plan.requests[site] = 10;
            let tally = plan.assert_clean(1);
            assert_eq!(tally.messages, 10 * 4 * (k - 1));
            let of = |kind| tally.by_kind[kind];
            assert_eq!(of("request") + of("reply") + of("enter"), 10 * 3 * (k - 1));
            assert_eq!(of("left"), 10 * (k - 1));
            assert_eq!(tally.wait_ticks, 10 * 2 * T, "two delays");
        }
    }
}

/// Two sites ask at the same time for all units, and stay for long: the second is at the door when
/// the first leaves. Arbiter 3 tells it.
#[test]
fn from_a_release_to_the_next_entry_are_two_delays() {
    let own = [Some([0, 2]), Some([1, 2]), None];
    let own =
        own.map(|own| own.map(|own| own.map(quorate_quorum::SiteId::new).into_iter().collect()));
    let quorums: Arc<dyn QuorumSystem> =
        Arc::new(quorate_quorum::Listed::new(own.to_vec()).unwrap());
    let quorums = LedgerQuorums { units: 2, quorums };
    let claims = Claims::all(vec![claim(2, 2)]);
    let plan = Plan::calm::<LedgerPool>(quorums, Options::default(), claims);
    let plan = Plan { requests: vec![20, 20, 0], inside: Span::Fixed(20 * T), ..plan };
    let tally = plan.assert_clean(1);
    assert_eq!(tally.handovers, 39);
    assert_eq!(tally.handover_ticks, 39 * 2 * T);
}

/// Sixteen callers of a site enter together, and share the messages of one entry.
#[test]
fn callers_of_a_site_enter_together() {
    let claims = Claims::all(vec![claim(1, 16)]).at_once(16);
    let plan = Plan::calm::<LedgerPool>(on(Kind::Majority, 3, 16), Options::default(), claims);
    // The first caller enters alone; the others have gathered behind it by then.
    let plan = Plan { requests: vec![16, 0, 0], ..plan };
    let tally = plan.assert_clean(1);
    assert_eq!(tally.entries, 16);
    assert_eq!(tally.by_kind["enter"], 1);
    assert_eq!(tally.by_kind["left"], 16);
}

/// A claim for all units enters after at most the claims with lower tickets, however often others
/// come for one unit. A request at the door that does not yield overtakes it.
#[test]
fn a_large_claim_waits_only_for_those_before_it() {
    let mut overtaken = 0;
    for seed in 0..300 {
        assert_eq!(overtakers::<LedgerPool>(Options::default(), seed), 0, "seed {seed}");
        overtaken += overtakers::<Mutant>((Options::default(), Mutation::DoorDeaf), seed);
    }
    assert!(overtaken > 0, "others go first if they do not yield at the door");
}

/// Five sites come and go for one of two units, and one asks for both. Once its request is known
/// where it asks, and everybody has answered: how many enter before it with higher tickets.
fn overtakers<P>(options: P::Options, seed: u64) -> usize
where
    P: SimProtocol<Claim = Claim, Grant = Grant, Quorums = LedgerQuorums>,
{
    let mut world = setup::<P>(on(Kind::Majority, 5, 2), options).world(None, Order::Fifo);
    let mut chance = Chance(seed);
    for _ in 0..60 {
        act(&mut *world, &mut chance, &mut Vec::new());
    }
    let idle = |site: &SiteId| world.claims(*site).is_empty();
    let Some(site) = SiteId::all(5).find(idle) else { return 0 };
    let large = quorate_sim::Claim::of(claim(2, 2));
    let large = world.acquire(site, &large, &mut Unwatched).expect("every site may ask");
    world.settle(&mut Unwatched);
    let mut entered = Vec::new();
    for _ in 0..10_000 {
        if let Some(grant) = world.grant(site, large) {
            let ticket = grant.downcast::<Grant>().ticket;
            return entered.iter().filter(|&&other| other > ticket).count();
        }
        act(&mut *world, &mut chance, &mut entered);
    }
    panic!("seed {seed}: the claim for both units is starved")
}

/// A site asks for one unit or leaves, or a message arrives. Notes who enters.
fn act(world: &mut dyn AnyWorld, chance: &mut Chance, entered: &mut Vec<Ticket>) {
    let mut watch = Entries(entered);
    let busy = world.busy_channels();
    if !busy.is_empty() && chance.below(4) > 0 {
        world.deliver(busy[chance.below(busy.len())], &mut watch);
        return;
    }
    let site = SiteId::new(chance.below(world.n()));
    match world.claims(site).first_key_value().map(|(&id, &state)| (id, state)) {
        None => drop(world.acquire(site, &quorate_sim::Claim::of(claim(1, 2)), &mut watch)),
        Some((id, ClaimState::Inside)) => {
            world.release(site, id, &mut watch).expect("the caller is inside");
        }
        Some(_) => {}
    }
}

/// A `SplitMix64` generator.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(SPLITMIX_STEP);
        usize::try_from(splitmix(self.0) % n as u64).expect("below a number of that size")
    }
}

/// Notes the tickets of all that enter.
struct Entries<'a>(&'a mut Vec<Ticket>);

impl Observer for Entries<'_> {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        if let Event::Enters(_, grant) = event {
            self.0.push(grant.downcast::<Grant>().ticket);
        }
    }
}

/// A rule, and a seed that shows what it is for. The same seed is clean with the rule.
#[test]
fn a_seed_shows_what_each_rule_is_for() {
    for (undone, property) in SEEDS {
        let faults = Some(Faults { lose: 6, silent: 6, crash: 2, ..Faults::NONE });
        let of = |plan: Plan| Plan {
            faults,
            requests: vec![3; 3],
            inside: Span::UpTo(12 * T),
            claims: mix(2).at_once(2),
            ..plan
        };
        let options = Options { whole: 32, spares: None };
        let mutant = of(plan::<Mutant>(on(Kind::Majority, 3, 2), (options, undone)));
        let sound = of(plan::<LedgerPool>(on(Kind::Majority, 3, 2), options));
        let broken = |seed: &u64| {
            let breach = run(&mutant, *seed, &mut Unwatched).breach;
            breach.is_some_and(|breach| breach.property == property)
        };
        let seed = (0..20_000).find(broken);
        let seed = seed.unwrap_or_else(|| panic!("no seed shows {undone}"));
        assert_eq!(run(&sound, seed, &mut Unwatched).breach, None, "{undone}");
    }
}

const SEEDS: [(Mutation, &str); 8] = [
    (Mutation::NoLedger, "exclusion"),
    (Mutation::SplitEnter, "exclusion"),
    (Mutation::LedgerForgotten, "exclusion"),
    (Mutation::NoQuarantine, "exclusion"),
    (Mutation::LossUnnoticed, "exclusion"),
    (Mutation::FloorKept, "fences grow"),
    (Mutation::CeilVolatile, "fences grow"),
    (Mutation::LeftUntold, "progress"),
];

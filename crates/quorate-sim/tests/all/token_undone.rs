//! Mutants of the token lock that break no property, but whose token never comes to rest, lapses or
//! is refused without need. The rules (E3, O4, ...) are listed in `docs/protocols/token.md`.

use std::collections::BTreeSet;
use std::sync::Arc;

use quorate_protocol::token::mutations::{Mutant, Mutation};
use quorate_protocol::token::{Grant, Options, TokenLock};
use quorate_protocol::{ClaimId, SiteId, Tick};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Plan, Span, T, TimedObserver, run};
use quorate_sim::{AnyWorld, Claim, Claims, Event, Lane, Order, SimProtocol, Unwatched, setup};

/// More messages than any story here needs.
const ENOUGH: usize = 1000;

/// Three sites driven step by step.
struct Story {
    world: Box<dyn AnyWorld>,
}

impl Story {
    fn new<P: SimProtocol<Quorums = Arc<dyn QuorumSystem>>>(options: P::Options) -> Self {
        let majority = build(Kind::Majority, 3).unwrap();
        Self { world: setup::<P>(majority, options).world(None, Order::Fifo) }
    }

    fn acquire(&mut self, site: usize, group: &str) -> ClaimId {
        let claim = Claim::of(TokenLock::parse_claim(&[group]).unwrap());
        self.world.acquire(SiteId::new(site), &claim, &mut Unwatched).unwrap()
    }

    /// Delivers what is under way; false if there is no end of it.
    fn settle(&mut self) -> bool {
        for _ in 0..ENOUGH {
            let busy = self.world.busy_channels();
            let Some(&channel) = busy.first() else { return true };
            self.world.deliver(channel, &mut Unwatched);
        }
        false
    }

    fn leave(&mut self, site: usize, claim: ClaimId) {
        self.world.release(SiteId::new(site), claim, &mut Unwatched).unwrap();
    }

    /// Sites enter one after the other, some of them twice, so that the token has been everywhere.
    fn serve_in_turn(mut self) -> bool {
        for (site, group) in [(1, "a"), (2, "b"), (1, "a"), (0, "c"), (2, "b")] {
            let claim = self.acquire(site, group);
            if !self.settle() {
                return false;
            }
            self.leave(site, claim);
        }
        self.settle()
    }

    /// Two sites wait behind a captain, and give up before they are served.
    fn give_up_in_line(mut self) -> bool {
        let captain = self.acquire(0, "a");
        let waiting = [(1, "b"), (2, "c")].map(|(site, group)| (site, self.acquire(site, group)));
        assert!(self.settle(), "they are in the queue");
        for (site, claim) in waiting {
            self.world.give_up(SiteId::new(site), claim, &mut Unwatched).unwrap();
        }
        self.leave(0, captain);
        self.settle()
    }

    /// The request to an idle holder is lost, and T1 expires. Returns the epoch of the grant.
    fn lose_a_request(mut self) -> u64 {
        let (holder, asker) = (SiteId::new(0), SiteId::new(1));
        let claim = self.acquire(1, "a");
        self.world.drop_at((asker, holder, Lane::Up), 0, &mut Unwatched);
        assert!(self.settle(), "the other site does not hold the token");
        let mut tries = 0;
        while self.world.grant(asker, claim).is_none() {
            assert!(self.world.expire_named(asker, "t1", &mut Unwatched), "it waits for T1");
            assert!(self.settle(), "an attempt ends");
            tries += 1;
            assert!(tries < 10, "a new token is made sooner or later");
        }
        let grant = self.world.grant(asker, claim).expect("it was granted");
        grant.downcast::<Grant>().stamp.epoch.0
    }
}

fn repaired() -> Story {
    Story::new::<TokenLock>(Options::default())
}

fn without(undone: Mutation) -> Story {
    Story::new::<Mutant>((Options::default(), undone))
}

/// E3: if the token does not record served requests, old requests send it around for ever.
#[test]
fn the_token_records_served_requests() {
    assert!(repaired().serve_in_turn());
    assert!(!without(Mutation::E3).serve_in_turn());
}

/// O4: a site that declines the token marks its request as served.
#[test]
fn a_declined_token_is_marked_as_served() {
    assert!(repaired().give_up_in_line());
    assert!(!without(Mutation::Unmarked).give_up_in_line());
}

/// O11: a request that names several groups may be granted by any entry, and the waiter behind it
/// is first then. It must be in the request set too: without faults nobody waits for T1.
#[test]
fn the_request_set_has_all_possible_next_captains() {
    let left = |undone| (0..200).map(|seed| unserved(undone, seed)).sum::<u64>();
    assert_eq!(left(Mutation::NoT1), 0);
    assert!(left(Mutation::Firsts) > 0);
}

/// How many requests are never served, if every request names two of three groups.
fn unserved(undone: Mutation, seed: u64) -> u64 {
    let pairs = [["a", "b"], ["b", "c"], ["c", "a"]].map(|pair| Mutant::parse_claim(&pair));
    let pair = |at: usize| pairs[at % 3].clone().unwrap();
    let start = usize::try_from(seed).unwrap();
    let at = |site: usize| (0..12).map(|ask| pair(start + site * 7 + ask * (ask + site))).collect();
    let (four, options) = (build(Kind::Majority, 4).unwrap(), (Options::default(), undone));
    let plan = Plan {
        requests: vec![12; 4],
        think: Span::UpTo(2 * T),
        inside: Span::UpTo(6 * T),
        ..Plan::new::<Mutant>(four, options, Claims::each((0..4).map(at).collect()))
    };
    run(&plan, seed, &mut Unwatched).tally.unserved
}

/// O9: holders that leave before the voters have answered do not use up the token's lease.
#[test]
fn a_token_that_is_passed_on_quickly_does_not_lapse() {
    assert_eq!(epochs(Mutation::NoT1), 1);
    assert!(epochs(Mutation::Restless) > 1);
}

/// How many epochs it takes to serve three sites that keep requesting different groups.
fn epochs(undone: Mutation) -> usize {
    let lease = Some(std::time::Duration::from_nanos(60 * T));
    let claims = Claims::parse::<Mutant>("a; b; c").unwrap();
    let options = (Options { lease, ..Options::default() }, undone);
    let three = build(Kind::Majority, 3).unwrap();
    let plan = Plan {
        requests: vec![300; 3],
        inside: Span::Fixed(0),
        ..Plan::calm::<Mutant>(three, options, claims)
    };
    let mut seen = Epochs::default();
    let outcome = run(&plan, 1, &mut seen);
    assert_eq!((outcome.breach, outcome.tally.unserved), (None, 0));
    seen.0.len()
}

/// The epochs of all grants.
#[derive(Default)]
struct Epochs(BTreeSet<u64>);

impl TimedObserver for Epochs {
    fn see(&mut self, _: Tick, _: usize, event: &Event<'_>) {
        if let Event::Enters(_, grant) = event {
            self.0.insert(grant.downcast::<Grant>().stamp.epoch.0);
        }
    }
}

/// O6: a holder passes its token to a site that tries to replace it, and that site accepts it.
#[test]
fn a_live_token_is_not_refused() {
    assert_eq!(repaired().lose_a_request(), 0);
    assert!(without(Mutation::OwnFloor).lose_a_request() > 0);
}

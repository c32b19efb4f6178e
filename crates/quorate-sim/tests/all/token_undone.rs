//! What becomes of a token lock without some of its repairs, where no property breaks but the token
//! does not come to rest, or is lost for nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use quorate_protocol::token::errata::{Erratum, Unrepaired};
use quorate_protocol::token::{Grant, Options, TokenLock};
use quorate_protocol::{ClaimId, SiteId, Tick};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Plan, Span, T, TimedObserver, run};
use quorate_sim::{AnyWorld, Claim, Claims, Event, Lane, Order, Subject, Unwatched, setup};

/// More messages than any story here needs.
const ENOUGH: usize = 1000;

/// Three sites that are told one after the other what to do.
struct Story {
    world: Box<dyn AnyWorld>,
}

impl Story {
    fn new<P: Subject<Quorums = Arc<dyn QuorumSystem>>>(options: P::Options) -> Self {
        let majority = build(Kind::Majority, 3).unwrap();
        Self { world: setup::<P>(majority, options).world(None, Order::Fifo) }
    }

    fn acquire(&mut self, site: usize, group: &str) -> ClaimId {
        let claim = Claim::of(TokenLock::parse_claim(&[group]).unwrap());
        self.world.acquire(SiteId::new(site), &claim, &mut Unwatched).unwrap()
    }

    /// Delivers what is under way, if it does not take for ever; whether it came to rest.
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

    /// Site after site is inside, and asks again; the token has been everywhere.
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

    /// Two sites wait behind a captain, and give up before their turn.
    fn give_up_in_line(mut self) -> bool {
        let captain = self.acquire(0, "a");
        let waiting = [(1, "b"), (2, "c")].map(|(site, group)| (site, self.acquire(site, group)));
        assert!(self.settle(), "they stand in line");
        for (site, claim) in waiting {
            self.world.give_up(SiteId::new(site), claim, &mut Unwatched).unwrap();
        }
        self.leave(0, captain);
        self.settle()
    }

    /// The request to an idle holder is lost, and T1 runs out. The epoch in which the caller is let
    /// in at last.
    fn lose_a_request(mut self) -> u64 {
        let (holder, asker) = (SiteId::new(0), SiteId::new(1));
        let claim = self.acquire(1, "a");
        self.world.drop_at((asker, holder, Lane::Up), 0, &mut Unwatched);
        assert!(self.settle(), "the other one cannot help");
        let mut tries = 0;
        while self.world.grant(asker, claim).is_none() {
            assert!(self.world.expire_named(asker, "t1", &mut Unwatched), "it waits for T1");
            assert!(self.settle(), "an attempt ends");
            tries += 1;
            assert!(tries < 10, "a new token is made sooner or later");
        }
        let grant = self.world.grant(asker, claim).expect("it was let in");
        grant.downcast::<Grant>().stamp.epoch.0
    }
}

fn repaired() -> Story {
    Story::new::<TokenLock>(Options::default())
}

fn without(undone: Erratum) -> Story {
    Story::new::<Unrepaired>((Options::default(), undone))
}

/// E3: if the token does not say who was served, old requests send it around for ever.
#[test]
fn the_token_says_who_was_served() {
    assert!(repaired().serve_in_turn());
    assert!(!without(Erratum::E3).serve_in_turn());
}

/// A request that was given up counts as served from when the token finds out.
#[test]
fn a_token_that_nobody_waits_for_says_so() {
    assert!(repaired().give_up_in_line());
    assert!(!without(Erratum::Unmarked).give_up_in_line());
}

/// A request that names several groups may get in by any of them, and who stands behind it is
/// first then: it must have been asked too. Where nothing goes wrong nobody waits for T1.
#[test]
fn who_passes_the_token_on_asks_all_who_may_be_next() {
    let left = |undone| (0..200).map(|seed| unserved(undone, seed)).sum::<u64>();
    assert_eq!(left(Erratum::NoT1), 0);
    assert!(left(Erratum::Firsts) > 0);
}

/// How many wait for ever, of some sites that ask for two of three groups each time.
fn unserved(undone: Erratum, seed: u64) -> u64 {
    let pairs = [["a", "b"], ["b", "c"], ["c", "a"]].map(|pair| Unrepaired::parse_claim(&pair));
    let pair = |at: usize| pairs[at % 3].clone().unwrap();
    let start = usize::try_from(seed).unwrap();
    let at = |site: usize| (0..12).map(|ask| pair(start + site * 7 + ask * (ask + site))).collect();
    let (four, options) = (build(Kind::Majority, 4).unwrap(), (Options::default(), undone));
    let plan = Plan {
        requests: vec![12; 4],
        think: Span::UpTo(2 * T),
        inside: Span::UpTo(6 * T),
        ..Plan::new::<Unrepaired>(four, options, Claims::each((0..4).map(at).collect()))
    };
    run(&plan, seed, &mut Unwatched).tally.unserved
}

/// Holders who leave sooner than voters can answer do not use the token's lease up.
#[test]
fn a_token_that_nobody_keeps_for_long_does_not_lapse() {
    assert_eq!(epochs(Erratum::NoT1), 1);
    assert!(epochs(Erratum::Restless) > 1);
}

/// How many epochs it takes to serve three sites that want different groups all the time.
fn epochs(undone: Erratum) -> usize {
    let lease = Some(std::time::Duration::from_nanos(60 * T));
    let claims = Claims::parse::<Unrepaired>("a; b; c").unwrap();
    let options = (Options { lease, ..Options::default() }, undone);
    let three = build(Kind::Majority, 3).unwrap();
    let plan = Plan {
        requests: vec![300; 3],
        inside: Span::Fixed(0),
        ..Plan::calm::<Unrepaired>(three, options, claims)
    };
    let mut seen = Epochs::default();
    let outcome = run(&plan, 1, &mut seen);
    assert_eq!((outcome.breach, outcome.tally.unserved), (None, 0));
    seen.0.len()
}

/// The epochs in which somebody was let in.
#[derive(Default)]
struct Epochs(BTreeSet<u64>);

impl TimedObserver for Epochs {
    fn see(&mut self, _: Tick, _: usize, event: &Event<'_>) {
        if let Event::Enters(_, grant) = event {
            self.0.insert(grant.downcast::<Grant>().stamp.epoch.0);
        }
    }
}

/// A holder that hears of a request only by an attempt to replace its token hands it over, and
/// the one who tried takes it.
#[test]
fn a_live_token_is_not_refused() {
    assert_eq!(repaired().lose_a_request(), 0);
    assert!(without(Erratum::OwnFloor).lose_a_request() > 0);
}

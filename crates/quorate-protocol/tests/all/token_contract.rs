//! What a token lock owes its driver: typed errors that change nothing, and writes that come first.

use std::time::Duration;

use quorate_protocol::group::{Claim, Group};
use quorate_protocol::token::{Durable, Epoch, Message, Options, Timer, TokenLock};
use quorate_protocol::{
    ClaimId, Effect, Input, Out, Protocol, Record, Shared, SiteId, Tick, Violation,
};
use quorate_quorum::{Kind, build};

struct Bench {
    lock: TokenLock,
    shared: Shared,
}

impl Bench {
    fn new(place: usize) -> Self {
        Self::with(place, Options::default())
    }

    fn with(place: usize, options: Options) -> Self {
        let site = SiteId::new(place);
        let shared = Shared::new(site, build(Kind::Majority, 3).unwrap());
        Self { lock: TokenLock::new(site, 3, options), shared }
    }

    fn step(&mut self, input: Input<TokenLock>) -> Result<Vec<Effect<TokenLock>>, Violation> {
        let mut out = Out::new();
        let done = self.lock.step(&mut self.shared, Tick::ZERO, input, &mut out);
        done.map(|()| out.drain().collect())
    }

    /// An input that breaks the contract changes nothing.
    fn refuses(&mut self, input: Input<TokenLock>, violation: Violation) {
        let before = self.lock.clone();
        assert_eq!(self.step(input), Err(violation));
        assert_eq!(self.lock, before);
    }
}

fn claim(names: &[&str]) -> Claim {
    Claim { groups: names.iter().map(|name| Group::new(name)).collect(), hasty: false }
}

#[test]
fn what_breaks_the_contract_changes_nothing() {
    let (one, two) = (ClaimId(1), ClaimId(2));
    let mut bench = Bench::new(0);
    bench.refuses(Input::Acquire(one, claim(&[])), Violation::NoGroups);
    bench.refuses(Input::Release(one), Violation::NotInside(one));
    bench.refuses(Input::Abandon(one), Violation::NotWaiting(one));
    bench.refuses(Input::Turn(one), Violation::NoTurns);
    let groups = claim(&[]).groups;
    let request = Message::Request { sn: 1, groups, again: false };
    bench.refuses(Input::Deliver(SiteId::new(1), request), Violation::NoGroups);
    bench.step(Input::Acquire(one, claim(&["a"]))).unwrap();
    bench.refuses(Input::Acquire(two, claim(&["a"])), Violation::Busy);
}

/// The effects of a step, the first of which must be a write.
fn persisted(effects: &[Effect<TokenLock>]) -> &Durable {
    match effects.first() {
        Some(Effect::Persist(Record::Token(durable))) => durable,
        other => panic!("a write comes first, not {other:?}"),
    }
}

#[test]
fn numbers_promises_and_attempts_are_on_disk_before_anybody_hears_of_them() {
    let mut bench = Bench::new(1);
    let effects = bench.step(Input::Acquire(ClaimId(1), claim(&["a"]))).unwrap();
    assert!(persisted(&effects).sn_ceil >= 1);
    let effects = bench.step(Input::Expire(Timer::T1)).unwrap();
    assert_eq!(persisted(&effects).tried, Epoch(1));
    let mut voter = Bench::new(2);
    let groups = claim(&["a"]).groups;
    let prepare = Message::Prepare { epoch: Epoch(1), sn: 2, groups };
    let effects = voter.step(Input::Deliver(SiteId::new(1), prepare)).unwrap();
    assert!(persisted(&effects).pending.contains(&Epoch(1)));
    assert!(matches!(&effects[1], Effect::Send(_, Message::Promise { .. })), "{effects:?}");
}

#[test]
fn a_restart_keeps_promises_and_never_the_token() {
    let durable = Durable { sn_ceil: 9, valid: Epoch(3), ..Durable::default() };
    let lock = TokenLock::restarted(SiteId::new(0), 3, Options::default(), durable);
    assert!(lock.token().is_none(), "the token counts as lost");
    let mut bench = Bench { lock, shared: Bench::new(0).shared };
    let effects = bench.step(Input::Acquire(ClaimId(1), claim(&["a"]))).unwrap();
    let fresh = |effect: &Effect<TokenLock>| {
        matches!(effect, Effect::Send(_, Message::Request { sn: 10, .. }))
    };
    assert_eq!(effects.iter().filter(|effect| fresh(effect)).count(), 2, "{effects:?}");
}

/// Whoever has asked for a token that is let go makes another at once, and not when T1 runs out; an
/// attempt of others that fails is no reason to.
#[test]
fn who_waits_for_a_token_that_is_let_go_makes_another() {
    let lease = Some(Duration::from_secs(3));
    let (holder, other) = (SiteId::new(0), SiteId::new(2));
    let mut bench = Bench::with(1, Options { lease, idle: Some(12), ..Options::default() });
    let groups = claim(&["b"]).groups;
    let prepare = Message::Prepare { epoch: Epoch(3), sn: 1, groups };
    bench.step(Input::Deliver(holder, prepare)).unwrap();
    bench.step(Input::Deliver(holder, Message::NewEpoch { epoch: Epoch(3) })).unwrap();
    bench.step(Input::Acquire(ClaimId(1), claim(&["a"]))).unwrap();
    let prepares = |effects: Vec<Effect<TokenLock>>| {
        let prepares = |effect: &&Effect<TokenLock>| {
            matches!(effect, Effect::Send(_, Message::Prepare { .. }))
        };
        effects.iter().filter(prepares).count()
    };
    let failed = Message::Withdraw { epoch: Epoch(2) };
    assert_eq!(prepares(bench.step(Input::Deliver(other, failed)).unwrap()), 0);
    let gone = Message::Withdraw { epoch: Epoch(3) };
    assert_eq!(prepares(bench.step(Input::Deliver(holder, gone)).unwrap()), 2);
}

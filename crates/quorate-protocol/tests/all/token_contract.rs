//! The contract of a token lock with its driver: errors change nothing, and writes come first.

use std::time::Duration;

use quorate_protocol::group::{Claim, Group};
use quorate_protocol::token::{Durable, Epoch, Message, Options, Timer, TokenLock};
use quorate_protocol::{
    ClaimId, Effect, Input, Out, Protocol, Record, Shared, SiteId, Tick, Violation,
};
use quorate_quorum::{Kind, build};

struct Fixture {
    lock: TokenLock,
    shared: Shared,
}

impl Fixture {
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
    Claim { groups: names.iter().map(|name| Group::new(name)).collect(), no_wait: false }
}

#[test]
fn an_input_that_breaks_the_contract_changes_nothing() {
    let (one, two) = (ClaimId(1), ClaimId(2));
    let mut fixture = Fixture::new(0);
    fixture.refuses(Input::Acquire(one, claim(&[])), Violation::NoGroups);
    fixture.refuses(Input::Release(one), Violation::NotInside(one));
    fixture.refuses(Input::Abandon(one), Violation::NotWaiting(one));
    fixture.refuses(Input::Turn(one), Violation::NoTurns);
    let groups = claim(&[]).groups;
    let request = Message::Request { sn: 1, groups, again: false };
    fixture.refuses(Input::Deliver(SiteId::new(1), request), Violation::NoGroups);
    fixture.step(Input::Acquire(one, claim(&["a"]))).unwrap();
    fixture.refuses(Input::Acquire(two, claim(&["a"])), Violation::Busy);
}

/// What a step persists, which must be its first effect.
fn persisted(effects: &[Effect<TokenLock>]) -> &Durable {
    match effects.first() {
        Some(Effect::Persist(Record::Token(durable))) => durable,
        other => panic!("a write comes first, not {other:?}"),
    }
}

#[test]
fn numbers_promises_and_attempts_are_persisted_before_they_are_sent() {
    let mut fixture = Fixture::new(1);
    let effects = fixture.step(Input::Acquire(ClaimId(1), claim(&["a"]))).unwrap();
    assert!(persisted(&effects).sn_ceil >= 1);
    let effects = fixture.step(Input::Expire(Timer::T1)).unwrap();
    assert_eq!(persisted(&effects).tried, Epoch(1));
    let mut voter = Fixture::new(2);
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
    let mut fixture = Fixture { lock, shared: Fixture::new(0).shared };
    let effects = fixture.step(Input::Acquire(ClaimId(1), claim(&["a"]))).unwrap();
    let fresh = |effect: &Effect<TokenLock>| {
        matches!(effect, Effect::Send(_, Message::Request { sn: 10, .. }))
    };
    assert_eq!(effects.iter().filter(|effect| fresh(effect)).count(), 2, "{effects:?}");
}

/// A waiter does not wait for T1 if the idle token it asked for is dropped. The withdrawal of
/// another site's attempt starts nothing.
#[test]
fn a_waiter_replaces_an_idle_token_that_is_dropped() {
    let lease = Some(Duration::from_secs(3));
    let (holder, other) = (SiteId::new(0), SiteId::new(2));
    let mut fixture = Fixture::with(1, Options { lease, idle: Some(12), ..Options::default() });
    let groups = claim(&["b"]).groups;
    let prepare = Message::Prepare { epoch: Epoch(3), sn: 1, groups };
    fixture.step(Input::Deliver(holder, prepare)).unwrap();
    fixture.step(Input::Deliver(holder, Message::NewEpoch { epoch: Epoch(3) })).unwrap();
    fixture.step(Input::Acquire(ClaimId(1), claim(&["a"]))).unwrap();
    let prepares = |effects: Vec<Effect<TokenLock>>| {
        let prepares = |effect: &&Effect<TokenLock>| {
            matches!(effect, Effect::Send(_, Message::Prepare { .. }))
        };
        effects.iter().filter(prepares).count()
    };
    let failed_attempt = Message::Withdraw { epoch: Epoch(2) };
    assert_eq!(prepares(fixture.step(Input::Deliver(other, failed_attempt)).unwrap()), 0);
    let dropped = Message::Withdraw { epoch: Epoch(3) };
    assert_eq!(prepares(fixture.step(Input::Deliver(holder, dropped)).unwrap()), 2);
}

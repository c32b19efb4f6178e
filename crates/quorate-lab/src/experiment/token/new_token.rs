//! The cost of a new token after the old one was lost.

use quorate_protocol::SiteId;
use quorate_protocol::token::{Options, TokenLock};
use quorate_quorum::{Kind, build};
use quorate_sim::{AnyWorld, Claim, Event, Fault, Observer, Order, SimProtocol, setup};

use super::{Claimed, Sink};

/// The first holder restarts without its token; another site waits until T1 expires.
pub(super) fn run(n: usize, sink: Sink<'_>) {
    let (first, second) = (SiteId::new(0), SiteId::new(1));
    let quorums = build(Kind::Majority, n).expect("there are sites");
    let mut world = setup::<TokenLock>(quorums, Options::default()).world(None, Order::Fifo);
    let mut count = Ballots::default();
    world.suffer(Fault::Crash(first), &mut count);
    world.suffer(Fault::Restart(first), &mut count);
    let claim = TokenLock::parse_claim(&["a"]).expect("a group");
    world.acquire(second, &Claim::of(claim), &mut count).expect("it may ask");
    while rounds(&mut *world, &mut count) {}
    assert!(world.expire_named(second, "t1", &mut count), "it waits for T1");
    let mut ways = 0;
    while world.inside() == 0 {
        assert!(rounds(&mut *world, &mut count), "a token is made");
        ways += 1;
    }
    while rounds(&mut *world, &mut count) {}
    let condition = "the holder restarts, another asks, T1 runs out";
    let row = |what: &str| (format!("N={n}: {what}"), condition.to_owned());
    let (name, condition) = row("a new token, messages");
    let cost = Claimed::exact("3(n-1)", 3.0 * (n as f64 - 1.0));
    sink(cost.beside(name, condition, (count.0 as f64, "messages"), ""));
    let (name, condition) = row("a new token, time from T1 to the entry");
    let there_and_back = Claimed::exact("2T", 2.0);
    sink(there_and_back.beside(name, condition, (f64::from(ways), "T"), "prepare, promise"));
}

/// Delivers all messages in flight; false if there are none.
fn rounds(world: &mut dyn AnyWorld, count: &mut Ballots) -> bool {
    let busy = world.busy_channels();
    for &channel in &busy {
        for _ in 0..world.under_way_count(channel) {
            world.deliver(channel, count);
        }
    }
    !busy.is_empty()
}

/// Counts messages about new tokens.
#[derive(Debug, Default)]
struct Ballots(u64);

impl Observer for Ballots {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        if let Event::Sends { message, .. } = event {
            let ballot = ["prepare", "promise", "nack", "new_epoch", "withdraw"];
            self.0 += u64::from(ballot.contains(&message.kind));
        }
    }
}

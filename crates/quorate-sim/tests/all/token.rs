//! What a token lock costs, by the rule of `docs/protocols/token.md`: request and complete are
//! charged to their sender, start and token to their receiver.

use std::collections::BTreeMap;

use quorate_protocol::token::{Grant, Message, Options, TokenLock, Via};
use quorate_protocol::{SiteId, Tick};
use quorate_quorum::{Kind, build};
use quorate_sim::random::{Delay, Outcome, Plan, Span, T, TimedObserver, run};
use quorate_sim::{Caller, Claim, Claims, Event, Fault, Observer, Order, Slips, Subject, setup};

const GROUPS: u64 = 3;

/// Counts messages, each for the request that it is charged to, and times hand-overs.
#[derive(Default)]
struct Bill {
    charged: BTreeMap<(SiteId, u64), u64>,
    entries_most: usize,
    inside: usize,
    most_inside: usize,
    /// When the last one left, and whether it was the captain.
    left: Option<(Tick, bool)>,
    captains: BTreeMap<SiteId, bool>,
    /// The longest hand-over behind a follower, and behind a captain.
    handover: [u64; 2],
}

impl Bill {
    fn send(&mut self, from: SiteId, to: SiteId, message: &Message) {
        let payer = match message {
            Message::Request { sn, .. } | Message::Complete { sn, .. } => (from, *sn),
            Message::Start(pass) => (to, pass.sn),
            Message::Token { token, .. } => {
                self.entries_most = self.entries_most.max(token.queue.entries().len());
                (to, token.queue.entries()[0].waiting[0].sn)
            }
            _ => return,
        };
        *self.charged.entry(payer).or_default() += 1;
    }

    fn most(&self) -> u64 {
        self.charged.values().copied().max().unwrap_or(0)
    }
}

impl TimedObserver for Bill {
    fn see(&mut self, now: Tick, _: usize, event: &Event<'_>) {
        match *event {
            Event::Sends { from, to, message } => self.send(from, to, message.downcast()),
            Event::Releases(Caller { site, .. }) => {
                self.inside -= 1;
                let captain = self.captains[&site];
                self.left = Some((now, captain)).filter(|_| self.inside == 0);
            }
            Event::Enters(Caller { site, .. }, grant) => {
                if let Some((then, captain)) = self.left.take() {
                    let longest = &mut self.handover[usize::from(captain)];
                    *longest = (now.0 - then.0).max(*longest);
                }
                self.captains.insert(site, grant.downcast::<Grant>().via == Via::Captain);
                self.inside += 1;
                self.most_inside = self.most_inside.max(self.inside);
            }
            _ => {}
        }
    }
}

fn plan(n: usize, groups: u64, think: Span) -> Plan {
    let claim = |group: u64| TokenLock::parse_claim(&[&format!("g{group}")]).unwrap();
    let each =
        (0..n as u64).map(|site| (0..groups).map(|at| claim((site + at) % groups)).collect());
    // No timer runs out where nothing goes wrong.
    let options = Options { t1: std::time::Duration::from_hours(1), ..Options::default() };
    let majority = build(Kind::Majority, n).unwrap();
    Plan {
        requests: vec![12; n],
        think,
        ..Plan::calm::<TokenLock>(majority, options, Claims::each(each.collect()))
    }
}

fn measure(plan: &Plan, seed: u64) -> (Bill, Outcome) {
    let mut bill = Bill::default();
    let outcome = run(plan, seed, &mut bill);
    assert_eq!(outcome.breach, None, "seed {seed}");
    assert_eq!(outcome.tally.unserved, 0, "seed {seed}");
    (bill, outcome)
}

fn per_entry(outcome: &Outcome) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    let (messages, entries) = (outcome.tally.messages as f64, outcome.tally.entries as f64);
    messages / entries
}

#[test]
fn an_entry_costs_at_most_n_and_one_messages() {
    for n in [4, 8, 16, 32] {
        let mut most = 0;
        for (seed, think) in [(1, Span::UpTo(T)), (2, Span::UpTo(4 * T)), (3, Span::UpTo(20 * T))] {
            let plan = Plan { delay: Delay::Uniform, ..plan(n, GROUPS, think) };
            let (bill, _) = measure(&plan, seed);
            most = most.max(bill.most());
            assert!(bill.entries_most as u64 <= GROUPS.min(n as u64), "{}", bill.entries_most);
        }
        println!("n = {n}: at most {most} messages an entry");
        assert_eq!(most, n as u64 + 1);
    }
}

#[test]
fn light_load_costs_less_than_heavy_load() {
    for n in [4, 8, 16, 32] {
        let light = Span::UpTo(400 * n as u64 * T);
        let light = per_entry(&measure(&plan(n, GROUPS, light), 1).1);
        let heavy = per_entry(&measure(&plan(n, GROUPS, Span::UpTo(T)), 1).1);
        println!("n = {n}: {light:.2} light, {heavy:.2} heavy");
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let n = n as f64;
        assert!(light < n - 1.0, "fewer than asking everybody");
        assert!(light < heavy && heavy <= n + 1.0);
    }
}

#[test]
fn an_idle_holder_enters_for_nothing() {
    let mut plan = plan(4, 1, Span::UpTo(T));
    plan.requests = vec![5, 0, 0, 0];
    let (_, outcome) = measure(&plan, 1);
    assert_eq!((outcome.tally.entries, outcome.tally.messages), (5, 0));
}

#[test]
fn a_hand_over_takes_one_message_behind_a_captain_and_two_behind_a_follower() {
    for n in [4, 8, 16] {
        let plan = plan(n, GROUPS, Span::Fixed(0));
        let (bill, _) = measure(&plan, 1);
        println!("n = {n}: {:?} ticks behind follower, captain", bill.handover);
        assert_eq!(bill.handover, [2 * T, T]);
    }
}

#[test]
fn all_sites_can_be_inside_at_once() {
    let mut plan = plan(8, 1, Span::Fixed(0));
    (plan.requests, plan.inside) = (vec![1; 8], Span::Fixed(10 * T));
    assert_eq!(measure(&plan, 1).0.most_inside, 8);
}

/// Counts what a new token costs.
#[derive(Default)]
struct Epochs(u64);

impl Observer for Epochs {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        if let Event::Sends { message, .. } = event {
            let kinds = ["prepare", "promise", "nack", "new_epoch", "withdraw"];
            let counts = kinds.contains(&message.kind);
            self.0 += u64::from(counts);
        }
    }
}

#[test]
fn a_new_token_costs_three_messages_for_every_other_site() {
    for n in [3, 5, 9] {
        let (first, second) = (SiteId::new(0), SiteId::new(1));
        let quorums = build(Kind::Majority, n).unwrap();
        let cluster = setup::<TokenLock>(quorums, Options::default());
        let mut world = cluster.world(None, Order::Fifo);
        let mut count = Epochs::default();
        world.suffer(Fault::Crash(first), &mut count);
        world.suffer(Fault::Restart(first), &mut count);
        let claim = TokenLock::parse_claim(&["a"]).unwrap();
        world.acquire(second, &Claim::of(claim), &mut count).unwrap();
        world.settle(&mut count);
        assert!(world.expire_named(second, "t1", &mut count));
        world.settle(&mut count);
        assert_eq!((world.inside(), count.0), (1, 3 * (n as u64 - 1)));
    }
}

/// Loss, crashes, partitions, callers that give up: everybody is served, and leases keep groups
/// apart that fences alone would only tell apart.
#[test]
fn everything_goes_wrong_and_everybody_is_served() {
    for (n, loss_percent) in [(3, 20), (5, 10), (9, 1)] {
        for lease in [None, Some(std::time::Duration::from_millis(60))] {
            let options = Options { lease, ..Options::default() };
            let slips = Slips { crash: 2, cut: 2, loss_percent, ..Slips::default() };
            let claims = Claims::parse::<TokenLock>("a; a b; b; b c").unwrap();
            let plan = Plan {
                slips,
                claims,
                gives_up: 3,
                requests: vec![3; n],
                delay: Delay::Exponential,
                ..plan(n, GROUPS, Span::UpTo(20 * T)).of::<TokenLock>(options)
            };
            plan.assert_clean(40);
        }
    }
}

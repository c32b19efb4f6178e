//! What a token lock costs, counted as in `docs/protocols/token.md`: request and complete are
//! charged to their sender, start and token to their receiver.

use std::collections::BTreeMap;

use quorate_protocol::token::{Grant, Message, Options, TokenLock, Via};
use quorate_protocol::{ClaimId, SiteId, Tick};
use quorate_quorum::{Kind, build};
use quorate_sim::random::{Delay, Outcome, Plan, Span, T, TimedObserver, run};
use quorate_sim::{
    AnyWorld, Caller, Claim, Claims, Event, Fault, Lane, Observer, Order, SessionlessFaults,
    SimProtocol, setup,
};

const GROUPS: u64 = 3;

/// Counts the messages charged to each request, and times hand-overs.
#[derive(Default)]
struct Bill {
    charged: BTreeMap<(SiteId, u64), u64>,
    entries_most: usize,
    inside: usize,
    most_inside: usize,
    /// When the last caller left, and whether it was the captain.
    left: Option<(Tick, bool)>,
    captains: BTreeMap<SiteId, bool>,
    /// The longest hand-over after a follower, and after a captain.
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
    // No timer expires in a run without faults.
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
fn an_entry_costs_at_most_n_plus_one_messages() {
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
fn a_hand_over_takes_one_message_after_a_captain_and_two_after_a_follower() {
    for n in [4, 8, 16] {
        let plan = plan(n, GROUPS, Span::Fixed(0));
        let (bill, _) = measure(&plan, 1);
        println!("n = {n}: {:?} ticks after a follower, a captain", bill.handover);
        assert_eq!(bill.handover, [2 * T, T]);
    }
}

#[test]
fn all_sites_can_be_inside_at_once() {
    let mut plan = plan(8, 1, Span::Fixed(0));
    (plan.requests, plan.inside) = (vec![1; 8], Span::Fixed(10 * T));
    assert_eq!(measure(&plan, 1).0.most_inside, 8);
}

/// Counts the messages of attempts to make a token.
#[derive(Default)]
struct AttemptCost(u64);

impl Observer for AttemptCost {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        if let Event::Sends { message, .. } = event {
            let kinds = ["prepare", "promise", "nack", "new_epoch", "withdraw"];
            let counts = kinds.contains(&message.kind);
            self.0 += u64::from(counts);
        }
    }
}

/// A cluster in which the second site misses the token that the first one had.
struct Regeneration {
    world: Box<dyn AnyWorld>,
    cost: AttemptCost,
    first: SiteId,
    second: SiteId,
}

impl Regeneration {
    fn new(n: usize) -> Self {
        let quorums = build(Kind::Majority, n).unwrap();
        let cluster = setup::<TokenLock>(quorums, Options::default());
        let (first, second) = (SiteId::new(0), SiteId::new(1));
        let world = cluster.world(None, Order::Fifo);
        Self { world, cost: AttemptCost::default(), first, second }
    }

    fn restart_holder(&mut self) {
        self.world.suffer(Fault::Crash(self.first), &mut self.cost);
        self.world.suffer(Fault::Restart(self.first), &mut self.cost);
    }

    fn acquire(&mut self, site: SiteId, group: &str) -> ClaimId {
        let claim = Claim::of(TokenLock::parse_claim(&[group]).unwrap());
        let id = self.world.acquire(site, &claim, &mut self.cost).unwrap();
        self.world.settle(&mut self.cost);
        id
    }

    fn expire_t1(&mut self) {
        assert!(self.world.expire_named(self.second, "t1", &mut self.cost));
    }

    /// Delivers everything that is under way; the messages of the attempt.
    fn settle(mut self) -> u64 {
        self.world.settle(&mut self.cost);
        self.cost.0
    }
}

#[test]
fn a_new_token_costs_three_messages_for_every_other_site() {
    for n in [3, 5, 9] {
        let mut sites = Regeneration::new(n);
        sites.restart_holder();
        sites.acquire(sites.second, "a");
        sites.expire_t1();
        sites.world.settle(&mut sites.cost);
        assert_eq!((sites.world.inside(), sites.cost.0), (1, 3 * (n as u64 - 1)));
    }
}

/// The holder's nack ends the attempt. The promises of all others arrive after it, and each is
/// answered by another withdraw.
#[test]
fn an_attempt_that_a_holder_refuses_costs_up_to_4n_minus_5_messages() {
    for n in [3, 5, 9] {
        let mut sites = Regeneration::new(n);
        sites.acquire(sites.first, "a");
        sites.acquire(sites.second, "b");
        sites.expire_t1();
        for voter in SiteId::all(n).filter(|&site| site != sites.second) {
            sites.world.deliver((sites.second, voter, Lane::Up), &mut sites.cost);
        }
        let nack = (sites.first, sites.second, Lane::Down);
        sites.world.deliver(nack, &mut sites.cost);
        assert_eq!(sites.settle(), 4 * n as u64 - 5);
    }
}

/// The caller gives up before any promise arrives: every promise is answered by a second withdraw.
#[test]
fn an_attempt_costs_at_most_four_messages_for_every_other_site() {
    for n in [3, 5, 9] {
        let mut sites = Regeneration::new(n);
        sites.restart_holder();
        let claim = sites.acquire(sites.second, "a");
        sites.expire_t1();
        sites.world.give_up(sites.second, claim, &mut sites.cost).unwrap();
        assert_eq!(sites.settle(), 4 * (n as u64 - 1));
    }
}

/// Under loss, crashes, partitions and callers that give up, everybody is served. With leases no
/// two groups are ever inside together.
#[test]
fn everybody_is_served_under_all_faults() {
    for (n, loss_percent) in [(3, 20), (5, 10), (9, 1)] {
        for lease in [None, Some(std::time::Duration::from_millis(60))] {
            let options = Options { lease, ..Options::default() };
            let sessionless = SessionlessFaults {
                crash: 2,
                cut: 2,
                loss_percent,
                ..SessionlessFaults::default()
            };
            let claims = Claims::parse::<TokenLock>("a; a b; b; b c").unwrap();
            let plan = Plan {
                sessionless,
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

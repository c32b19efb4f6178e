//! The message cost of a group lock, by the rule of `docs/protocols/group.md`: a `cancel`, its
//! `cancelled` and the `ok` that restores the vote are charged to the request that caused the
//! `cancel`. Requesters and managers are on different sites, so every message counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_protocol::group::{Choice, Claim, Grant, Group, GroupLock, Message, Options};
use quorate_protocol::{SiteId, Tick, Ticket};
use quorate_quorum::{Kind, Listed, QuorumSystem, SiteSet, build};
use quorate_sim::random::{Plan, Span, T, TimedObserver, run};
use quorate_sim::{
    AnyWorld, Claim as Asked, Claims, Event, Lane, Observer, Order, SimProtocol, setup,
};

/// Counts the messages charged to each request.
#[derive(Default)]
struct Bill {
    charged: BTreeMap<Ticket, u64>,
    /// The requests that entered, and whether each was a pivot.
    served: BTreeMap<Ticket, bool>,
    /// The request of the last message each site received.
    received: BTreeMap<SiteId, Ticket>,
    /// The requests that had a manager's vote, and the request that caused its cancel.
    votes: BTreeMap<(SiteId, Ticket), Option<Ticket>>,
    messages: u64,
}

impl Bill {
    fn send(&mut self, from: SiteId, to: SiteId, message: &Message) {
        let ticket = message.ticket();
        let payer = match message {
            Message::Cancel { .. } => {
                self.votes.insert((from, ticket), Some(self.received[&from]));
                self.received[&from]
            }
            Message::Cancelled { .. } => {
                self.votes[&(to, ticket)].expect("the vote was called back")
            }
            Message::Ok { .. } => {
                let before = self.votes.insert((from, ticket), None);
                before.flatten().unwrap_or(ticket)
            }
            _ => ticket,
        };
        self.messages += 1;
        *self.charged.entry(payer).or_default() += 1;
    }

    fn record(&mut self, event: &Event<'_>) {
        match *event {
            Event::Sends { from, to, message } => self.send(from, to, message.downcast()),
            Event::Receives { to, message, .. } => {
                self.received.insert(to, message.downcast::<Message>().ticket());
            }
            Event::Enters(_, grant) => {
                let grant: &Grant = grant.downcast();
                self.served.insert(grant.ticket, grant.is_pivot());
            }
            _ => {}
        }
    }

    fn followers(&self) -> usize {
        self.served.values().filter(|&&pivot| !pivot).count()
    }
}

impl Observer for Bill {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        self.record(event);
    }
}

impl TimedObserver for Bill {
    fn see(&mut self, _: Tick, _: usize, event: &Event<'_>) {
        self.record(event);
    }
}

fn site(number: usize) -> SiteId {
    SiteId::new(number - 1)
}

fn claim(text: &str) -> Claim {
    GroupLock::parse_claim(&text.split_whitespace().collect::<Vec<_>>()).unwrap()
}

/// A cluster, and the messages sent in it.
struct Cluster {
    world: Box<dyn AnyWorld>,
    bill: Bill,
}

impl Cluster {
    fn new(quorums: &str) -> Self {
        Self::with_order(quorums, Order::Fifo)
    }

    fn with_order(quorums: &str, order: Order) -> Self {
        let quorums: Arc<dyn QuorumSystem> = Arc::new(quorums.parse::<Listed>().unwrap());
        let world = setup::<GroupLock>(quorums, Options::default()).world(None, order);
        Self { world, bill: Bill::default() }
    }

    /// A caller asks; the lower ticket goes first.
    fn acquires(&mut self, number: usize, groups: &str) -> Ticket {
        let claim = Asked::of(claim(groups));
        let claim = self.world.acquire(site(number), &claim, &mut self.bill).unwrap();
        let view = self.world.view(site(number));
        view.claims.iter().map(|view| view.ticket).find(|ticket| ticket.claim == claim).unwrap()
    }

    fn releases(&mut self, ticket: Ticket) {
        self.world.release(ticket.site, ticket.claim, &mut self.bill).unwrap();
    }

    fn deliver(&mut self, from: usize, to: usize) {
        assert!(self.world.deliver((site(from), site(to), Lane::Up), &mut self.bill));
    }

    /// Delivers the first message of this kind, out of order.
    fn deliver_kind(&mut self, from: usize, to: usize, kind: &str) {
        let channel = (site(from), site(to), Lane::Up);
        let under_way = self.world.under_way(channel);
        let at = under_way.iter().position(|message| message.kind == kind);
        let at = at.expect("such a message is in flight");
        assert!(self.world.deliver_at(channel, at, &mut self.bill));
    }

    fn settle(&mut self) {
        self.world.settle(&mut self.bill);
        assert_eq!(self.world.breach(), None);
    }

    /// Releases every grant until no request waits.
    fn empty(&mut self) {
        loop {
            self.settle();
            let inside = SiteId::all(self.world.n()).find_map(|site| {
                let mut claims = self.world.claims(site).keys().copied();
                let claim = claims.find(|claim| self.world.grant(site, *claim).is_some())?;
                Some((site, claim))
            });
            let Some((site, claim)) = inside else { return assert_eq!(self.world.waiting(), 0) };
            self.world.release(site, claim, &mut self.bill).unwrap();
        }
    }
}

/// E5: a `cancel` overtakes its `ok`, and a vote that was given back is counted.
#[test]
fn without_fifo_two_groups_are_inside() {
    let order = Order::Any { duplicates: 0 };
    let mut cluster = Cluster::with_order("quorum 3: 1 2\nquorum 4: 2", order);
    cluster.world.set_clock(site(3), 5);
    cluster.acquires(3, "a");
    cluster.deliver_kind(3, 2, "request");
    cluster.acquires(4, "b");
    cluster.deliver_kind(4, 2, "request");
    cluster.deliver_kind(2, 3, "cancel");
    cluster.deliver_kind(2, 3, "ok");
    cluster.deliver_kind(3, 1, "request");
    cluster.deliver_kind(1, 3, "ok");
    cluster.deliver_kind(3, 2, "cancelled");
    assert_eq!(cluster.world.breach(), None);
    cluster.deliver_kind(2, 4, "ok");
    assert_eq!(cluster.world.breach().map(|breach| breach.property), Some("exclusion"));
}

#[test]
fn a_request_alone_costs_six_messages_per_manager() {
    for size in 1..=6 {
        let members: Vec<String> = (1..=size).map(|member: u64| member.to_string()).collect();
        let mut cluster = Cluster::new(&format!("quorum {}: {}", size + 1, members.join(" ")));
        let ticket = cluster.acquires(usize::try_from(size + 1).unwrap(), "a");
        cluster.empty();
        assert_eq!(cluster.bill.charged, BTreeMap::from([(ticket, 6 * size)]));
    }
}

/// One manager admits it, the other votes for it, and neither cancels.
#[test]
fn a_follower_answered_by_all_costs_three_messages_per_manager() {
    let mut cluster = Cluster::new("quorum 4: 1 2\nquorum 5: 1 3");
    cluster.acquires(4, "a");
    cluster.settle();
    let follower = cluster.acquires(5, "a");
    cluster.deliver(5, 3);
    cluster.settle();
    cluster.releases(follower);
    cluster.settle();
    assert_eq!(cluster.bill.charged[&follower], 3 * 2);
}

/// E9: the other manager has voted for a stronger request and has no reason to answer.
#[test]
fn a_follower_costs_at_least_two_messages_per_manager_and_one() {
    let mut cluster = Cluster::new("quorum 4: 1 2\nquorum 5: 2 3\nquorum 6: 1 3");
    cluster.acquires(4, "a");
    cluster.settle();
    cluster.acquires(5, "b");
    cluster.settle();
    let follower = cluster.acquires(6, "a");
    cluster.settle();
    cluster.releases(follower);
    cluster.settle();
    assert_eq!(cluster.bill.charged[&follower], 2 * 2 + 1);
}

/// E9: it overtakes the holder of every vote.
#[test]
fn the_worst_request_costs_nine_messages_per_manager() {
    let mut cluster = Cluster::new("quorum 3: 1 2\nquorum 4: 1 2\nquorum 5: 1 2");
    cluster.world.set_clock(site(4), 5);
    cluster.world.set_clock(site(5), 6);
    cluster.acquires(4, "b");
    cluster.deliver(4, 1);
    cluster.acquires(5, "c");
    cluster.deliver(5, 2);
    let worst = cluster.acquires(3, "a");
    cluster.deliver(3, 1);
    cluster.deliver(3, 2);
    cluster.empty();
    assert_eq!(cluster.bill.charged[&worst], 9 * 2);
}

/// Managers with the quorums of a construction, and nine requesters that use them in rotation.
fn nine(kind: Kind, managers: usize) -> (Arc<dyn QuorumSystem>, u64) {
    let all = SiteSet::full(managers);
    let built = build(kind, managers).unwrap();
    let quorum = |at: usize| built.pick_for(SiteId::new(at % managers), &all);
    let mut own: Vec<Option<SiteSet>> = vec![None; managers];
    own.extend((0..9).map(quorum));
    let size = own[managers].as_ref().unwrap().len() as u64;
    (Arc::new(Listed::new(own).unwrap()), size)
}

/// Twelve claims for each requester: `some` of `groups`, pseudo-random.
fn claims(managers: usize, groups: u64, some: usize) -> Claims {
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut claim = || {
        let mut names = std::collections::BTreeSet::new();
        while names.len() < some {
            names.insert(draw(groups));
        }
        let group = |name: &u64| Group::new(&format!("g{name}"));
        Claim { groups: names.iter().map(group).collect(), no_wait: false }
    };
    let each = (0..managers + 9).map(|_| (0..12).map(|_| claim()).collect());
    Claims::each(each.collect())
}

fn plan(quorums: Arc<dyn QuorumSystem>, managers: usize, claims: Claims, choice: Choice) -> Plan {
    let mut requests = vec![0; managers];
    requests.extend([12; 9]);
    let options = Options { choice, ..Options::default() };
    Plan { requests, think: Span::UpTo(2 * T), ..Plan::new::<GroupLock>(quorums, options, claims) }
}

fn runs(plan: &Plan, seeds: u64) -> impl Iterator<Item = Bill> + '_ {
    (0..seeds).map(move |seed| {
        let mut bill = Bill::default();
        let outcome = run(plan, seed, &mut bill);
        assert!(outcome.breach.is_none(), "seed {seed}: {:?}", outcome.breach);
        assert_eq!((outcome.tally.unserved, bill.served.len()), (0, 108));
        bill
    })
}

/// E9: the least is reached on every system, and the most is never exceeded.
#[test]
fn no_request_costs_less_than_the_least_or_more_than_the_most() {
    for (kind, managers) in
        [(Kind::Majority, 3), (Kind::Majority, 5), (Kind::Plane, 7), (Kind::Grid, 9)]
    {
        let (quorums, size) = nine(kind, managers);
        let plan = plan(quorums, managers, claims(managers, 3, 2), Choice::Arbitrary);
        let (mut least, mut most, mut messages, mut requests) = (u64::MAX, 0, 0, 0);
        for bill in runs(&plan, 60) {
            least = least.min(*bill.charged.values().min().unwrap());
            most = most.max(*bill.charged.values().max().unwrap());
            messages += bill.messages;
            requests += bill.served.len() as u64;
        }
        println!(
            "{kind} of {managers}: from {least} to {most}, {:.2} |Q| a request",
            messages as f64 / (requests * size) as f64
        );
        assert_eq!(least, 2 * size + 1, "{kind}");
        assert!(most <= 9 * size, "{kind}: {most}");
    }
}

/// The share of followers in percent, and the messages of a request in units of |Q|.
fn share_and_cost(groups: u64, some: usize, choice: Choice) -> (f64, f64) {
    let (quorums, size) = nine(Kind::Majority, 3);
    let plan = plan(quorums, 3, claims(3, groups, some), choice);
    let (mut followers, mut messages, mut requests) = (0, 0, 0);
    for bill in runs(&plan, 60) {
        followers += bill.followers();
        messages += bill.messages;
        requests += bill.served.len();
    }
    let share = 100.0 * followers as f64 / requests as f64;
    (share, messages as f64 / (requests as u64 * size) as f64)
}

#[test]
fn the_most_waiting_choice_gives_more_followers_and_fewer_messages() {
    for (groups, some) in [(8, 3), (6, 2), (3, 2)] {
        let (share, cost) = share_and_cost(groups, some, Choice::Arbitrary);
        let (more, less) = share_and_cost(groups, some, Choice::MostWaiting);
        println!(
            "{some} of {groups}: {share:.1} % follow at {cost:.2} |Q|, {more:.1} % at {less:.2} |Q|"
        );
        assert!(more > share && less < cost, "{some} of {groups}");
    }
}

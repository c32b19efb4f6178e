//! The message cost and the waiting times of a role lock, in the paper's setting: each group is
//! also an arbiter, one at each site, with cyclic quorums. Processes are at sites of their own, so
//! that every message of theirs counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::group::Group;
use quorate_protocol::role::mutations::{Mutant, Mutation};
use quorate_protocol::role::{Claim, Grant, Message, Options, Role, RoleLock};
use quorate_protocol::{ClaimId, SiteId, Tick, Ticket};
use quorate_quorum::{Kind, Listed, QuorumSystem, SiteSet, build};
use quorate_sim::random::{Delay, Outcome, Plan, Span, T, TimedObserver, run};
use quorate_sim::{Caller, Claims, Event, Order, Quorums, SimProtocol};

/// L admissions, S stages, Y locks given back and I inquiries, as in `docs/protocols/role.md`; and
/// what is needed to count them.
#[derive(Default)]
struct Ledger {
    admissions: u64,
    stages: BTreeSet<Ticket>,
    yields: u64,
    inquiries: u64,
    messages: u64,
    under_way: u64,
    waiting: u64,
    inside: u64,
    /// The groups of the stages, in order of entry.
    stage_groups: Vec<Group>,
    /// How many stages had begun when each claim was made.
    asked: BTreeMap<(SiteId, ClaimId), usize>,
    foreign_most: usize,
    /// When each stage is planned to end.
    deadlines: BTreeMap<Ticket, Tick>,
    overrun_most: u64,
    quiet: u64,
    /// The number of quorum members other than the group itself.
    others: u64,
}

impl Ledger {
    fn new(q: u64) -> Self {
        Self { others: q - 1, ..Self::default() }
    }

    /// The exact count: total = 3 L + 3 (q - 1) S + 2 Y + I.
    fn settle(&mut self) {
        let Self { admissions, stages, yields, inquiries, others, .. } = self;
        let stages = stages.len() as u64;
        let total = 3 * *admissions + 3 * *others * stages + 2 * *yields + *inquiries;
        assert_eq!(self.messages, total, "L {admissions}, S {stages}, Y {yields}, I {inquiries}");
        self.quiet += 1;
    }

    fn send(&mut self, now: Tick, message: &Message) {
        self.messages += 1;
        self.under_way += 1;
        match *message {
            Message::RepRelGroup { .. } => self.yields += 1,
            Message::RelGroup { .. } => self.inquiries += 1,
            Message::RepProcess { pr, left, .. } => {
                self.deadlines.insert(pr, now + left);
            }
            Message::LibGroup { pr, .. } => {
                let deadline = self.deadlines.get(&pr).copied().unwrap_or(now);
                self.overrun_most = self.overrun_most.max(now.0.saturating_sub(deadline.0));
            }
            _ => {}
        }
    }

    fn enter(&mut self, claim: (SiteId, ClaimId), grant: &Grant) {
        (self.admissions, self.waiting, self.inside) =
            (self.admissions + 1, self.waiting - 1, self.inside + 1);
        let asked = self.asked.remove(&claim).unwrap();
        let foreign =
            self.stage_groups[asked..].iter().filter(|group| **group != grant.group).count();
        self.foreign_most = self.foreign_most.max(foreign);
        if self.stages.insert(grant.stage) {
            self.stage_groups.push(grant.group.clone());
        }
    }

    fn record(&mut self, now: Tick, event: &Event<'_>) {
        match *event {
            Event::Acquires(Caller { site, claim, .. }) => {
                if (self.under_way, self.waiting, self.inside) == (0, 0, 0) {
                    self.settle();
                }
                self.waiting += 1;
                self.asked.insert((site, claim), self.stage_groups.len());
            }
            Event::Sends { from, to, message } if from != to => self.send(now, message.downcast()),
            Event::Receives { from, to, .. } if from != to => self.under_way -= 1,
            Event::Enters(Caller { site, claim, .. }, grant) => {
                self.enter((site, claim), grant.downcast());
            }
            Event::Releases(..) => self.inside -= 1,
            _ => {}
        }
    }
}

impl TimedObserver for Ledger {
    fn see(&mut self, now: Tick, _: usize, event: &Event<'_>) {
        self.record(now, event);
    }
}

/// Groups and arbiters at the first `m` sites, and `processes` sites with one process each.
fn cluster(m: usize, processes: usize) -> (Arc<dyn QuorumSystem>, u64) {
    let cyclic = build(Kind::Cyclic, m).unwrap();
    let own = |site| cyclic.pick_for(site, &SiteSet::full(m)).unwrap();
    let q = own(SiteId::new(0)).len() as u64;
    let own = SiteId::all(m).map(|site| Some(own(site)));
    let listed = Listed::new(own.chain((0..processes).map(|_| None)).collect()).unwrap();
    (Arc::new(listed), q)
}

/// One group for each of the first `m` sites, hosted there.
fn groups(m: usize, quorums: &Arc<dyn QuorumSystem>) -> Vec<Group> {
    let shared = quorums.shared(SiteId::new(0));
    let mut found: BTreeMap<SiteId, Group> = BTreeMap::new();
    for number in 0.. {
        let group = Group::new(&format!("g{number}"));
        let host = RoleLock::host_of(&group, &shared).unwrap();
        found.entry(host).or_insert(group);
        if found.len() == m {
            break;
        }
    }
    found.into_values().collect()
}

/// Every process asks for `several` groups at a time, different ones each time, and for every third
/// of them exclusively.
fn claims(groups: &[Group], processes: usize, several: usize) -> Vec<Vec<Claim>> {
    let claim = |process: usize, round: usize| {
        let role = |place: usize| {
            if (process + round + place).is_multiple_of(3) { Role::Exclusive } else { Role::Shared }
        };
        let group = |place: usize| groups[(process * 5 + round * 7 + place) % groups.len()].clone();
        let time = Duration::from_millis((1 + (process * 3 + round * 5) % 8) as u64);
        Claim {
            groups: (0..several).map(|place| (group(place), role(place))).collect(),
            time,
            no_wait: false,
        }
    };
    (0..processes).map(|process| (0..6).map(|round| claim(process, round)).collect()).collect()
}

fn plan<P>(m: usize, processes: usize, several: usize, options: P::Options) -> (Plan, u64)
where
    P: SimProtocol<Claim = Claim, Quorums = Arc<dyn QuorumSystem>>,
{
    let (quorums, q) = cluster(m, processes);
    let mut each = vec![claims(&groups(m, &quorums), 1, 1).remove(0); m];
    each.extend(claims(&groups(m, &quorums), processes, several));
    let mut requests = vec![0; m];
    requests.resize(m + processes, 6);
    let plan = Plan {
        requests,
        think: Span::UpTo(60 * T),
        inside: Span::Fixed(1000 * T),
        ..Plan::calm::<P>(quorums, options, Claims::each(each))
    };
    (plan, q)
}

/// Maxima and sums over some runs.
fn worst(plan: &Plan, q: u64, seeds: std::ops::Range<u64>) -> Ledger {
    let mut worst = Ledger::default();
    for seed in seeds {
        let mut ledger = Ledger::new(q);
        let Outcome { tally, breach } = run(plan, seed, &mut ledger);
        assert!(breach.is_none() && tally.unserved == 0, "seed {seed}: {breach:?}");
        ledger.settle();
        worst.foreign_most = worst.foreign_most.max(ledger.foreign_most);
        worst.overrun_most = worst.overrun_most.max(ledger.overrun_most);
        worst.quiet += ledger.quiet;
        worst.admissions += ledger.admissions;
        worst.stage_groups.append(&mut ledger.stage_groups);
        worst.yields += ledger.yields;
        worst.inquiries += ledger.inquiries;
        worst.messages += ledger.messages;
    }
    worst
}

/// The one-way delay as the simulator has it.
fn exact_delay() -> Options {
    Options { tc: Duration::from_nanos(T), ..Options::default() }
}

/// The message count is exact, no stage exceeds its budget, and few foreign stages pass.
#[test]
fn message_counts_and_stage_lengths_are_exact() {
    for (m, seeds) in [(3, 0..40), (7, 0..20), (13, 0..10), (21, 0..6)] {
        let (plan, q) = plan::<RoleLock>(m, 3 * m, 1, exact_delay());
        let Ledger {
            foreign_most, overrun_most, admissions, stage_groups, yields, inquiries, ..
        } = worst(&plan, q, seeds.clone());
        let stages = stage_groups.len();
        println!(
            "m {m}: L {admissions} S {stages} Y {yields} I {inquiries} foreign {foreign_most}"
        );
        assert_eq!(overrun_most, 0, "no stage exceeds its budget");
        assert!(foreign_most <= 2 * (m - 1), "{foreign_most} foreign stages of {m} groups");
    }
}

/// The count is exact with varying delays and reordered messages too.
#[test]
fn the_count_is_exact_for_all_delays() {
    for m in [3, 7, 13, 21] {
        let (plan, q) = plan::<RoleLock>(m, 3 * m, 1, exact_delay());
        let plan = Plan { delay: Delay::Exponential, think: Span::UpTo(400 * T), ..plan };
        let fifo = worst(&plan, q, 0..4);
        let options = Options { unordered: true, ..exact_delay() };
        let plan = Plan { order: Order::Any { duplicates: 0 }, ..plan.of::<RoleLock>(options) };
        let any = worst(&plan, q, 0..4);
        println!("m {m}: foreign {} in order, {} in any", fifo.foreign_most, any.foreign_most);
        assert!(fifo.quiet + any.quiet > 8, "there are quiescent moments during the runs");
        assert!(fifo.foreign_most.max(any.foreign_most) <= 2 * (m - 1));
    }
}

/// A7: if a request accepted while no exclusive member is inside is admitted only when a member
/// leaves, stages exceed their budget.
#[test]
fn an_accepted_request_must_be_admitted_at_once() {
    let (plan, q) = plan::<Mutant>(3, 9, 1, (exact_delay(), Mutation::A7Late));
    assert!(worst(&plan, q, 0..10).overrun_most > 0);
}

/// A14: without the round trip in the cost, stages exceed their budget.
#[test]
fn costs_must_include_the_round_trip() {
    let (plan, q) = plan::<Mutant>(3, 9, 1, (exact_delay(), Mutation::A14));
    assert!(worst(&plan, q, 0..10).overrun_most > 0);
}

/// A request of several groups: 3 + 2 (|A| - 1) messages, and 2 for each late admission.
#[test]
fn several_groups_cost_two_messages_each() {
    for several in [1, 2, 3] {
        let (plan, _) = plan::<RoleLock>(7, 21, several, exact_delay());
        let (mut stages, mut entries) = (0, 0);
        for seed in 0..5 {
            let mut seen = Stages::default();
            let Outcome { tally, breach } = run(&plan, seed, &mut seen);
            assert!(breach.is_none() && tally.unserved == 0);
            let of = |kind| tally.by_kind.get(kind).copied().unwrap_or_default();
            let late = of("rep-process") - tally.entries;
            let asked = several as u64 * tally.entries;
            assert_eq!((of("req-process"), of("rel-process")), (asked, asked + late));
            (stages, entries) = (stages + seen.0.len() as u64, entries + tally.entries);
        }
        println!("{several} groups: {entries} admissions in {stages} stages");
    }
}

/// The stages that had members.
#[derive(Default)]
struct Stages(BTreeSet<Ticket>);

impl TimedObserver for Stages {
    fn see(&mut self, _: Tick, _: usize, event: &Event<'_>) {
        if let Event::Enters(_, grant) = event {
            self.0.insert(grant.downcast::<Grant>().stage);
        }
    }
}

//! Random runs: a seed decides how long everything takes, and so the order of events.

mod delay;
mod faults;
mod plan;
mod tally;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use quorate_protocol::{ClaimId, SessionNo, Tick};
use quorate_quorum::SiteId;

use self::delay::Arrivals;
use self::faults::FaultPlan;
use self::tally::Counter;
use crate::chance::Chance;
use crate::{AnyWorld, Breach, Caller, ClaimState, Event, Fault, Lane, Observer, Order};

pub use self::delay::Delay;
pub use self::plan::Plan;
pub use self::tally::Tally;

/// The mean delay of a message: a millisecond, in ticks.
pub const T: u64 = 1_000_000;

/// How long something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Always so many ticks.
    Fixed(u64),
    /// Anything up to so many ticks.
    UpTo(u64),
}

impl Span {
    fn draw(self, chance: &mut Chance) -> u64 {
        match self {
            Span::Fixed(ticks) => ticks,
            Span::UpTo(most) => chance.below(most + 1),
        }
    }

    /// The longest it can take.
    fn most(self) -> u64 {
        match self {
            Span::Fixed(ticks) | Span::UpTo(ticks) => ticks,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was counted.
    pub tally: Tally,
    /// The property that broke, if one did; the run ends there.
    pub breach: Option<Breach>,
}

/// Runs `plan` with one seed. The same seed gives the same history, byte for byte.
///
/// ```
/// use quorate_protocol::mutex::{Mutex, Options};
/// use quorate_quorum::{build, Kind};
/// use quorate_sim::random::{run, Plan};
/// use quorate_sim::{Claims, Unwatched};
///
/// let majority = build(Kind::Majority, 5)?;
/// let plan = Plan::new::<Mutex>(majority, Options::default(), Claims::all(vec![()]));
/// let outcome = run(&plan, 7, &mut Unwatched);
/// assert_eq!((outcome.tally.entries, outcome.tally.unserved), (10, 0));
/// assert!(outcome.breach.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(plan: &Plan, seed: u64, watch: &mut dyn TimedObserver) -> Outcome {
    let mut run = Run::new(plan, seed);
    for site in SiteId::all(run.world.n()) {
        for _ in 0..plan.claims.most_at_once() {
            run.think(site);
        }
    }
    run.plan_faults();
    while run.world.breach().is_none() && run.step(watch) {
        watch.look(&*run.world);
    }
    run.counter.tally.unserved = run.world.waiting() as u64;
    run.counter.tally.elapsed_ticks = run.world.now().0;
    Outcome { tally: run.counter.tally, breach: run.world.breach().cloned() }
}

/// Observes a run.
pub trait TimedObserver {
    /// Sees one event; `depth` as in [`Observer::see`].
    fn see(&mut self, now: Tick, depth: usize, event: &Event<'_>);

    /// As [`Observer::wants_estimates`].
    fn wants_estimates(&self) -> bool {
        false
    }

    /// Looks at the world after an action and its immediate effects.
    fn look(&mut self, _: &dyn AnyWorld) {}
}

impl TimedObserver for crate::Unwatched {
    fn see(&mut self, _: Tick, _: usize, _: &Event<'_>) {}
}

/// What is due at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A message, unless the session it was sent in has ended.
    Deliver(SiteId, SiteId, Lane, SessionNo),
    /// The next claim of a site, unless the site has crashed since.
    Acquire(SiteId, u32),
    Release(SiteId, ClaimId),
    GiveUp(SiteId, ClaimId),
    /// A fault of this kind happens somewhere.
    Fault(FaultKind),
    /// A fault that must follow from others.
    Consequence(Fault),
    /// A cut ends.
    Mend,
    /// A timer of a site, if it is still armed for this moment: the one at this place among those
    /// that are.
    Expire(SiteId),
}

/// The faults that need no cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FaultKind {
    Lose,
    Silent,
    Crash,
    Cut,
}

/// A run that is under way.
struct Run<'a> {
    plan: &'a Plan,
    world: Box<dyn AnyWorld>,
    chance: Chance,
    arrivals: Arrivals,
    /// The planned events, the earliest first; among equals the one that was planned first.
    agenda: BinaryHeap<Reverse<(Tick, u64, Due)>>,
    planned: u64,
    /// How many planned events are no timers.
    awaited: u64,
    counter: Counter,
    follow_ups: Vec<FollowUp>,
    gives_up_left: u32,
    duplicates_left: u32,
    fault_plan: FaultPlan,
}

/// An effect of an action that the run has to plan for.
#[derive(Clone, Copy, Debug)]
enum FollowUp {
    Sent(SiteId, SiteId, Lane),
    /// With the longest time it may stay.
    Entered(SiteId, ClaimId, u64),
    Lost(SiteId),
    Armed(SiteId, Tick),
}

impl<'a> Run<'a> {
    fn new(plan: &'a Plan, seed: u64) -> Self {
        let n = plan.setup.n();
        assert_eq!(plan.requests.len(), n, "a plan names the requests of every site");
        let contract = plan.faults.map(|faults| faults.contract);
        let world = Arc::clone(&plan.setup).world(contract, plan.order);
        Self {
            plan,
            world,
            chance: Chance::new(seed),
            arrivals: Arrivals::new(n, plan.delay, plan.skew, seed),
            agenda: BinaryHeap::new(),
            planned: 0,
            awaited: 0,
            counter: Counter::new(n),
            follow_ups: Vec::new(),
            gives_up_left: plan.gives_up,
            duplicates_left: match plan.order {
                Order::Fifo => 0,
                Order::Any { duplicates } => duplicates,
            },
            fault_plan: FaultPlan::new(n),
        }
    }

    fn plan_for(&mut self, at: Tick, due: Due) {
        self.planned += 1;
        self.awaited += u64::from(!matches!(due, Due::Expire(_)));
        self.agenda.push(Reverse((at, self.planned, due)));
    }

    fn in_ticks(&self, ticks: u64) -> Tick {
        Tick(self.world.now().0 + ticks)
    }

    /// Plans the next claim of `site`, if it has any left.
    fn think(&mut self, site: SiteId) {
        if self.world.claims_made(site) < self.plan.requests[site.index()] {
            let ticks = self.plan.think.draw(&mut self.chance);
            self.plan_for(self.in_ticks(ticks), Due::Acquire(site, self.fault_plan.crashes(site)));
        }
    }

    /// Does what is due next; false if nothing is.
    fn step(&mut self, watch: &mut dyn TimedObserver) -> bool {
        // Timers alone do not keep a run going in which everything is over.
        if self.awaited == 0 && self.world.is_at_rest() {
            return false;
        }
        let Some(Reverse((at, _, due))) = self.agenda.pop() else { return false };
        self.awaited -= u64::from(!matches!(due, Due::Expire(_)));
        self.world.set_now(at);
        match due {
            Due::Deliver(from, to, lane, number) => self.deliver(from, to, lane, number, watch),
            Due::Acquire(site, crashes) => {
                if crashes == self.fault_plan.crashes(site) {
                    self.acquire(site, watch);
                }
            }
            Due::Release(site, claim) => {
                // It may have been lost, or its site may have crashed.
                if self.world.claim_state(site, claim) == Some(ClaimState::Inside) {
                    let (world, mut observer) = self.observer(watch);
                    world.release(site, claim, &mut observer).expect("the caller is inside");
                    self.think(site);
                }
            }
            Due::GiveUp(site, claim) => {
                if self.world.claim_state(site, claim) == Some(ClaimState::Waiting) {
                    let (world, mut observer) = self.observer(watch);
                    world.give_up(site, claim, &mut observer).expect("the caller waits");
                    self.think(site);
                }
            }
            Due::Fault(kind) => self.inject_fault(kind, watch),
            Due::Consequence(fault) => self.suffer_if_owed(fault, watch),
            Due::Mend => self.fault_plan.mend(),
            Due::Expire(site) => self.expire(site, watch),
        }
        self.plan_follow_ups();
        true
    }

    /// The world, and where its events go.
    fn observer<'b>(
        &'b mut self,
        watch: &'b mut dyn TimedObserver,
    ) -> (&'b mut dyn AnyWorld, RunObserver<'b>) {
        let (now, sessions) = (self.world.now(), self.plan.faults.is_some());
        let (counter, follow_ups) = (&mut self.counter, &mut self.follow_ups);
        (&mut *self.world, RunObserver { now, sessions, counter, follow_ups, watch })
    }

    fn acquire(&mut self, site: SiteId, watch: &mut dyn TimedObserver) {
        let made = self.world.claims_made(site);
        if made >= self.plan.requests[site.index()] {
            return;
        }
        let claim = self.plan.claims.next(site, made);
        let (world, mut observer) = self.observer(watch);
        // A site without a quorum cannot ask; its claims count for nothing.
        if let Ok(claim) = world.acquire(site, claim, &mut observer) {
            self.consider_giving_up(site, claim);
        }
    }

    fn deliver(
        &mut self,
        from: SiteId,
        to: SiteId,
        lane: Lane,
        number: SessionNo,
        watch: &mut dyn TimedObserver,
    ) {
        let (client, server) = ends(from, to, lane);
        let at = self.next_at(from, to, lane);
        let lost = self.is_lost(from, to);
        let (world, mut observer) = self.observer(watch);
        let ended = number != world.session(client, server);
        let arrived = !ended
            && if lost {
                world.drop_at((from, to, lane), at, &mut observer)
            } else {
                world.deliver_at((from, to, lane), at, &mut observer)
            };
        assert!(arrived || observer.sessions, "a planned message is under way");
    }

    /// Whether a message that would arrive now does not.
    fn is_lost(&mut self, from: SiteId, to: SiteId) -> bool {
        let percent = u64::from(self.plan.sessionless.loss_percent);
        self.fault_plan.parts(from, to) || (percent > 0 && self.chance.below(100) < percent)
    }

    /// The timers of a site that are due run out; those that were armed anew have another time.
    fn expire(&mut self, site: SiteId, watch: &mut dyn TimedObserver) {
        let now = self.world.now();
        loop {
            let due = self.world.timers(site).iter().position(|timer| timer.due <= now);
            let Some(at) = due else { return };
            let (world, mut observer) = self.observer(watch);
            world.expire(site, at, &mut observer);
        }
    }

    /// Which message of a channel comes next: the first, or any.
    fn next_at(&mut self, from: SiteId, to: SiteId, lane: Lane) -> usize {
        match self.plan.order {
            Order::Fifo => 0,
            Order::Any { .. } => {
                let under_way = self.world.under_way_count((from, to, lane)) as u64;
                usize::try_from(self.chance.below(under_way)).expect("a place in the channel")
            }
        }
    }

    /// Every fourth caller is impatient, as long as some may give up.
    fn consider_giving_up(&mut self, site: SiteId, claim: ClaimId) {
        if self.gives_up_left > 0 && self.chance.below(4) == 0 {
            self.gives_up_left -= 1;
            let timeout = self.chance.below(10 * T);
            self.plan_for(self.in_ticks(timeout), Due::GiveUp(site, claim));
        }
    }

    /// Plans the arrival of a message. In a session that its client does not know of yet, that is
    /// done when it does.
    fn send(&mut self, from: SiteId, to: SiteId, lane: Lane) {
        let (client, server) = ends(from, to, lane);
        if lane == Lane::Up || !self.world.is_opening(client, server) {
            let now = self.world.now();
            let at = self.arrivals.arrival(now, (from, to, lane), &mut self.chance);
            let number = self.world.session(client, server);
            self.plan_for(at, Due::Deliver(from, to, lane, number));
            self.consider_duplicating(from, to, lane);
        }
    }

    /// Every sixteenth message comes twice, as long as some may.
    fn consider_duplicating(&mut self, from: SiteId, to: SiteId, lane: Lane) {
        if self.duplicates_left > 0 && self.chance.below(16) == 0 {
            self.duplicates_left -= 1;
            let at = self.next_at(from, to, lane);
            self.world.duplicate((from, to, lane), at);
            self.send(from, to, lane);
        }
    }

    fn plan_follow_ups(&mut self) {
        for follow_up in std::mem::take(&mut self.follow_ups) {
            match follow_up {
                FollowUp::Sent(from, to, lane) => self.send(from, to, lane),
                FollowUp::Lost(site) => self.think(site),
                FollowUp::Armed(site, due) => self.plan_for(due, Due::Expire(site)),
                FollowUp::Entered(site, claim, most) => {
                    let ticks = self.plan.inside.draw(&mut self.chance).min(most);
                    self.plan_for(self.in_ticks(ticks), Due::Release(site, claim));
                }
            }
        }
    }
}

/// The client and the server of the session that carries a lane.
fn ends(from: SiteId, to: SiteId, lane: Lane) -> (SiteId, SiteId) {
    if lane == Lane::Up { (from, to) } else { (to, from) }
}

/// Counts the events of an action, passes them on, and notes those to plan for.
struct RunObserver<'a> {
    now: Tick,
    sessions: bool,
    counter: &'a mut Counter,
    follow_ups: &'a mut Vec<FollowUp>,
    watch: &'a mut dyn TimedObserver,
}

impl Observer for RunObserver<'_> {
    fn see(&mut self, depth: usize, event: &Event<'_>) {
        self.counter.count(self.now, event);
        match *event {
            Event::Sends { from, to, message } if from != to => {
                let down = self.sessions && !message.is_for_arbiter;
                let lane = if down { Lane::Down } else { Lane::Up };
                self.follow_ups.push(FollowUp::Sent(from, to, lane));
            }
            Event::Arms(site, _, due) => self.follow_ups.push(FollowUp::Armed(site, due)),
            Event::Loses(Caller { site, .. }, _) => self.follow_ups.push(FollowUp::Lost(site)),
            Event::Enters(Caller { site, claim, .. }, grant) => {
                let longest = grant.declared_time.map_or(u64::MAX, |time| (Tick::ZERO + time).0);
                self.follow_ups.push(FollowUp::Entered(site, claim, longest));
            }
            _ => {}
        }
        self.watch.see(self.now, depth, event);
    }

    fn wants_estimates(&self) -> bool {
        self.watch.wants_estimates()
    }
}

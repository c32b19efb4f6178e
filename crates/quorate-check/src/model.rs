//! A simulated cluster as a model for `stateright`.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quorate_protocol::ClaimId;
use quorate_quorum::{SiteId, SiteSet};
use quorate_sim::{
    AnySetup, AnyWorld, Caller, ClaimState, Claims, Fault, Faults, Lane, Order, SessionlessFaults,
    SimProtocol, Unwatched, setup,
};
use stateright::Property;

/// A state space: a cluster, what its callers may do, and what may go wrong.
#[derive(Clone, Debug)]
pub struct Space {
    /// The cluster.
    pub setup: Arc<dyn AnySetup>,
    /// The claims of its callers.
    pub claims: Claims,
    /// How many claims may be made at each site.
    pub requests: Vec<u32>,
    /// How many waiting callers may give up.
    pub gives_up: u32,
    /// The faults that may happen; none is the papers' world, which has no sessions.
    pub faults: Option<Faults>,
    /// The faults that may happen in the papers' world.
    pub sessionless: SessionlessFaults,
    /// The order in which channels deliver, in the papers' world.
    pub order: Order,
    /// The sites that may crash; none means all of them.
    pub mortal: Option<SiteSet>,
    /// The sites whose sessions at others may be lost or fall silent; none means all of them.
    pub fragile: Option<SiteSet>,
}

impl Space {
    /// The papers' world: nobody gives up, there are no faults, and channels are FIFO.
    pub fn new<P: SimProtocol>(
        quorums: P::Quorums,
        options: P::Options,
        claims: Claims,
        requests: &[u32],
    ) -> Self {
        Self::without_faults(setup::<P>(quorums, options), claims, requests)
    }

    /// The same for a cluster whose protocol is not known at compile time.
    pub fn without_faults(setup: Arc<dyn AnySetup>, claims: Claims, requests: &[u32]) -> Self {
        assert_eq!(requests.len(), setup.n(), "a space names every site's requests");
        Self {
            setup,
            claims,
            requests: requests.to_vec(),
            gives_up: 0,
            faults: None,
            sessionless: SessionlessFaults::default(),
            order: Order::Fifo,
            mortal: None,
            fragile: None,
        }
    }

    /// The same space for protocol `P` with these options, on the same quorums.
    ///
    /// # Panics
    ///
    /// The protocol has quorums of another type.
    pub fn of<P: SimProtocol>(&self, options: P::Options) -> Self {
        Self { setup: self.setup.of::<P>(options), ..self.clone() }
    }

    /// The initial state of the cluster.
    pub(crate) fn start(&self) -> Box<dyn AnyWorld> {
        assert_eq!(self.requests.len(), self.setup.n(), "a space names every site's requests");
        let contract = self.faults.map(|faults| faults.contract);
        Arc::clone(&self.setup).world(contract, self.order)
    }
}

/// One transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A caller claims the lock.
    Acquire(SiteId),
    /// A caller releases the lock.
    Release(SiteId, ClaimId),
    /// A waiting caller gives up.
    GiveUp(SiteId, ClaimId),
    /// The message at this position of a channel arrives; always the first of a FIFO channel.
    Deliver(SiteId, SiteId, Lane, usize),
    /// The message at this position of a channel is duplicated.
    Duplicate(SiteId, SiteId, Lane, usize),
    /// The message at this position of a channel is lost.
    Drop(SiteId, SiteId, Lane, usize),
    /// An armed timer of a site expires.
    Expire {
        /// The site.
        site: SiteId,
        /// Its position among the armed timers of the site.
        at: usize,
        /// Whether it expires before its time.
        early: bool,
    },
    /// A fault happens, or is repaired.
    Suffer(Fault),
}

impl Action {
    /// The action in words.
    fn describe(self, setup: &dyn AnySetup) -> String {
        let several = setup.facts().several;
        let who = |site, claim| Caller { site, claim, several };
        match self {
            Action::Acquire(site) => format!("{site} acquires"),
            Action::Release(site, claim) => format!("{} releases", who(site, claim)),
            Action::GiveUp(site, claim) => format!("{} gives up", who(site, claim)),
            Action::Deliver(from, to, _, 0) => format!("deliver {from} -> {to}"),
            Action::Deliver(from, to, _, at) => format!("deliver {from} -> {to}, {at} behind"),
            Action::Duplicate(from, to, ..) => format!("{from} -> {to} comes twice"),
            Action::Drop(from, to, _, 0) => format!("{from} -> {to} is lost"),
            Action::Drop(from, to, _, at) => format!("{from} -> {to}, {at} behind, is lost"),
            Action::Expire { site, at, early } => {
                let early = if early { ", early" } else { "" };
                format!("timer {at} of {site} runs out{early}")
            }
            Action::Suffer(fault) => fault.to_string(),
        }
    }

    /// Whether the action must happen eventually, so that no timer is due before it.
    fn precedes_timers(self) -> bool {
        matches!(self, Action::Release(..) | Action::Deliver(..) | Action::Suffer(_))
    }
}

/// A state of the search.
#[derive(Clone, Debug, Eq)]
pub(crate) struct State {
    pub(crate) world: Box<dyn AnyWorld>,
    spent: Spent,
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        *self.world == *other.world && self.spent == other.spent
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.world.hash(hasher);
        self.spent.hash(hasher);
    }
}

/// How much of each limit is used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    give_ups: u32,
    duplicates: u32,
    dropped: u32,
    early: u32,
    lost: u32,
    silent: u32,
    crashed: u32,
}

impl Spent {
    fn count(&mut self, action: Action) {
        match action {
            Action::GiveUp(..) => self.give_ups += 1,
            Action::Duplicate(..) => self.duplicates += 1,
            Action::Drop(..) => self.dropped += 1,
            Action::Expire { early: true, .. } => self.early += 1,
            Action::Suffer(Fault::Silence(..)) => self.silent += 1,
            Action::Suffer(Fault::Crash(_)) => self.crashed += 1,
            _ => {}
        }
    }
}

/// The model, and the counters of its search.
pub(crate) struct Model {
    pub(crate) space: Space,
    /// The number of distinct states visited so far.
    pub(crate) visited: Arc<AtomicUsize>,
    /// The search stops after this many states.
    pub(crate) max_states: usize,
    /// Whether it stopped for that reason.
    pub(crate) capped: Arc<AtomicBool>,
    /// Whether a broken property was found. Only the first one is reported: `stateright` would
    /// replace it with later ones, and the trace would not be the shortest.
    found: AtomicBool,
}

impl Model {
    pub(crate) fn new(space: Space, max_states: usize, visited: Arc<AtomicUsize>) -> Self {
        let capped = Arc::new(AtomicBool::new(false));
        Self { space, visited, max_states, capped, found: AtomicBool::new(false) }
    }

    /// Visits a state; false for the first one in which a property is broken.
    fn holds(&self, state: &State) -> bool {
        self.visited.fetch_add(1, Ordering::Relaxed);
        state.world.breach().is_none() || self.found.swap(true, Ordering::Relaxed)
    }

    /// The actions of the callers of a site.
    fn caller_actions(&self, state: &State, site: SiteId, actions: &mut Vec<Action>) {
        let mut busy = 0;
        for (&claim, &claim_state) in state.world.claims(site) {
            busy += usize::from(claim_state != ClaimState::Lost);
            match claim_state {
                ClaimState::Inside => actions.push(Action::Release(site, claim)),
                ClaimState::Waiting if state.spent.give_ups < self.space.gives_up => {
                    actions.push(Action::GiveUp(site, claim));
                }
                ClaimState::Waiting | ClaimState::Lost => {}
            }
        }
        let left = state.world.claims_made(site) < self.space.requests[site.index()];
        if busy < self.space.claims.most_at_once() && left {
            actions.push(Action::Acquire(site));
        }
    }

    /// The deliveries, duplications and losses of messages.
    fn channel_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let world = &state.world;
        let drops = state.spent.dropped < self.space.sessionless.drop;
        let reached = |to| world.is_up(to) || self.space.faults.is_none();
        world.each_busy_channel(&mut |channel| {
            let (from, to, lane) = channel;
            if !reached(to) {
                return;
            }
            let Order::Any { duplicates } = self.space.order else {
                actions.push(Action::Deliver(from, to, lane, 0));
                if drops {
                    actions.push(Action::Drop(from, to, lane, 0));
                }
                return;
            };
            // Equal messages are adjacent and lead to equal states: only one of them is tried.
            for at in world.distinct_places(channel) {
                actions.push(Action::Deliver(from, to, lane, at));
                if state.spent.duplicates < duplicates {
                    actions.push(Action::Duplicate(from, to, lane, at));
                }
                if drops {
                    actions.push(Action::Drop(from, to, lane, at));
                }
            }
        });
    }

    /// The events that must follow from earlier faults.
    fn consequences(&self, state: &State, actions: &mut Vec<Action>) {
        let contract = self.space.faults.map(|faults| faults.contract);
        let (reopens, restarts) = contract.map_or((true, true), |c| (c.reopens, c.restarts));
        actions.extend(state.world.owed(reopens, restarts).into_iter().map(Action::Suffer));
    }

    /// The timers that can expire. They are due, in order of their times, when nothing else must
    /// happen first; a few may be early. Deadlines, on which safety depends, are never reordered.
    fn timer_actions(&self, state: &State, actions: &mut Vec<Action>) {
        let world = &state.world;
        let due = !world.is_at_rest() && !actions.iter().any(|action| action.precedes_timers());
        let early = state.spent.early < self.space.sessionless.early;
        if !world.has_timers() || (!due && !early) {
            return;
        }
        let (first, deadline) = (world.next_due(), world.next_deadline());
        for site in SiteId::all(world.n()) {
            for (at, timer) in world.timers(site).into_iter().enumerate() {
                if due && Some(timer.due) == first {
                    actions.push(Action::Expire { site, at, early: false });
                } else if early && (!timer.is_deadline || Some(timer.due) == deadline) {
                    actions.push(Action::Expire { site, at, early: true });
                }
            }
        }
    }

    /// The faults in a world without sessions.
    fn sessionless_actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.spent.crashed < self.space.sessionless.crash {
            let world = &state.world;
            let up =
                SiteId::all(world.n()).filter(|&site| world.is_up(site) && self.may_crash(site));
            actions.extend(up.map(|site| Action::Suffer(Fault::Crash(site))));
        }
    }

    /// The faults of sessions and sites.
    fn fault_actions(&self, state: &State, faults: Faults, actions: &mut Vec<Action>) {
        let (world, spent) = (&state.world, state.spent);
        let mut suffer = |fault| actions.push(Action::Suffer(fault));
        for client in SiteId::all(world.n()).filter(|&client| world.is_up(client)) {
            if spent.crashed < faults.crash && self.may_crash(client) {
                suffer(Fault::Crash(client));
            }
            if !may(self.space.fragile.as_ref(), client) {
                continue;
            }
            let others = SiteId::all(world.n()).filter(|&server| server != client);
            for server in others.filter(|&server| world.is_open(client, server)) {
                if spent.lost < faults.lose {
                    suffer(Fault::Lose(client, server));
                }
                if spent.silent < faults.silent && !world.is_silent(client, server) {
                    suffer(Fault::Silence(client, server));
                }
            }
        }
    }

    fn may_crash(&self, site: SiteId) -> bool {
        may(self.space.mortal.as_ref(), site)
    }

    fn is_full(&self) -> bool {
        let full = self.visited.load(Ordering::Relaxed) >= self.max_states;
        if full {
            self.capped.store(true, Ordering::Relaxed);
        }
        full
    }
}

/// Whether `site` is one of these; without a list, every site is.
fn may(sites: Option<&SiteSet>, site: SiteId) -> bool {
    sites.is_none_or(|sites| sites.contains(site))
}

impl stateright::Model for Model {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State { world: self.space.start(), spent: Spent::default() }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let world = &state.world;
        if world.breach().is_some() || self.is_full() {
            return;
        }
        for site in SiteId::all(world.n()).filter(|&site| world.is_up(site)) {
            self.caller_actions(state, site, actions);
        }
        self.channel_actions(state, actions);
        self.consequences(state, actions);
        self.timer_actions(state, actions);
        match self.space.faults {
            Some(faults) => self.fault_actions(state, faults, actions),
            None => self.sessionless_actions(state, actions),
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        next.spent.count(action);
        if let Action::Suffer(Fault::Lose(client, server)) = action
            && last.world.is_open(client, server)
        {
            next.spent.lost += 1;
        }
        self.space.act(&mut *next.world, action, &mut Unwatched).then_some(next)
    }

    fn format_action(&self, action: &Action) -> String {
        action.describe(&*self.space.setup)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every property holds", Model::holds)]
    }
}

//! A simulated cluster as a model for `stateright`.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quorate_protocol::ClaimId;
use quorate_quorum::{SiteId, SiteSet};
use quorate_sim::{
    AnySetup, AnyWorld, Caller, Claims, Fault, Faults, Lane, Order, Slips, Standpoint, Subject,
    Unwatched, setup,
};
use stateright::Property;

/// What is searched: a cluster, and what its callers may do.
#[derive(Clone, Debug)]
pub struct Space {
    /// The cluster.
    pub setup: Arc<dyn AnySetup>,
    /// What callers claim.
    pub claims: Claims,
    /// How many claims may be made at each site.
    pub requests: Vec<u32>,
    /// How many waiting callers may give up.
    pub gives_up: u32,
    /// What may go wrong; `None` is the papers' world, in which nothing does.
    pub faults: Option<Faults>,
    /// What may go wrong in the papers' world after all.
    pub slips: Slips,
    /// In which order channels deliver, in the papers' world.
    pub order: Order,
    /// The sites that may crash; all of them if nothing is said.
    pub mortal: Option<SiteSet>,
}

impl Space {
    /// The papers' world: nobody gives up, nothing goes wrong, and channels keep the order.
    pub fn new<P: Subject>(
        quorums: P::Quorums,
        options: P::Options,
        claims: Claims,
        requests: &[u32],
    ) -> Self {
        Self::calm(setup::<P>(quorums, options), claims, requests)
    }

    /// The same in a cluster of any protocol.
    pub fn calm(setup: Arc<dyn AnySetup>, claims: Claims, requests: &[u32]) -> Self {
        assert_eq!(requests.len(), setup.n(), "a space names every site's requests");
        Self {
            setup,
            claims,
            requests: requests.to_vec(),
            gives_up: 0,
            faults: None,
            slips: Slips::default(),
            order: Order::Fifo,
            mortal: None,
        }
    }

    /// The same space of protocol `P` with these switches set, on the same quorums.
    ///
    /// # Panics
    ///
    /// The protocol has quorums of another type.
    pub fn of<P: Subject>(&self, options: P::Options) -> Self {
        Self { setup: self.setup.of::<P>(options), ..self.clone() }
    }

    /// The cluster before anything has happened.
    pub(crate) fn start(&self) -> Box<dyn AnyWorld> {
        assert_eq!(self.requests.len(), self.setup.n(), "a space names every site's requests");
        let contract = self.faults.map(|faults| faults.contract);
        Arc::clone(&self.setup).world(contract, self.order)
    }
}

/// One thing that can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A caller asks for the lock.
    Acquire(SiteId),
    /// A caller leaves.
    Release(SiteId, ClaimId),
    /// A caller does not wait any longer.
    GiveUp(SiteId, ClaimId),
    /// The message at this place of a channel arrives; the first, if the channel keeps the order.
    Deliver(SiteId, SiteId, Lane, usize),
    /// The message at this place of a channel is going to come twice.
    Duplicate(SiteId, SiteId, Lane, usize),
    /// The message at this place of a channel is lost.
    Drop(SiteId, SiteId, Lane, usize),
    /// A timer of a site runs out: the one at this place among those that are armed.
    Expire {
        /// The site.
        site: SiteId,
        /// The timer's place.
        at: usize,
        /// Whether before its time.
        early: bool,
    },
    /// Something goes wrong, or is mended.
    Suffer(Fault),
}

impl Action {
    /// What happens, in words.
    fn told(self, setup: &dyn AnySetup) -> String {
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

    /// Whether it happens sooner or later whatever else does: a timer is not due before it.
    fn comes_first(self) -> bool {
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

/// How much of what may happen has happened.
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

/// The model, and what is noted while it is searched.
pub(crate) struct Model {
    pub(crate) space: Space,
    /// Distinct states looked at so far.
    pub(crate) visited: Arc<AtomicUsize>,
    /// The search goes no further once it has looked at so many.
    pub(crate) max_states: usize,
    /// Whether it had to stop there.
    pub(crate) capped: Arc<AtomicBool>,
    /// Whether a broken property was found. Only the first counts: `stateright` would let later
    /// finds take its place, and the trace would not be the shortest.
    found: AtomicBool,
}

impl Model {
    pub(crate) fn new(space: Space, max_states: usize, visited: Arc<AtomicUsize>) -> Self {
        let capped = Arc::new(AtomicBool::new(false));
        Self { space, visited, max_states, capped, found: AtomicBool::new(false) }
    }

    /// Looks at a state, once; false for the first one in which a property is broken.
    fn holds(&self, state: &State) -> bool {
        self.visited.fetch_add(1, Ordering::Relaxed);
        state.world.breach().is_none() || self.found.swap(true, Ordering::Relaxed)
    }

    /// What the callers of a site can do.
    fn callers(&self, state: &State, site: SiteId, actions: &mut Vec<Action>) {
        let mut busy = 0;
        for (&claim, &standpoint) in state.world.claims(site) {
            busy += usize::from(standpoint != Standpoint::Lost);
            match standpoint {
                Standpoint::Inside => actions.push(Action::Release(site, claim)),
                Standpoint::Waiting if state.spent.give_ups < self.space.gives_up => {
                    actions.push(Action::GiveUp(site, claim));
                }
                Standpoint::Waiting | Standpoint::Lost => {}
            }
        }
        let left = state.world.claims_made(site) < self.space.requests[site.index()];
        if busy < self.space.claims.most_at_once() && left {
            actions.push(Action::Acquire(site));
        }
    }

    /// What channels can deliver.
    fn channels(&self, state: &State, actions: &mut Vec<Action>) {
        let world = &state.world;
        let drops = state.spent.dropped < self.space.slips.drop;
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
            // Equal messages stand next to each other, and lead to equal states.
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

    /// What must follow from what went wrong.
    fn owed(&self, state: &State, actions: &mut Vec<Action>) {
        let contract = self.space.faults.map(|faults| faults.contract);
        let (reopens, restarts) = contract.map_or((true, true), |c| (c.reopens, c.restarts));
        actions.extend(state.world.owed(reopens, restarts).into_iter().map(Action::Suffer));
    }

    /// Timers that can run out. They are due when nothing else must happen first, in the order of
    /// their times; a few may be early. Those on which safety rests keep their order even then.
    fn timers(&self, state: &State, actions: &mut Vec<Action>) {
        let world = &state.world;
        let due = !world.is_at_rest() && !actions.iter().any(|action| action.comes_first());
        let early = state.spent.early < self.space.slips.early;
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

    /// What can go wrong where there are no sessions.
    fn slips(&self, state: &State, actions: &mut Vec<Action>) {
        if state.spent.crashed < self.space.slips.crash {
            let world = &state.world;
            let up = SiteId::all(world.n()).filter(|&site| world.is_up(site) && self.may_die(site));
            actions.extend(up.map(|site| Action::Suffer(Fault::Crash(site))));
        }
    }

    /// What can go wrong with sessions and their sites.
    fn faults(&self, state: &State, faults: Faults, actions: &mut Vec<Action>) {
        let (world, spent) = (&state.world, state.spent);
        let mut suffer = |fault| actions.push(Action::Suffer(fault));
        for client in SiteId::all(world.n()).filter(|&client| world.is_up(client)) {
            if spent.crashed < faults.crash && self.may_die(client) {
                suffer(Fault::Crash(client));
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

    fn may_die(&self, site: SiteId) -> bool {
        self.space.mortal.as_ref().is_none_or(|mortal| mortal.contains(site))
    }

    fn is_full(&self) -> bool {
        let full = self.visited.load(Ordering::Relaxed) >= self.max_states;
        if full {
            self.capped.store(true, Ordering::Relaxed);
        }
        full
    }
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
            self.callers(state, site, actions);
        }
        self.channels(state, actions);
        self.owed(state, actions);
        self.timers(state, actions);
        match self.space.faults {
            Some(faults) => self.faults(state, faults, actions),
            None => self.slips(state, actions),
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
        action.told(&*self.space.setup)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every property holds", Model::holds)]
    }
}

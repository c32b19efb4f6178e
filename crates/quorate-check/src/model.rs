//! A simulated cluster as a model for `stateright`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quorate_protocol::ClaimId;
use quorate_quorum::SiteId;
use quorate_sim::{
    Claims, Fault, Faults, Lane, Order, Quorums, Standpoint, Subject, Unwatched, World, who,
};
use stateright::Property;

/// What is searched: a cluster, and what its callers may do.
#[derive(Clone, Debug)]
pub struct Space<P: Subject> {
    /// The cluster.
    pub quorums: P::Quorums,
    /// The protocol's switches.
    pub options: P::Options,
    /// What callers claim.
    pub claims: Claims<P::Claim>,
    /// How many claims may be made at each site.
    pub requests: Vec<u32>,
    /// How many waiting callers may give up.
    pub gives_up: u32,
    /// What may go wrong; `None` is the papers' world, in which nothing does.
    pub faults: Option<Faults>,
    /// In which order channels deliver, in the papers' world.
    pub order: Order,
}

impl<P: Subject> Space<P> {
    /// The cluster before anything has happened.
    pub(crate) fn start(&self) -> World<P> {
        assert_eq!(self.requests.len(), self.quorums.n(), "a space names every site's requests");
        match self.faults {
            None => World::with_order(&self.quorums, &self.options, self.order),
            Some(Faults { contract, .. }) => {
                World::with_sessions(&self.quorums, &self.options, contract)
            }
        }
    }

    /// What the next caller of `site` claims.
    pub(crate) fn claim(&self, world: &World<P>, site: SiteId) -> P::Claim {
        self.claims.next(site, world.claims_made(site)).clone()
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
    /// Something goes wrong, or is mended.
    Suffer(Fault),
}

impl Action {
    /// What happens, in words.
    fn told<P: Subject>(self) -> String {
        match self {
            Action::Acquire(site) => format!("{site} acquires"),
            Action::Release(site, claim) => format!("{} releases", who::<P>(site, claim)),
            Action::GiveUp(site, claim) => format!("{} gives up", who::<P>(site, claim)),
            Action::Deliver(from, to, _, 0) => format!("deliver {from} -> {to}"),
            Action::Deliver(from, to, _, at) => format!("deliver {from} -> {to}, {at} behind"),
            Action::Duplicate(from, to, ..) => format!("{from} -> {to} comes twice"),
            Action::Suffer(fault) => fault.to_string(),
        }
    }
}

/// A state of the search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State<P: Subject> {
    pub(crate) world: World<P>,
    spent: Spent,
}

/// How much of what may happen has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Spent {
    give_ups: u32,
    duplicates: u32,
    lost: u32,
    silent: u32,
    crashed: u32,
}

impl Spent {
    fn count(&mut self, action: Action) {
        match action {
            Action::GiveUp(..) => self.give_ups += 1,
            Action::Duplicate(..) => self.duplicates += 1,
            Action::Suffer(Fault::Silence(..)) => self.silent += 1,
            Action::Suffer(Fault::Crash(_)) => self.crashed += 1,
            _ => {}
        }
    }
}

/// The model, and what is noted while it is searched.
pub(crate) struct Model<P: Subject> {
    pub(crate) space: Space<P>,
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

impl<P: Subject> Model<P> {
    pub(crate) fn new(space: Space<P>, max_states: usize, visited: Arc<AtomicUsize>) -> Self {
        let capped = Arc::new(AtomicBool::new(false));
        Self { space, visited, max_states, capped, found: AtomicBool::new(false) }
    }

    /// Looks at a state, once; false for the first one in which a property is broken.
    fn holds(&self, state: &State<P>) -> bool {
        self.visited.fetch_add(1, Ordering::Relaxed);
        state.world.breach().is_none() || self.found.swap(true, Ordering::Relaxed)
    }

    /// What the callers of a site can do.
    fn callers(&self, state: &State<P>, site: SiteId, actions: &mut Vec<Action>) {
        let mut busy = 0;
        for (claim, standpoint) in state.world.claims(site) {
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
    fn channels(&self, state: &State<P>, actions: &mut Vec<Action>) {
        let world = &state.world;
        for (from, to, lane) in world.busy_channels().filter(|&(_, to, _)| world.is_up(to)) {
            let Order::Any { duplicates } = self.space.order else {
                actions.push(Action::Deliver(from, to, lane, 0));
                continue;
            };
            let mut before = None;
            for (at, message) in world.under_way(from, to, lane).enumerate() {
                // Equal messages stand next to each other, and lead to equal states.
                if before.replace(message) == Some(message) {
                    continue;
                }
                actions.push(Action::Deliver(from, to, lane, at));
                if state.spent.duplicates < duplicates {
                    actions.push(Action::Duplicate(from, to, lane, at));
                }
            }
        }
    }

    /// What can go wrong, and what must follow from what has.
    fn faults(state: &State<P>, faults: Faults, actions: &mut Vec<Action>) {
        let (world, spent) = (&state.world, state.spent);
        let mut suffer = |fault| actions.push(Action::Suffer(fault));
        for fault in world.owed(faults.contract.reopens, faults.contract.restarts) {
            suffer(fault);
        }
        for client in SiteId::all(world.n()).filter(|&client| world.is_up(client)) {
            if spent.crashed < faults.crash {
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

    fn is_full(&self) -> bool {
        let full = self.visited.load(Ordering::Relaxed) >= self.max_states;
        if full {
            self.capped.store(true, Ordering::Relaxed);
        }
        full
    }
}

impl<P: Subject> stateright::Model for Model<P> {
    type State = State<P>;
    type Action = Action;

    fn init_states(&self) -> Vec<State<P>> {
        vec![State { world: self.space.start(), spent: Spent::default() }]
    }

    fn actions(&self, state: &State<P>, actions: &mut Vec<Action>) {
        let world = &state.world;
        if world.breach().is_some() || self.is_full() {
            return;
        }
        for site in SiteId::all(world.n()).filter(|&site| world.is_up(site)) {
            self.callers(state, site, actions);
        }
        self.channels(state, actions);
        if let Some(faults) = self.space.faults {
            Self::faults(state, faults, actions);
        }
    }

    fn next_state(&self, last: &State<P>, action: Action) -> Option<State<P>> {
        let mut next = last.clone();
        next.spent.count(action);
        if let Action::Suffer(Fault::Lose(client, server)) = action
            && last.world.is_open(client, server)
        {
            next.spent.lost += 1;
        }
        self.space.act(&mut next.world, action, &mut Unwatched).then_some(next)
    }

    fn format_action(&self, action: &Action) -> String {
        action.told::<P>()
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every property holds", Model::holds)]
    }
}

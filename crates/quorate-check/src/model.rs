//! A simulated cluster as a model for `stateright`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quorate_protocol::ClaimId;
use quorate_quorum::{QuorumSystem, SiteId};
use quorate_sim::{Standpoint, Subject, Unwatched, World};
use stateright::Property;

/// What is searched: a cluster, and what its callers may do.
#[derive(Clone, Debug)]
pub struct Space<P: Subject> {
    /// The cluster.
    pub quorums: Arc<dyn QuorumSystem>,
    /// The protocol's switches.
    pub options: P::Options,
    /// What callers claim, in turn.
    pub claims: Vec<P::Claim>,
    /// How many claims may be made at each site.
    pub requests: Vec<u32>,
    /// How many waiting callers may give up.
    pub gives_up: u32,
}

impl<P: Subject> Space<P> {
    /// The cluster before anything has happened.
    pub(crate) fn start(&self) -> World<P> {
        assert_eq!(self.requests.len(), self.quorums.n(), "a space names every site's requests");
        World::new(&self.quorums, &self.options)
    }

    /// What the next caller of `site` claims.
    pub(crate) fn claim(&self, world: &World<P>, site: SiteId) -> P::Claim {
        self.claims[world.claims_made(site) as usize % self.claims.len()].clone()
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
    /// The next message of a channel arrives.
    Deliver(SiteId, SiteId),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Acquire(site) => write!(f, "{site} acquires"),
            Action::Release(site, _) => write!(f, "{site} releases"),
            Action::GiveUp(site, _) => write!(f, "{site} gives up"),
            Action::Deliver(from, to) => write!(f, "deliver {from} -> {to}"),
        }
    }
}

/// A state of the search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State<P: Subject> {
    pub(crate) world: World<P>,
    gave_up: u32,
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
        vec![State { world: self.space.start(), gave_up: 0 }]
    }

    fn actions(&self, state: &State<P>, actions: &mut Vec<Action>) {
        let world = &state.world;
        if world.breach().is_some() || self.is_full() {
            return;
        }
        for site in SiteId::all(world.n()) {
            let mut claims = world.claims(site).peekable();
            let more = world.claims_made(site) < self.space.requests[site.index()];
            if more && claims.peek().is_none() {
                actions.push(Action::Acquire(site));
            }
            for (claim, standpoint) in claims {
                match standpoint {
                    Standpoint::Inside => actions.push(Action::Release(site, claim)),
                    Standpoint::Waiting if state.gave_up < self.space.gives_up => {
                        actions.push(Action::GiveUp(site, claim));
                    }
                    Standpoint::Waiting | Standpoint::Lost => {}
                }
            }
        }
        actions.extend(world.busy_channels().map(|(from, to)| Action::Deliver(from, to)));
    }

    fn next_state(&self, last: &State<P>, action: Action) -> Option<State<P>> {
        let mut next = last.clone();
        if let Action::GiveUp(..) = action {
            next.gave_up += 1;
        }
        self.space.act(&mut next.world, action, &mut Unwatched).then_some(next)
    }

    fn format_action(&self, action: &Action) -> String {
        action.to_string()
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every property holds", Model::holds)]
    }
}

//! The search: first whether any property breaks, then the shortest schedule that breaks it.

use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quorate_protocol::Violation;
use quorate_quorum::SiteId;
use quorate_sim::{AnyWorld, Breach, Event, Observer, TimerView};
use stateright::{Checker, Model as _};

use crate::model::{Action, Model, Space};

/// The limits of a search.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The search ends, incomplete, after this many distinct states.
    pub max_states: usize,
    /// The number of threads.
    pub threads: usize,
    /// Whether a second search looks for the shortest schedule that breaks a property.
    pub shortest: bool,
    /// The number of states visited so far, for a progress display.
    pub visited: Arc<AtomicUsize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_states: usize::MAX, threads: 2, shortest: true, visited: Arc::default() }
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Report {
    /// The number of distinct states.
    pub states: usize,
    /// The length of the longest schedule that met no known state.
    pub depth: usize,
    /// Whether every state was visited.
    pub complete: bool,
    /// The property that broke, and the shortest schedule that breaks it; or the first one found,
    /// if the search for the shortest would take too long.
    pub violation: Option<(Breach, Trace)>,
}

impl Report {
    /// Panics unless every state was visited and no property broke; prints the schedule that breaks
    /// one.
    pub fn assert_clean(&self) {
        if let Some((breach, trace)) = &self.violation {
            panic!("{breach}\n{:#?}", trace.lines);
        }
        assert!(self.complete, "the search ended early");
    }
}

/// A schedule and its events.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Whether no shorter schedule breaks a property.
    pub is_shortest: bool,
    /// The actions, in order.
    pub actions: Vec<Action>,
    /// The events, each with its depth within its action.
    pub lines: Vec<(usize, String)>,
}

/// Visits every state of `space`.
///
/// ```
/// use quorate_check::{Claims, Limits, Space, check};
/// use quorate_protocol::mutex::{Mutex, Options};
/// use quorate_quorum::{build, Kind};
///
/// let majority = build(Kind::Majority, 3)?;
/// let claims = Claims::all(vec![()]);
/// let space = Space::new::<Mutex>(majority, Options::default(), claims, &[1, 1, 0]);
/// check(&space, &Limits::default()).assert_clean();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(space: &Space, limits: &Limits) -> Report {
    let model = Model::new(space.clone(), limits.max_states, Arc::clone(&limits.visited));
    let capped = Arc::clone(&model.capped);
    // Depth first: the breadth-first search keeps whole states and takes ten times the memory.
    let found = model.checker().threads(limits.threads).spawn_dfs().join();
    let violation = found.discoveries().into_values().next().map(|path| {
        let known = path.into_actions();
        let shortest = limits.shortest.then(|| shortest(space, limits, known.len())).flatten();
        let is_shortest = shortest.is_some();
        replay(space, shortest.unwrap_or(known), is_shortest)
    });
    Report {
        states: found.unique_state_count(),
        depth: found.max_depth(),
        complete: violation.is_none() && !capped.load(Ordering::Relaxed),
        violation,
    }
}

/// Serves `stateright`'s browser view of `space`. Does not return.
pub fn explore(space: &Space, address: impl ToSocketAddrs) {
    Model::new(space.clone(), usize::MAX, Arc::default()).checker().serve(address);
}

/// The most states of a breadth-first search: it keeps whole states in memory, and if a request
/// waits forever there may be infinitely many.
const BFS_STATES_MAX: usize = 2_000_000;

/// The shortest schedule that breaks a property, given the length of one that does; none if there
/// are too many states.
///
/// Breadth first, on one thread so that states are visited strictly by depth, and no deeper than
/// the known schedule: `stateright` counts the first state as depth 1, and does not visit states at
/// its limit.
fn shortest(space: &Space, limits: &Limits, known: usize) -> Option<Vec<Action>> {
    let max_states = limits.max_states.min(BFS_STATES_MAX);
    let model = Model::new(space.clone(), max_states, Arc::default());
    let found = model.checker().target_max_depth(known + 2).spawn_bfs().join();
    found.discoveries().into_values().next().map(stateright::Path::into_actions)
}

fn replay(space: &Space, actions: Vec<Action>, is_shortest: bool) -> (Breach, Trace) {
    let mut world = space.start();
    let mut lines = Lines(Vec::new());
    for &action in &actions {
        space.act(&mut *world, action, &mut lines);
    }
    let breach = world.breach().expect("the schedule breaks a property").clone();
    (breach, Trace { is_shortest, actions, lines: lines.0 })
}

struct Lines(Vec<(usize, String)>);

impl Observer for Lines {
    fn see(&mut self, depth: usize, event: &Event<'_>) {
        self.0.push((depth, event.to_string()));
    }

    fn wants_estimates(&self) -> bool {
        true
    }
}

/// Lets a timer expire, and moves the time to when it is due. An early timer stands for a world in
/// which everything else is slow; or, if a deadline were to pass first, for a site whose clock is
/// fast, and then the time stays.
fn expire(
    world: &mut dyn AnyWorld,
    site: SiteId,
    at: usize,
    early: bool,
    watch: &mut dyn Observer,
) -> bool {
    let Some(&TimerView { due, .. }) = world.timers(site).get(at) else { return false };
    let first = world.next_deadline().is_none_or(|deadline| due <= deadline);
    if !early || first {
        world.set_now(due.max(world.now()));
    }
    world.expire(site, at, watch)
}

impl Space {
    /// Performs `action` in `world`; false if it had no effect.
    pub(crate) fn act(
        &self,
        world: &mut dyn AnyWorld,
        action: Action,
        watch: &mut dyn Observer,
    ) -> bool {
        let done: Result<(), Violation> = match action {
            Action::Acquire(site) => {
                let claim = self.claims.next(site, world.claims_made(site));
                world.acquire(site, claim, watch).map(drop)
            }
            Action::Release(site, claim) => world.release(site, claim, watch),
            Action::GiveUp(site, claim) => world.give_up(site, claim, watch),
            Action::Deliver(from, to, lane, at) => {
                return world.deliver_at((from, to, lane), at, watch);
            }
            Action::Duplicate(from, to, lane, at) => {
                return world.duplicate((from, to, lane), at);
            }
            Action::Drop(from, to, lane, at) => {
                return world.drop_at((from, to, lane), at, watch);
            }
            Action::Expire { site, at, early } => return expire(world, site, at, early, watch),
            Action::Suffer(fault) => {
                world.suffer(fault, watch);
                return true;
            }
        };
        done.is_ok()
    }
}

//! The search itself: first whether anything breaks, then the shortest way to break it.

use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quorate_protocol::Violation;
use quorate_quorum::SiteId;
use quorate_sim::{AnyWorld, Breach, Event, Observer, TimerView};
use stateright::{Checker, Model as _};

use crate::model::{Action, Model, Space};

/// How far a search may go.
#[derive(Clone, Debug)]
pub struct Limits {
    /// It ends, incomplete, once it has looked at so many distinct states.
    pub max_states: usize,
    /// How many threads look.
    pub threads: usize,
    /// Whether a second search looks for the shortest schedule that breaks a property.
    pub shortest: bool,
    /// Where the number of states looked at can be read while it grows.
    pub visited: Arc<AtomicUsize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_states: usize::MAX, threads: 2, shortest: true, visited: Arc::default() }
    }
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Report {
    /// Distinct states.
    pub states: usize,
    /// The longest schedule that was followed without meeting a known state.
    pub depth: usize,
    /// Whether every state was looked at.
    pub complete: bool,
    /// The property that broke and the shortest schedule that breaks it, or the one that was found
    /// first if looking for the shortest takes too much.
    pub violation: Option<(Breach, Trace)>,
}

impl Report {
    /// Panics unless every state was looked at and no property broke; tells the schedule of one
    /// that did.
    pub fn assert_clean(&self) {
        if let Some((breach, trace)) = &self.violation {
            panic!("{breach}\n{:#?}", trace.lines);
        }
        assert!(self.complete, "the search ended early");
    }
}

/// A schedule and what happened in it.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Whether no schedule that breaks a property has fewer actions.
    pub is_shortest: bool,
    /// What was done, in order.
    pub actions: Vec<Action>,
    /// What happened, with how deep in its action.
    pub lines: Vec<(usize, String)>,
}

/// Looks at every state of `space`.
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

/// Opens `stateright`'s browser view of `space` and serves it for ever.
pub fn explore(space: &Space, address: impl ToSocketAddrs) {
    Model::new(space.clone(), usize::MAX, Arc::default()).checker().serve(address);
}

/// A breadth-first search looks at no more states than these: it keeps them whole, and where a
/// request waits for ever there may be no end of them.
const MOST_KEPT: usize = 2_000_000;

/// The shortest schedule that breaks a property, given the length of one that does; `None` if there
/// are too many states.
///
/// Breadth first, on one thread so that states come strictly by depth, and no deeper than the
/// schedule that is known: `stateright` counts the first state as depth 1, and looks at no state
/// at its limit.
fn shortest(space: &Space, limits: &Limits, known: usize) -> Option<Vec<Action>> {
    let most = limits.max_states.min(MOST_KEPT);
    let model = Model::new(space.clone(), most, Arc::default());
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

    fn asks_ahead(&self) -> bool {
        true
    }
}

/// Lets a timer run out. Time goes on to when it is due. One that is early runs out because all
/// else is slow, or, where a deadline would have to come first, because its site is too hasty.
fn expire(
    world: &mut dyn AnyWorld,
    (site, at): (SiteId, usize),
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
    /// Does `action` in `world`; false if nothing came of it.
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
            Action::Expire { site, at, early } => return expire(world, (site, at), early, watch),
            Action::Suffer(fault) => {
                world.suffer(fault, watch);
                return true;
            }
        };
        done.is_ok()
    }
}

//! The search: first whether any promise breaks, then the shortest schedule that breaks it.

use stateright::{Checker, Model as _};

use super::model::{Model, SessionAction, SessionSpace};

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SessionReport {
    /// The number of distinct states.
    pub states: usize,
    /// The broken promise, and the shortest schedule that breaks it.
    pub broken: Option<(&'static str, Vec<SessionAction>)>,
}

/// Visits every state of `space`: depth first, and if a promise breaks, breadth first on one thread
/// for the shortest trace.
///
/// ```
/// use quorate_check::session::{ALWAYS, SessionSpace, Setup, TICK, Undone, check_sessions};
/// use quorate_session::session::{Drift, Lease, Window};
///
/// let lease = Lease::new(3 * TICK)?;
/// let (drift, window, undone) = (Drift::new(0)?, Window::DEFAULT, Undone::Nothing);
/// let space = SessionSpace {
///     setup: Setup { leases: vec![lease], drift, both_ways: false, window, locks: 0, undone },
///     ticks: ALWAYS,
///     under_way: 1,
///     resets: 0,
///     restarts: [0, 0],
///     messages: 0,
///     delegations: 0,
///     missed_of_three: 0,
/// };
/// assert_eq!(check_sessions(&space).broken, None);
/// # Ok::<(), quorate_session::SiteError>(())
/// ```
pub fn check_sessions(space: &SessionSpace) -> SessionReport {
    let found = Model::new(space).checker().threads(2).spawn_dfs().join();
    let broken = found.discoveries().into_values().next().map(|path| {
        let known = path.into_actions();
        let model = Model::new(space).checker().target_max_depth(known.len() + 2);
        let first = model.spawn_bfs().join().discoveries().into_values().next();
        let actions = first.map_or(known, stateright::Path::into_actions);
        (replay(space, &actions), actions)
    });
    SessionReport { states: found.unique_state_count(), broken }
}

fn replay(space: &SessionSpace, actions: &[SessionAction]) -> &'static str {
    let model = Model::new(space);
    let start = model.init_states().remove(0);
    let end = actions.iter().fold(start, |state, action| {
        model.next_state(&state, *action).expect("every action has an outcome")
    });
    end.world.broken().expect("the schedule breaks a promise")
}

//! The identities of three sites as a model for `stateright`.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use quorate_session::session::{Rule, Terms};
use stateright::{Checker, Property};

use super::world::{COPY, Folder, SITES, World};

/// A state space: three sites, and how much may happen to the folder of the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdentitySpace {
    /// How often the first site, or a copy of it, may start.
    pub starts: u8,
    /// How often another site may crash and start again.
    pub others: u8,
    /// How often the folder may be wiped.
    pub wipes: u8,
    /// How often a backup of the folder may be made, and restored.
    pub backups: u8,
    /// How often the folder may be copied for another process.
    pub copies: u8,
    /// The number of numbered writes.
    pub writes: u8,
    /// Whether connections may break after any message, and not only before the first.
    pub breaks: bool,
    /// The rule that is undone.
    pub undone: Option<Rule>,
}

/// One transition. Sites are numbered from 0; the copy of the first is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdentityAction {
    /// A process starts.
    Start(usize),
    /// A process crashes.
    Crash(usize),
    /// The folder of the first site, which does not run, is emptied.
    Wipe,
    /// It is copied, to be restored.
    Backup,
    /// The copy is restored.
    Restore,
    /// It is copied for another process.
    Copy,
    /// Two processes connect, and so many messages arrive.
    Meet(usize, usize, usize),
    /// A process writes, and the others hear of it or not.
    Write(usize, bool),
}

impl fmt::Display for IdentityAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |process: usize| if process == COPY { "1'".into() } else { (process + 1).to_string() };
        match *self {
            IdentityAction::Start(process) => write!(f, "{} starts", name(process)),
            IdentityAction::Crash(process) => write!(f, "{} crashes", name(process)),
            IdentityAction::Wipe => f.write_str("the folder of 1 is emptied"),
            IdentityAction::Backup => f.write_str("a backup of the folder of 1 is made"),
            IdentityAction::Restore => f.write_str("the backup is restored"),
            IdentityAction::Copy => f.write_str("the folder of 1 is copied for 1'"),
            IdentityAction::Meet(a, b, usize::MAX) => {
                write!(f, "{} and {} connect", name(a), name(b))
            }
            IdentityAction::Meet(a, b, most) => {
                write!(f, "{} and {} connect for {most} messages", name(a), name(b))
            }
            IdentityAction::Write(process, true) => write!(f, "{} writes", name(process)),
            IdentityAction::Write(process, false) => {
                write!(f, "{} writes, and nobody hears of it", name(process))
            }
        }
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct IdentityReport {
    /// The number of distinct states.
    pub states: usize,
    /// The broken promise, and the shortest schedule that breaks it.
    pub broken: Option<(&'static str, Vec<IdentityAction>)>,
}

/// Visits every state of `space`: depth first, and if a promise breaks, breadth first for the
/// shortest trace.
pub fn check_identities(space: IdentitySpace) -> IdentityReport {
    use stateright::Model as _;
    let found = Model::new(space).checker().threads(2).spawn_dfs().join();
    let broken = found.discoveries().into_values().next().map(|_| {
        let first = Model::new(space).checker().spawn_bfs().join().discoveries();
        let path = first.into_values().next().expect("it was found before");
        let end = path.last_state().world.broken().expect("it breaks a promise");
        (end, path.into_actions())
    });
    IdentityReport { states: found.unique_state_count(), broken }
}

/// The most messages that two processes exchange when they connect.
const MESSAGES: usize = 7;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    world: World,
    /// What is left of each budget.
    left: Budget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Budget {
    starts: u8,
    others: u8,
    wipes: u8,
    backups: u8,
    copies: u8,
    writes: u8,
}

struct Model {
    space: IdentitySpace,
    /// Only the first find is reported: so the trace of a breadth-first search is the shortest.
    found: AtomicBool,
}

impl Model {
    fn new(space: IdentitySpace) -> Self {
        Self { space, found: AtomicBool::new(false) }
    }

    fn holds(&self, state: &State) -> bool {
        state.world.broken().is_none() || self.found.swap(true, Ordering::Relaxed)
    }

    fn folder_actions(State { world, left }: &State, actions: &mut Vec<IdentityAction>) {
        let down = !world.is_running(0);
        if down && left.wipes > 0 {
            actions.push(IdentityAction::Wipe);
        }
        if left.backups > 0 && world.backup.is_none() {
            actions.push(IdentityAction::Backup);
        }
        if down && world.backup.is_some() {
            actions.push(IdentityAction::Restore);
        }
        if left.copies > 0 && !world.is_running(COPY) {
            actions.push(IdentityAction::Copy);
        }
    }

    fn process_actions(&self, State { world, left }: &State, actions: &mut Vec<IdentityAction>) {
        for process in 0..=COPY {
            let is_first = process == 0 || process == COPY;
            let budget = if is_first { left.starts } else { left.others };
            let can_start = process != COPY || left.copies < self.space.copies;
            if world.is_running(process) && (is_first || budget > 0) {
                actions.push(IdentityAction::Crash(process));
            } else if !world.is_running(process) && budget > 0 && can_start {
                actions.push(IdentityAction::Start(process));
            }
        }
        if left.writes > 0 {
            let ways = |process| [true, false].map(|heard| IdentityAction::Write(process, heard));
            actions.extend(world.can_write().flat_map(ways));
        }
    }
}

impl stateright::Model for Model {
    type State = State;
    type Action = IdentityAction;

    fn init_states(&self) -> Vec<State> {
        let IdentitySpace { starts, others, wipes, backups, copies, writes, undone, .. } =
            self.space;
        let terms = Terms::default();
        let terms = undone.map_or(terms, |rule| terms.without(rule));
        let left = Budget { starts, others, wipes, backups, copies, writes };
        vec![State { world: World::new(terms), left }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<IdentityAction>) {
        if state.world.broken().is_some() {
            return;
        }
        Self::folder_actions(state, actions);
        self.process_actions(state, actions);
        for (a, b) in (0..=COPY).flat_map(|a| (1..SITES).map(move |b| (a, b))) {
            if (a < b || a == COPY) && state.world.can_meet(a, b) {
                actions.push(IdentityAction::Meet(a, b, usize::MAX));
                if self.space.breaks {
                    let broken = (1..MESSAGES).map(|most| IdentityAction::Meet(a, b, most));
                    actions.extend(broken);
                }
            }
        }
    }

    fn next_state(&self, last: &State, action: IdentityAction) -> Option<State> {
        let mut next = last.clone();
        let State { world, left } = &mut next;
        match action {
            IdentityAction::Start(process) => {
                let is_first = process == 0 || process == COPY;
                *(if is_first { &mut left.starts } else { &mut left.others }) -= 1;
                world.start(process);
            }
            IdentityAction::Crash(process) => world.crash(process),
            IdentityAction::Wipe => {
                left.wipes -= 1;
                world.replace_folder(Folder::default());
            }
            IdentityAction::Backup => {
                left.backups -= 1;
                world.backup = Some(world.folders[0].clone());
            }
            IdentityAction::Restore => {
                let backup = world.backup.take()?;
                world.replace_folder(backup);
            }
            IdentityAction::Copy => {
                left.copies -= 1;
                world.copy_folder();
            }
            IdentityAction::Meet(a, b, most) => world.meet(a, b, most),
            IdentityAction::Write(process, is_heard) => {
                left.writes -= 1;
                world.write(process, is_heard);
            }
        }
        Some(next)
    }

    fn format_action(&self, action: &IdentityAction) -> String {
        action.to_string()
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every promise is kept", Model::holds)]
    }
}

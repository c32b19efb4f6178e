//! Two sites with sessions as a model for `stateright`.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quorate_session::session::Half;
use stateright::Property;

use super::normal::normal;
use super::world::{Setup, World};

/// One tick of the clocks here.
pub const TICK: Duration = Duration::from_secs(1);

/// As often as it likes.
pub const ALWAYS: u8 = u8::MAX;

/// What is searched: two sites, and how much may happen to them. [`ALWAYS`] is no limit.
#[derive(Clone, Debug)]
pub struct SessionSpace {
    /// The sites.
    pub setup: Setup,
    /// How many ticks of time pass. No limit only with clocks that miss none.
    pub ticks: u8,
    /// No tick passes while more packets than this are on their way to a site, and no more than
    /// this still arrive of a connection that broke.
    pub under_way: usize,
    /// How often a connection may break, for a time or not; what it loses is any tail of what was
    /// under way.
    pub resets: u8,
    /// How often each site may crash and start anew.
    pub restarts: [u8; 2],
    /// How many words may be said.
    pub words: u8,
    /// How many validities site 1 may hand down to site 0.
    pub hand_downs: u8,
    /// How many ticks site 0's clock may miss of any three: its drift.
    pub missed_of_three: u8,
}

/// One thing that can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionAction {
    /// A tick passes; sites sleep until woken.
    Tick,
    /// A tick passes that site 0's clock misses.
    MissedTick,
    /// A site handles what is due.
    Wake(usize),
    /// What comes next to a site arrives.
    Deliver(usize),
    /// A site says a word to the half named of the other.
    Say(usize, Half),
    /// Site 1 hands a validity down to site 0.
    HandDown,
    /// A site gives the connection up; so many packets of it still arrive at the other.
    Part(usize, usize),
    /// A site makes a new connection; so many packets of the old one still arrive at the other.
    Reset(usize, usize),
    /// A site crashes and starts anew; so many of its packets still arrive at the other.
    Restart(usize, usize),
}

impl fmt::Display for SessionAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SessionAction::Tick => f.write_str("a tick"),
            SessionAction::MissedTick => f.write_str("a tick that 1's clock misses"),
            SessionAction::Wake(me) => write!(f, "{} wakes", me + 1),
            SessionAction::Deliver(me) => write!(f, "deliver to {}", me + 1),
            SessionAction::Say(me, Half::Arbiter) => write!(f, "{} says a word up", me + 1),
            SessionAction::Say(me, Half::Requester) => write!(f, "{} says a word down", me + 1),
            SessionAction::HandDown => f.write_str("2 hands a validity down"),
            SessionAction::Part(me, keep) => write!(f, "{} disconnects, {keep} arrive", me + 1),
            SessionAction::Reset(me, keep) => write!(f, "{} reconnects, {keep} arrive", me + 1),
            SessionAction::Restart(me, keep) => write!(f, "{} restarts, {keep} arrive", me + 1),
        }
    }
}

/// A state of the search.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) world: World,
    /// Whether time has no limit, so that states are told apart by differences.
    endless: bool,
    ticks: u8,
    resets: u8,
    restarts: [u8; 2],
    words: u8,
    hand_downs: u8,
    /// Which of the latest ticks site 0's clock missed, the latest first.
    missed: [bool; 2],
}

impl State {
    /// The counts of what is limited.
    fn counts(&self) -> impl PartialEq + Hash {
        let limited = (self.ticks, self.resets, self.restarts, self.words, self.hand_downs);
        (limited, self.missed)
    }

    fn normal(&self) -> String {
        normal(&format!("{:?}", self.world), self.world.clock())
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        let same =
            if self.endless { self.normal() == other.normal() } else { self.world == other.world };
        same && self.counts() == other.counts()
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        if self.endless {
            self.normal().hash(hasher);
        } else {
            self.world.hash(hasher);
        }
        self.counts().hash(hasher);
    }
}

/// Counts one more, unless there is no limit.
fn count(done: &mut u8, limit: u8) {
    if limit != ALWAYS {
        *done += 1;
    }
}

pub(super) struct Model {
    pub(super) space: SessionSpace,
    /// Only the first find counts: so the trace of a breadth-first search is the shortest.
    pub(super) found: AtomicBool,
}

impl Model {
    pub(super) fn new(space: &SessionSpace) -> Self {
        Self { space: space.clone(), found: AtomicBool::new(false) }
    }

    fn holds(&self, state: &State) -> bool {
        state.world.broken().is_none() || self.found.swap(true, Ordering::Relaxed)
    }

    fn site_actions(&self, state: &State, me: usize, actions: &mut Vec<SessionAction>) {
        let (space, world) = (&self.space, &state.world);
        if world.wakes_in(me).is_some_and(|time| time.is_zero()) {
            actions.push(SessionAction::Wake(me));
        }
        if world.waiting(me) > 0 {
            actions.push(SessionAction::Deliver(me));
        }
        if state.words < space.words {
            let halves = [Half::Arbiter, Half::Requester];
            let can = halves.into_iter().filter(|half| world.can_send(me, *half));
            actions.extend(can.map(|half| SessionAction::Say(me, half)));
        }
        let keeps = 0..=world.waiting(1 - me).min(space.under_way);
        if !world.is_connected(me) {
            actions.push(SessionAction::Reset(me, usize::MAX));
        } else if state.resets < space.resets {
            actions.extend(keeps.clone().map(|keep| SessionAction::Reset(me, keep)));
            actions.extend(keeps.clone().map(|keep| SessionAction::Part(me, keep)));
        }
        if state.restarts[me] < space.restarts[me] {
            actions.extend(keeps.map(|keep| SessionAction::Restart(me, keep)));
        }
    }
}

impl stateright::Model for Model {
    type State = State;
    type Action = SessionAction;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            world: World::new(&self.space.setup),
            endless: self.space.ticks == ALWAYS,
            ticks: 0,
            resets: 0,
            restarts: [0; 2],
            words: 0,
            hand_downs: 0,
            missed: [false; 2],
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<SessionAction>) {
        if state.world.broken().is_some() {
            return;
        }
        for me in [0, 1] {
            self.site_actions(state, me, actions);
        }
        if state.hand_downs < self.space.hand_downs && state.world.can_send(1, Half::Requester) {
            actions.push(SessionAction::HandDown);
        }
        let crowded = [0, 1].iter().any(|me| state.world.waiting(*me) > self.space.under_way);
        if state.ticks < self.space.ticks && !crowded {
            actions.push(SessionAction::Tick);
            let missed = state.missed.iter().filter(|missed| **missed).count();
            if missed < usize::from(self.space.missed_of_three) {
                actions.push(SessionAction::MissedTick);
            }
        }
    }

    fn next_state(&self, last: &State, action: SessionAction) -> Option<State> {
        let mut next = last.clone();
        let setup = &self.space.setup;
        match action {
            SessionAction::Tick | SessionAction::MissedTick => {
                let misses = action == SessionAction::MissedTick;
                count(&mut next.ticks, self.space.ticks);
                if self.space.missed_of_three > 0 {
                    next.missed = [misses, last.missed[0]];
                }
                next.world.pass([if misses { Duration::ZERO } else { TICK }, TICK]);
            }
            SessionAction::Wake(me) => next.world.wake(setup, me),
            SessionAction::Deliver(me) => {
                next.world.deliver(setup, me);
            }
            SessionAction::Say(me, half) => {
                count(&mut next.words, self.space.words);
                next.world.send(setup, me, half);
            }
            SessionAction::HandDown => {
                count(&mut next.hand_downs, self.space.hand_downs);
                next.world.hand_down(setup, 1, 2 * TICK);
            }
            SessionAction::Part(me, keep) => {
                count(&mut next.resets, self.space.resets);
                next.world.part(setup, me, keep);
            }
            SessionAction::Reset(me, keep) => {
                if last.world.is_connected(me) {
                    count(&mut next.resets, self.space.resets);
                }
                next.world.reset(setup, me, keep);
            }
            SessionAction::Restart(me, keep) => {
                count(&mut next.restarts[me], self.space.restarts[me]);
                next.world.restart(setup, me, keep);
            }
        }
        Some(next)
    }

    fn format_action(&self, action: &SessionAction) -> String {
        action.to_string()
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every promise is kept", Model::holds)]
    }
}

//! Two sites with sessions as a model for `stateright`.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quorate_session::session::Half;
use stateright::Property;

use super::normalize::normalized;
use super::world::{Setup, World};

/// One tick of the clocks.
pub const TICK: Duration = Duration::from_secs(1);

/// No limit.
pub const ALWAYS: u8 = u8::MAX;

/// A state space: two sites, and how much may happen to them. [`ALWAYS`] is no limit.
#[derive(Clone, Debug)]
pub struct SessionSpace {
    /// The sites.
    pub setup: Setup,
    /// The number of ticks. It may be unlimited only if no clock misses ticks.
    pub ticks: u8,
    /// No tick passes while more packets than this are in transit to a site, and at most this many
    /// packets of a broken connection still arrive.
    pub under_way: usize,
    /// How often a connection may break, with or without an immediate new one. It loses any suffix
    /// of the packets in transit.
    pub resets: u8,
    /// How often each site may crash and restart.
    pub restarts: [u8; 2],
    /// The number of messages.
    pub messages: u8,
    /// The number of validities that site 1 may delegate to site 0.
    pub delegations: u8,
    /// How many of any three ticks the clock of site 0 may miss: its drift.
    pub missed_of_three: u8,
}

/// One transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionAction {
    /// A tick passes, without waking the sites.
    Tick,
    /// A tick passes that the clock of site 0 misses.
    MissedTick,
    /// A site handles what is due.
    Wake(usize),
    /// The next arrival at a site is delivered.
    Deliver(usize),
    /// A site tells one of its locks what it does not know yet.
    Tell(usize, usize),
    /// A site sends a message to this half of the other.
    Send(usize, Half),
    /// Site 1 delegates a validity to site 0.
    Delegate,
    /// A site closes the connection; this many of its packets still arrive at the other.
    Disconnect(usize, usize),
    /// A site opens a new connection; this many packets of the old one still arrive at the other.
    Reconnect(usize, usize),
    /// A site crashes and restarts; this many of its packets still arrive at the other.
    Restart(usize, usize),
}

impl fmt::Display for SessionAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SessionAction::Tick => f.write_str("a tick"),
            SessionAction::MissedTick => f.write_str("a tick that 1's clock misses"),
            SessionAction::Wake(me) => write!(f, "{} wakes", me + 1),
            SessionAction::Deliver(me) => write!(f, "deliver to {}", me + 1),
            SessionAction::Tell(me, lock) => write!(f, "{} tells lock {}", me + 1, lock + 1),
            SessionAction::Send(me, Half::Arbiter) => write!(f, "{} says a word up", me + 1),
            SessionAction::Send(me, Half::Requester) => write!(f, "{} says a word down", me + 1),
            SessionAction::Delegate => f.write_str("2 hands a validity down"),
            SessionAction::Disconnect(me, keep) => {
                write!(f, "{} disconnects, {keep} arrive", me + 1)
            }
            SessionAction::Reconnect(me, keep) => write!(f, "{} reconnects, {keep} arrive", me + 1),
            SessionAction::Restart(me, keep) => write!(f, "{} restarts, {keep} arrive", me + 1),
        }
    }
}

/// A state of the search.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) world: World,
    /// Whether time is unlimited: then states are compared in their normalized form.
    endless: bool,
    ticks: u8,
    resets: u8,
    restarts: [u8; 2],
    messages: u8,
    delegations: u8,
    /// Which of the latest ticks the clock of site 0 missed, the latest first.
    missed: [bool; 2],
}

impl State {
    /// The counts that have limits.
    fn counts(&self) -> impl PartialEq + Hash {
        let limited = (self.ticks, self.resets, self.restarts, self.messages, self.delegations);
        (limited, self.missed)
    }

    fn normalized(&self) -> String {
        normalized(&format!("{:?}", self.world), self.world.clock())
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        let same = if self.endless {
            self.normalized() == other.normalized()
        } else {
            self.world == other.world
        };
        same && self.counts() == other.counts()
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        if self.endless {
            self.normalized().hash(hasher);
        } else {
            self.world.hash(hasher);
        }
        self.counts().hash(hasher);
    }
}

/// Adds one to a count, unless it has no limit.
fn count(done: &mut u8, limit: u8) {
    if limit != ALWAYS {
        *done += 1;
    }
}

pub(super) struct Model {
    pub(super) space: SessionSpace,
    /// Only the first find is reported: so the trace of a breadth-first search is the shortest.
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
        let behind = (0..space.setup.locks).filter(|lock| world.is_behind(me, *lock));
        actions.extend(behind.map(|lock| SessionAction::Tell(me, lock)));
        if state.messages < space.messages {
            let halves = [Half::Arbiter, Half::Requester];
            let can = halves.into_iter().filter(|half| world.can_send(me, *half));
            actions.extend(can.map(|half| SessionAction::Send(me, half)));
        }
        let keeps = 0..=world.waiting(1 - me).min(space.under_way);
        if !world.is_connected(me) {
            actions.push(SessionAction::Reconnect(me, usize::MAX));
        } else if state.resets < space.resets {
            actions.extend(keeps.clone().map(|keep| SessionAction::Reconnect(me, keep)));
            actions.extend(keeps.clone().map(|keep| SessionAction::Disconnect(me, keep)));
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
            messages: 0,
            delegations: 0,
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
        if state.delegations < self.space.delegations && state.world.can_send(1, Half::Requester) {
            actions.push(SessionAction::Delegate);
        }
        let too_many = [0, 1].iter().any(|me| state.world.waiting(*me) > self.space.under_way);
        if state.ticks < self.space.ticks && !too_many {
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
            SessionAction::Tell(me, lock) => next.world.tell(setup, me, lock),
            SessionAction::Send(me, half) => {
                count(&mut next.messages, self.space.messages);
                next.world.send(setup, me, half);
            }
            SessionAction::Delegate => {
                count(&mut next.delegations, self.space.delegations);
                next.world.delegate(setup, 1, 2 * TICK);
            }
            SessionAction::Disconnect(me, keep) => {
                count(&mut next.resets, self.space.resets);
                next.world.disconnect(setup, me, keep);
            }
            SessionAction::Reconnect(me, keep) => {
                if last.world.is_connected(me) {
                    count(&mut next.resets, self.space.resets);
                }
                next.world.reconnect(setup, me, keep);
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

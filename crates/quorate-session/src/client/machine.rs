//! The other end of the gate: a process with callers, pure.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use quorate_quorum::SiteId;

use super::{Parley, Wish};
use crate::claim::Break;
use crate::claim::{Denial, Loss};
use crate::lock::Got;
use crate::question::{Answer, Question};
use crate::session::RelativeDeadline;
use crate::session::{self, Durable, Event, Half, Packet, Roles, Sessions, Terms};
use crate::{Fence, Tick};

/// Everything that can happen to a process with callers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CallerInput {
    /// A connection with the site is up. It takes the place of one that was.
    Up,
    /// The connection is gone.
    Down,
    /// The site says this.
    Packet(Packet<Parley>),
    /// A caller wants something; the driver numbers calls and questions, and uses no number twice.
    Claim(u64, Wish),
    /// A caller leaves, or does not wait any longer.
    Leave(u64),
    /// Somebody wants to know something of all sites.
    Ask(u64, Question),
    /// Somebody wants a grant to end.
    Break(Break),
    /// Nothing but the time.
    Time,
}

/// Everything a process with callers asks of its driver, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CallerEffect {
    /// Say this to the site.
    Packet(Packet<Parley>),
    /// The caller is inside; its grant is good until then at least.
    Granted(u64, Fence, Got, Tick),
    /// The grant is good until then at least.
    Extended(u64, Tick),
    /// The grant was broken, and ends then.
    Broken(u64, Tick, Arc<str>),
    /// The grant is over.
    Lost(u64, CallerLoss),
    /// The caller gets nothing.
    Denied(u64, Denial),
    /// The question went to these sites.
    Asked(u64, Vec<SiteId>),
    /// What a site says.
    Answer(u64, SiteId, Answer),
    /// There is a session at the site.
    Open,
    /// The session is over: all grants are lost, and what waits is asked for again in the next.
    Closed,
    /// Call again at this time; it replaces the time asked for before.
    Wake(Tick),
}

/// Why a grant ended before its caller left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CallerLoss {
    /// The site says so.
    Told(Loss),
    /// The site was not heard of in time: the grant may be good there, but nobody here knows it.
    Unheard,
}

impl fmt::Display for CallerLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallerLoss::Told(loss) => loss.fmt(f),
            CallerLoss::Unheard => f.write_str("the site was not heard of in time"),
        }
    }
}

/// A process with callers: its session at a site, and what each caller may believe.
///
/// Until when a grant is good is counted by this process's own clock: never longer than the site
/// said, and never longer than the session here.
#[derive(Clone, Debug)]
pub struct Caller {
    now: Tick,
    sessions: Sessions<Parley>,
    calls: BTreeMap<u64, Call>,
    /// Questions and wishes that could not be sent yet.
    unsaid: Vec<Parley>,
    out: Vec<CallerEffect>,
    wake: Option<Tick>,
}

#[derive(Clone, Debug)]
enum Call {
    Waiting(Wish),
    Inside {
        /// The latest end the site has handed down, by our clock.
        handed: Tick,
        /// The latest end the caller was told of.
        told: Tick,
        steady: bool,
    },
}

fn site() -> SiteId {
    SiteId::new(1)
}

impl Caller {
    /// A process without callers yet.
    pub fn new(now: Tick, terms: Terms) -> Self {
        let me = SiteId::new(0);
        let peers = [(site(), Roles::Client)];
        let (sessions, _) = Sessions::start(now, me, peers, terms, Durable::default());
        Self {
            now,
            sessions,
            calls: BTreeMap::new(),
            unsaid: Vec::new(),
            out: Vec::new(),
            wake: None,
        }
    }

    /// Handles what is due by `now`, then the input.
    pub fn step(&mut self, now: Tick, input: CallerInput) -> Vec<CallerEffect> {
        self.now = now;
        self.drive(session::Input::Time);
        self.end_what_is_over();
        match input {
            CallerInput::Time => {}
            CallerInput::Up => self.drive(session::Input::Up(site())),
            CallerInput::Down => self.drive(session::Input::Down(site())),
            CallerInput::Packet(packet) => self.drive(session::Input::Packet(site(), packet)),
            CallerInput::Claim(call, wish) => {
                self.calls.insert(call, Call::Waiting(wish.clone()));
                self.say(Parley::Claim(call, wish));
            }
            CallerInput::Leave(call) => {
                if self.calls.remove(&call).is_some() {
                    self.say(Parley::Leave(call));
                }
            }
            CallerInput::Ask(ask, question) => self.say_or_keep(Parley::Ask(ask, question)),
            CallerInput::Break(wish) => self.say_or_keep(Parley::Break(wish)),
        }
        self.extend_grants();
        self.ask_to_be_woken();
        std::mem::take(&mut self.out)
    }

    /// When [`Caller::step`] must be called at the latest.
    pub fn deadline(&self) -> Option<Tick> {
        let inside = self.calls.values().filter_map(|call| match call {
            Call::Inside { told, .. } => Some(*told),
            Call::Waiting(_) => None,
        });
        inside.chain(self.sessions.deadline()).min()
    }

    /// Whether there is a session at the site.
    pub fn is_open(&self) -> bool {
        self.sessions.at(site()).is_some()
    }

    fn drive(&mut self, input: session::Input<Parley>) {
        let effects = self.sessions.step(self.now, input);
        self.absorb(effects);
    }

    fn say(&mut self, parley: Parley) {
        if !self.is_open() {
            return; // claims are made again when there is a session
        }
        let bytes = parley.bytes();
        let mut effects = Vec::new();
        self.sessions.send((site(), Half::Arbiter), parley, bytes, &mut effects);
        self.absorb(effects);
    }

    /// Says something now, or in the next session.
    fn say_or_keep(&mut self, parley: Parley) {
        if self.is_open() {
            self.say(parley);
        } else {
            self.unsaid.push(parley);
        }
    }

    fn absorb(&mut self, effects: Vec<session::Effect<Parley>>) {
        for effect in effects {
            match effect {
                session::Effect::Packet(_, packet) => self.out.push(CallerEffect::Packet(packet)),
                session::Effect::Deliver(.., parley) => self.on_parley(parley),
                session::Effect::Tell(Event::Open(..)) => self.on_open(),
                session::Effect::Tell(Event::Lost(_)) => self.on_lost(),
                _ => {}
            }
        }
    }

    /// A new session: what waits is asked for, and what nobody could ask yet.
    fn on_open(&mut self) {
        self.out.push(CallerEffect::Open);
        let waiting = self.calls.iter().filter_map(|(&call, place)| match place {
            Call::Waiting(wish) => Some(Parley::Claim(call, wish.clone())),
            Call::Inside { .. } => None,
        });
        let claims: Vec<Parley> = waiting.collect();
        let unsaid = std::mem::take(&mut self.unsaid);
        for parley in claims.into_iter().chain(unsaid) {
            self.say(parley);
        }
    }

    /// The session is over by our clock: the site may give our grants to others from now on.
    fn on_lost(&mut self) {
        let inside = |call: &&Call| matches!(call, Call::Inside { .. });
        let ids = self.calls.iter().filter(|(_, call)| inside(call)).map(|(&id, _)| id);
        for id in ids.collect::<Vec<u64>>() {
            self.calls.remove(&id);
            self.out.push(CallerEffect::Lost(id, CallerLoss::Unheard));
        }
        self.out.push(CallerEffect::Closed);
    }

    fn on_parley(&mut self, parley: Parley) {
        match parley {
            Parley::Granted(call, fence, got, down) => self.on_granted(call, (fence, got), down),
            Parley::Valid(down) => self.on_valid(down),
            Parley::Waning(call, down) => self.on_waning(call, down),
            Parley::Steady(call) => {
                if let Some(Call::Inside { steady, .. }) = self.calls.get_mut(&call) {
                    *steady = true;
                }
            }
            Parley::Broken(call, down, reason) => {
                self.on_waning(call, down);
                self.extend_grants();
                if let Some(Call::Inside { told, .. }) = self.calls.get(&call) {
                    self.out.push(CallerEffect::Broken(call, *told, reason));
                }
            }
            Parley::Lost(call, loss) => {
                if self.calls.remove(&call).is_some() {
                    self.out.push(CallerEffect::Lost(call, CallerLoss::Told(loss)));
                }
            }
            Parley::Denied(call, denial) => {
                if self.calls.remove(&call).is_some() {
                    self.out.push(CallerEffect::Denied(call, denial));
                }
            }
            Parley::Asked(ask, sites) => self.out.push(CallerEffect::Asked(ask, sites)),
            Parley::Answer(ask, from, answer) => {
                self.out.push(CallerEffect::Answer(ask, from, answer));
            }
            Parley::Claim(..) | Parley::Leave(_) | Parley::Ask(..) | Parley::Break(_) => {}
        }
    }

    fn on_granted(&mut self, call: u64, (fence, got): (Fence, Got), down: RelativeDeadline) {
        let Some(Call::Waiting(_)) = self.calls.get(&call) else { return }; // it has left
        let handed = self.sessions.handed(site(), down);
        match handed.and_then(|handed| Some((handed, self.end_of(handed)?))) {
            Some((handed, told)) if told > self.now => {
                self.calls.insert(call, Call::Inside { handed, told, steady: true });
                self.out.push(CallerEffect::Granted(call, fence, got, told));
            }
            _ => {
                // It was under way for too long to be of use.
                self.calls.remove(&call);
                self.say(Parley::Leave(call));
                self.out.push(CallerEffect::Lost(call, CallerLoss::Unheard));
            }
        }
    }

    /// It counts for the grants we have now: a later one may rest on less.
    fn on_valid(&mut self, down: RelativeDeadline) {
        let Some(end) = self.sessions.handed(site(), down) else { return };
        for call in self.calls.values_mut() {
            if let Call::Inside { handed, steady: true, .. } = call {
                *handed = end.max(*handed);
            }
        }
    }

    fn on_waning(&mut self, call: u64, down: RelativeDeadline) {
        let end = self.sessions.handed(site(), down);
        if let Some(Call::Inside { handed, steady, .. }) = self.calls.get_mut(&call) {
            *steady = false;
            *handed = end.map_or(*handed, |end| end.max(*handed));
        }
    }

    /// Until when something is good that was handed down until then: not longer than our session.
    fn end_of(&self, handed: Tick) -> Option<Tick> {
        Some(self.sessions.at(site())?.until.min(handed))
    }

    /// Both our session and what the site says may have moved on.
    fn extend_grants(&mut self) {
        let Some(session) = self.sessions.at(site()) else { return };
        for (&call, place) in &mut self.calls {
            if let Call::Inside { handed, told, .. } = place
                && session.until.min(*handed) > *told
            {
                *told = session.until.min(*handed);
                self.out.push(CallerEffect::Extended(call, *told));
            }
        }
    }

    /// Ends the grants whose time has passed: whoever holds them must stop, told or not.
    fn end_what_is_over(&mut self) {
        let now = self.now;
        let over = |call: &Call| matches!(call, Call::Inside { told, .. } if *told <= now);
        let ids = self.calls.iter().filter(|(_, call)| over(call)).map(|(&id, _)| id);
        for id in ids.collect::<Vec<u64>>() {
            self.calls.remove(&id);
            self.say(Parley::Leave(id));
            self.out.push(CallerEffect::Lost(id, CallerLoss::Unheard));
        }
    }

    fn ask_to_be_woken(&mut self) {
        let deadline = self.deadline();
        if deadline != self.wake {
            self.wake = deadline;
            self.out.extend(deadline.map(CallerEffect::Wake));
        }
    }
}

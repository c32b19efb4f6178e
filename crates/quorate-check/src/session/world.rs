//! Two sites, their clocks, and the connection between them.

use std::collections::VecDeque;
use std::time::Duration;

use quorate_protocol::Tick;
use quorate_quorum::SiteId;
use quorate_session::session::{
    Badge, Drift, Durable, Effect, Event, Half, Input, Lease, Packet, RelativeDeadline, Roles,
    Rule, Sessions, Terms,
};

use super::monitor::{Id, Monitor};

/// What protocols say to each other here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Payload {
    /// The how-manieth in its session and direction.
    Word(u8),
    /// A validity of the sender, and when it ends by the sender's clock (nobody but the monitor
    /// looks at that).
    Down(RelativeDeadline, Tick),
}

/// The rule that is not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Undone {
    /// None: everything as it is built.
    #[default]
    Nothing,
    /// One inside the sessions.
    Rule(Rule),
    /// What is handed down counts from the renewal it names, not from its receipt.
    HandedFromSending,
    /// The longest lease is kept on disk.
    LeaseMaxStored,
    /// The two halves of a site are told of different sessions: here a loss counts for both.
    TwoLossEvents,
}

/// Two sites, 0 and 1, and what they go by.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The lease each site grants in each of its lives; the last one for all that follow.
    pub leases: Vec<Lease>,
    /// By how much the clocks may drift apart.
    pub drift: Drift,
    /// Whether each site is the other's client; otherwise only site 0 is site 1's.
    pub both_ways: bool,
    /// The rule that is not kept.
    pub undone: Undone,
}

/// Two sites with sessions at each other, or one at the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub(super) sites: [Site; 2],
    pub(super) monitor: Monitor,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub(super) sessions: Sessions<Payload>,
    pub(super) clock: Tick,
    pub(super) inbox: VecDeque<Arrival>,
    /// Whether it knows of a connection.
    connected: bool,
    disk: Durable,
    lives: usize,
}

/// What comes to a site, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Arrival {
    Packet(Packet<Payload>),
    /// The end of the connection, and the next one.
    Connection,
    /// The end of the connection.
    Gone,
}

pub(super) fn other(index: usize) -> usize {
    1 - index
}

pub(super) fn site(index: usize) -> SiteId {
    SiteId::new(index)
}

impl World {
    /// Two sites that have just started, with a connection between them.
    pub fn new(setup: &Setup) -> Self {
        let start = Tick(1_000_000_000_000);
        let sites = [0, 1].map(|me| Site {
            sessions: setup.start(me, start, 0, Durable::default()).0,
            clock: start,
            inbox: VecDeque::new(),
            connected: true,
            disk: Durable::default(),
            lives: 0,
        });
        let mut world = Self { sites, monitor: Monitor::default() };
        for me in [0, 1] {
            world.begin(setup, me);
        }
        for me in [0, 1] {
            world.step(setup, me, Input::Up(site(other(me))));
        }
        world
    }

    /// The promise that was broken first.
    pub fn broken(&self) -> Option<&'static str> {
        self.monitor.broken
    }

    /// Site 0's clock.
    pub(super) fn clock(&self) -> Tick {
        self.sites[0].clock
    }

    /// How many arrivals wait at a site.
    pub fn waiting(&self, me: usize) -> usize {
        self.sites[me].inbox.len()
    }

    /// When a site wants to be woken, from now; `None` if it does not.
    pub fn wakes_in(&self, me: usize) -> Option<Duration> {
        let deadline = self.sites[me].sessions.deadline()?;
        Some(Duration::from_nanos(deadline.0.saturating_sub(self.sites[me].clock.0)))
    }

    /// Moves the clocks, each by its own time; the sites sleep.
    pub fn pass(&mut self, times: [Duration; 2]) {
        for (site, time) in self.sites.iter_mut().zip(times) {
            site.clock = site.clock + time;
        }
        self.judge();
    }

    /// Wakes a site.
    pub fn wake(&mut self, setup: &Setup, me: usize) {
        self.step(setup, me, Input::Time);
    }

    /// Hands a site what comes next; false if nothing does.
    pub fn deliver(&mut self, setup: &Setup, me: usize) -> bool {
        let Some(arrival) = self.sites[me].inbox.pop_front() else { return false };
        let peer = site(other(me));
        if !matches!(arrival, Arrival::Packet(_)) {
            self.sites[me].connected = arrival == Arrival::Connection;
        }
        self.step(
            setup,
            me,
            match arrival {
                Arrival::Gone => Input::Down(peer),
                Arrival::Packet(packet) => Input::Packet(peer, packet),
                Arrival::Connection => Input::Up(peer),
            },
        );
        true
    }

    /// Whether there is a session in which a site can say something to the half named.
    pub fn can_send(&self, me: usize, half: Half) -> bool {
        self.session(me, half).is_some()
    }

    /// A site says the next word to the half named of the other.
    pub fn send(&mut self, setup: &Setup, me: usize, half: Half) {
        if let Some(session) = self.session(me, half) {
            let word = Payload::Word(self.monitor.number(session, half));
            self.step(setup, me, Input::Send(site(other(me)), half, word, 1));
        }
    }

    /// A server hands its client a validity that ends in `rest` by its own clock.
    pub fn hand_down(&mut self, setup: &Setup, me: usize, rest: Duration) {
        let (peer, until) = (site(other(me)), self.sites[me].clock + rest);
        if let Some(down) = self.sites[me].sessions.hand_down(peer, until) {
            let payload = Payload::Down(down, until);
            self.step(setup, me, Input::Send(peer, Half::Requester, payload, 1));
        }
    }

    /// Whether a site knows of a connection.
    pub fn is_connected(&self, me: usize) -> bool {
        self.sites[me].connected
    }

    /// A site gives the connection up, and makes none. What was on its way to it is lost, and of
    /// what was on its way to the other all but the first `keep`.
    pub fn part(&mut self, setup: &Setup, me: usize, keep: usize) {
        self.cut(me, keep, Arrival::Gone);
        self.sites[me].connected = false;
        self.step(setup, me, Input::Down(site(other(me))));
    }

    /// A site makes a connection, and gives up the one there was, as in [`World::part`].
    pub fn reset(&mut self, setup: &Setup, me: usize, keep: usize) {
        self.cut(me, keep, Arrival::Connection);
        self.sites[me].connected = true;
        self.step(setup, me, Input::Up(site(other(me))));
    }

    /// A site crashes and starts anew, with what is on its disk.
    pub fn restart(&mut self, setup: &Setup, me: usize, keep: usize) {
        self.cut(me, keep, Arrival::Connection);
        self.sites[me].connected = true;
        self.monitor.stop(me);
        self.begin(setup, me);
        self.step(setup, me, Input::Up(site(other(me))));
    }

    fn cut(&mut self, me: usize, keep: usize, then: Arrival) {
        self.sites[me].inbox.clear();
        let inbox = &mut self.sites[other(me)].inbox;
        inbox.truncate(keep);
        inbox.push_back(then);
    }

    fn begin(&mut self, setup: &Setup, me: usize) {
        let site = &mut self.sites[me];
        let (sessions, effects) = setup.start(me, site.clock, site.lives, site.disk);
        site.sessions = sessions;
        site.lives = (site.lives + 1).min(setup.leases.len());
        for effect in effects {
            self.carry_out(setup, me, effect);
        }
    }

    fn step(&mut self, setup: &Setup, me: usize, input: Input<Payload>) {
        let site = &mut self.sites[me];
        // What was due before it heard of the end may still be said.
        let mute = !site.connected && !matches!(input, Input::Down(_));
        let effects = site.sessions.step(site.clock, input);
        self.monitor.look_at_client(me, site.clock, &site.sessions);
        for effect in effects {
            let clocks = self.clocks();
            self.monitor.see(me, clocks, &effect);
            let said = matches!(effect, Effect::Packet(..));
            self.monitor.expect(!(mute && said), "nothing is said without a connection");
            self.carry_out(setup, me, effect);
        }
        let site = &self.sites[me];
        self.monitor.look_at_server(me, site.clock, &site.sessions);
        self.judge();
    }

    fn carry_out(&mut self, setup: &Setup, me: usize, effect: Effect<Payload>) {
        match effect {
            Effect::Packet(_, packet) => {
                // Who does not know that the connection is gone speaks into it.
                let knows = |arrival: &Arrival| matches!(arrival, Arrival::Packet(_));
                if self.sites[me].connected && self.sites[me].inbox.iter().all(knows) {
                    self.sites[other(me)].inbox.push_back(Arrival::Packet(packet));
                }
            }
            Effect::Persist(durable) => {
                let disk = &mut self.sites[me].disk;
                let lease_max = disk.lease_max;
                *disk = durable;
                if setup.undone == Undone::LeaseMaxStored {
                    disk.lease_max = lease_max.max(setup.lease(usize::MAX).length());
                }
            }
            Effect::Deliver(from, _, _, Payload::Down(down, giver)) => {
                let site = &self.sites[me];
                let until = if setup.undone == Undone::HandedFromSending {
                    Some(site.clock + setup.drift.shorten(down.after))
                } else {
                    site.sessions.handed(from, down)
                };
                self.monitor.hand(me, giver, until);
            }
            Effect::Tell(Event::Lost(_)) if setup.undone == Undone::TwoLossEvents => {
                self.monitor.judge_close(me, self.clocks());
            }
            Effect::Deliver(..) | Effect::Tell(_) | Effect::Wake(_) | Effect::Note(..) => {}
        }
    }

    fn session(&self, me: usize, half: Half) -> Option<Id> {
        let (sessions, peer) = (&self.sites[me].sessions, site(other(me)));
        match half {
            Half::Arbiter => {
                sessions.at(peer).map(|view| (me, sessions.incarnation(), view.number))
            }
            Half::Requester => {
                sessions.of(peer).map(|view| (other(me), view.incarnation, view.number))
            }
        }
    }

    fn clocks(&self) -> [Tick; 2] {
        [self.sites[0].clock, self.sites[1].clock]
    }

    fn judge(&mut self) {
        let clocks = self.clocks();
        let [zero, one] = &self.sites;
        self.monitor.judge(clocks, [&zero.sessions, &one.sessions]);
    }
}

impl Setup {
    fn lease(&self, life: usize) -> Lease {
        self.leases[life.min(self.leases.len() - 1)]
    }

    fn start(
        &self,
        me: usize,
        now: Tick,
        life: usize,
        disk: Durable,
    ) -> (Sessions<Payload>, Vec<Effect<Payload>>) {
        let mut terms = Terms::new(Badge::default(), self.lease(life), self.drift);
        if let Undone::Rule(rule) = self.undone {
            terms = terms.without(rule);
        }
        let roles = match (self.both_ways, me) {
            (true, _) => Roles::Both,
            (false, 0) => Roles::Client,
            (false, _) => Roles::Server,
        };
        Sessions::start(now, site(me), [(site(other(me)), roles)], terms, disk)
    }
}

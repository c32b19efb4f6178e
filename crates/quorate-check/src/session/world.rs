//! Two sites, their clocks, and the connection between them.

use std::collections::VecDeque;
use std::time::Duration;

use quorate_protocol::{SessionNo, Tick};
use quorate_quorum::SiteId;
use quorate_session::session::{
    self, ClusterId, Drift, Durable, Effect, Event, Half, Input, Lease, Packet, RelativeDeadline,
    Roles, Rule, Sessions, Terms, Window,
};

use super::locks::Locks;
use super::monitor::{Id, Monitor};

/// The protocol messages of this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Payload {
    /// The ordinal of the message in its session and direction.
    Message(u8),
    /// A validity delegated by the sender, and its end by the sender's clock, for the monitor only.
    Delegation(RelativeDeadline, Tick),
}

impl session::Payload for Payload {
    fn bytes(&self) -> usize {
        1
    }
}

/// The rule that is undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Undone {
    /// None.
    #[default]
    Nothing,
    /// A rule inside the session layer.
    Rule(Rule),
    /// A delegated validity counts from the renewal it names, not from its receipt.
    HandedFromSending,
    /// The longest lease is stored on disk.
    LeaseMaxStored,
    /// The two halves of a site have separate sessions; if undone, a loss counts for both.
    TwoLossEvents,
}

/// The settings of two sites, 0 and 1.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The lease that a site grants in each of its incarnations; the last one for all later ones.
    pub leases: Vec<Lease>,
    /// The allowance for the drift of the clocks.
    pub drift: Drift,
    /// Whether each site is a client of the other; otherwise only site 0 is one, of site 1.
    pub both_ways: bool,
    /// How much of a stream may be unacknowledged.
    pub window: Window,
    /// How many locks each site has, which are told one after the other; 0 if all are told at once.
    pub locks: usize,
    /// The rule that is undone.
    pub undone: Undone,
}

/// Two sites, and the monitor of their sessions.
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
    pub(super) locks: Locks,
    /// Whether it believes to be connected.
    connected: bool,
    disk: Durable,
    lives: usize,
}

/// An arrival at a site; they are handled in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Arrival {
    Packet(Packet<Payload>),
    /// A new connection, which ends the one before.
    Connection,
    /// The end of the connection.
    Disconnected,
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
            locks: Locks::new(setup.locks),
            connected: true,
            disk: Durable::default(),
            lives: 0,
        });
        let mut world = Self { sites, monitor: Monitor::default() };
        for me in [0, 1] {
            world.start_incarnation(setup, me);
        }
        for me in [0, 1] {
            world.step(setup, me, Input::Up(site(other(me))));
        }
        world
    }

    /// The first broken promise.
    pub fn broken(&self) -> Option<&'static str> {
        self.monitor.broken
    }

    /// The clock of site 0.
    pub(super) fn clock(&self) -> Tick {
        self.sites[0].clock
    }

    /// The number of arrivals that a site has not handled.
    pub fn waiting(&self, me: usize) -> usize {
        self.sites[me].inbox.len()
    }

    /// The time until a site's next deadline; none if it has no deadline.
    pub fn wakes_in(&self, me: usize) -> Option<Duration> {
        let deadline = self.sites[me].sessions.deadline()?;
        Some(Duration::from_nanos(deadline.0.saturating_sub(self.sites[me].clock.0)))
    }

    /// Advances the clocks, each by its own time, without waking the sites.
    pub fn pass(&mut self, times: [Duration; 2]) {
        for (site, time) in self.sites.iter_mut().zip(times) {
            site.clock = site.clock + time;
        }
        self.check_moment();
    }

    /// Wakes a site.
    pub fn wake(&mut self, setup: &Setup, me: usize) {
        self.step(setup, me, Input::Time);
    }

    /// Delivers the next arrival to a site; false if there is none.
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
                Arrival::Disconnected => Input::Down(peer),
                Arrival::Packet(packet) => Input::Packet(peer, packet),
                Arrival::Connection => Input::Up(peer),
            },
        );
        true
    }

    /// Whether a lock of a site has not been told everything.
    pub fn is_behind(&self, me: usize, lock: usize) -> bool {
        self.sites[me].locks.is_behind(lock)
    }

    /// A site tells one of its locks what it does not know yet.
    pub fn tell(&mut self, setup: &Setup, me: usize, lock: usize) {
        let told = self.sites[me].locks.tell(lock, &mut self.monitor);
        self.check_lock(me, lock);
        for event in told {
            self.all_told(setup, me, event);
        }
        let site = &self.sites[me];
        self.monitor.check_server(me, site.clock, &site.sessions);
        self.check_moment();
    }

    /// All locks of a site were told of an event.
    fn all_told(&mut self, setup: &Setup, me: usize, event: Event) {
        let Some(half) = event.ended_half() else { return };
        let mut effects = Vec::new();
        let mute = !self.sites[me].connected;
        self.sites[me].sessions.on_told(event.site(), half, &mut effects);
        self.monitor.check_client(me, self.sites[me].clock, &self.sites[me].sessions);
        for effect in effects {
            let said = matches!(effect, Effect::Packet(..));
            self.monitor.expect(!(mute && said), "nothing is said without a connection");
            let clocks = self.clocks();
            self.monitor.on_effect(me, clocks, &effect);
            self.carry_out(setup, me, effect);
        }
    }

    /// A lock was told everything: it must believe in the present sessions.
    fn check_lock(&mut self, me: usize, lock: usize) {
        let (site, peer) = (&self.sites[me], site(other(me)));
        let at = site.sessions.at(peer).map(|view| view.number);
        let of = site.sessions.of(peer).map(|view| view.number);
        site.locks.check(lock, (at, of), &mut self.monitor);
    }

    /// A message arrives for one of the locks, which is told first what it does not know yet.
    fn act(
        &mut self,
        setup: &Setup,
        me: usize,
        (half, session): (Half, SessionNo),
        payload: Payload,
    ) {
        let count = self.sites[me].locks.count();
        if let (Payload::Message(number), 1..) = (payload, count) {
            let lock = usize::from(number) % count;
            if setup.undone != Undone::Rule(Rule::ToldBeforeActing) {
                for event in self.sites[me].locks.tell(lock, &mut self.monitor) {
                    self.all_told(setup, me, event);
                }
            }
            let locks = &self.sites[me].locks;
            locks.check_message(lock, half, session, &mut self.monitor);
        }
    }

    /// Whether a site has a session in which it can send to this half of the other.
    pub fn can_send(&self, me: usize, half: Half) -> bool {
        self.session(me, half).is_some()
    }

    /// A site sends the next message to this half of the other.
    pub fn send(&mut self, setup: &Setup, me: usize, half: Half) {
        if let Some(session) = self.session(me, half) {
            let message = Payload::Message(self.monitor.next_number(session, half));
            self.step(setup, me, Input::Send(site(other(me)), half, message));
        }
    }

    /// A server delegates to its client a validity that ends in `rest` by the server's clock.
    pub fn delegate(&mut self, setup: &Setup, me: usize, rest: Duration) {
        let (peer, until) = (site(other(me)), self.sites[me].clock + rest);
        if let Some(down) = self.sites[me].sessions.relative_deadline(peer, until) {
            let payload = Payload::Delegation(down, until);
            self.step(setup, me, Input::Send(peer, Half::Requester, payload));
        }
    }

    /// Whether a site believes to be connected.
    pub fn is_connected(&self, me: usize) -> bool {
        self.sites[me].connected
    }

    /// A site closes the connection. All packets to it are lost, and all but the first `keep`
    /// packets to the other.
    pub fn disconnect(&mut self, setup: &Setup, me: usize, keep: usize) {
        self.cut_connection(me, keep, Arrival::Disconnected);
        self.sites[me].connected = false;
        self.step(setup, me, Input::Down(site(other(me))));
    }

    /// A site opens a new connection, and closes the old one as in [`World::disconnect`].
    pub fn reconnect(&mut self, setup: &Setup, me: usize, keep: usize) {
        self.cut_connection(me, keep, Arrival::Connection);
        self.sites[me].connected = true;
        self.step(setup, me, Input::Up(site(other(me))));
    }

    /// A site crashes and restarts from its disk.
    pub fn restart(&mut self, setup: &Setup, me: usize, keep: usize) {
        self.cut_connection(me, keep, Arrival::Connection);
        self.sites[me].connected = true;
        self.monitor.on_crash(me);
        self.start_incarnation(setup, me);
        self.step(setup, me, Input::Up(site(other(me))));
    }

    fn cut_connection(&mut self, me: usize, keep: usize, then: Arrival) {
        self.sites[me].inbox.clear();
        let inbox = &mut self.sites[other(me)].inbox;
        inbox.truncate(keep);
        inbox.push_back(then);
    }

    fn start_incarnation(&mut self, setup: &Setup, me: usize) {
        let site = &mut self.sites[me];
        let (sessions, effects) = setup.start(me, site.clock, site.lives, site.disk);
        site.sessions = sessions;
        site.locks = Locks::new(setup.locks);
        site.lives = (site.lives + 1).min(setup.leases.len());
        for effect in effects {
            self.carry_out(setup, me, effect);
        }
    }

    fn step(&mut self, setup: &Setup, me: usize, input: Input<Payload>) {
        let site = &mut self.sites[me];
        // It may still send what was due before it learned of the disconnection.
        let mute = !site.connected && !matches!(input, Input::Down(_));
        let effects = site.sessions.step(site.clock, input);
        self.monitor.check_client(me, site.clock, &site.sessions);
        for effect in effects {
            let clocks = self.clocks();
            self.monitor.on_effect(me, clocks, &effect);
            let said = matches!(effect, Effect::Packet(..));
            self.monitor.expect(!(mute && said), "nothing is said without a connection");
            self.carry_out(setup, me, effect);
        }
        let site = &self.sites[me];
        self.monitor.check_server(me, site.clock, &site.sessions);
        self.check_moment();
    }

    fn carry_out(&mut self, setup: &Setup, me: usize, effect: Effect<Payload>) {
        match effect {
            Effect::Packet(_, packet) => {
                // A site that does not know of the disconnection sends into the void.
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
            Effect::Deliver(from, _, _, Payload::Delegation(down, giver)) => {
                let site = &self.sites[me];
                let until = if setup.undone == Undone::HandedFromSending {
                    Some(site.clock + setup.drift.shorten(down.after))
                } else {
                    site.sessions.absolute_deadline(from, down)
                };
                self.monitor.on_delegation(me, giver, until);
            }
            Effect::Deliver(_, half, session, payload) => {
                self.act(setup, me, (half, session), payload);
            }
            Effect::Notify(event) => {
                if matches!(event, Event::Lost(_)) && setup.undone == Undone::TwoLossEvents {
                    self.monitor.check_close(me, self.clocks());
                }
                if self.sites[me].locks.count() == 0 {
                    self.all_told(setup, me, event);
                } else {
                    self.sites[me].locks.push(event, &mut self.monitor);
                }
            }
            Effect::Wake(_) | Effect::Note(..) => {}
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

    fn check_moment(&mut self) {
        let clocks = self.clocks();
        let [zero, one] = &self.sites;
        self.monitor.check_moment(clocks, [&zero.sessions, &one.sessions]);
        let is_idle = |site: &Site| site.connected && site.inbox.is_empty();
        let all_arrived = is_idle(zero) && is_idle(one);
        self.monitor.check_streams([&zero.sessions, &one.sessions], all_arrived);
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
        let mut terms =
            Terms::new(ClusterId::default(), self.lease(life), self.drift).with_window(self.window);
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

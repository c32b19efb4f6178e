//! Client processes: each has a machine, a clock, and a connection to one site at a time.
//!
//! An embedded client runs in the process of its site, and shares its clock and its crashes. A
//! remote client survives its site; its machine chooses which site it connects to.

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use quorate_protocol::Tick;
use quorate_quorum::SiteId;
use quorate_session::CallId;
use quorate_session::client::{
    ClientEffect, ClientId, ClientInput, ClientMachine, ClientRequest, SiteChoice,
};
use quorate_session::session::{ClusterId, Drift, Lease, Terms};

use super::clock::Clock;
use super::event::{AnyPacket, ClientName, Event};
use super::node::panic_message;
use super::run::{Due, MS, Run};
use super::{Load, Plan};
use crate::chance::Chance;

/// A client process.
#[derive(Debug)]
pub(super) struct Client {
    /// Its number at the sites: its index in the list of all processes.
    pub(super) id: ClientId,
    pub(super) name: ClientName,
    /// The site in whose process it runs, if it is embedded.
    pub(super) host: Option<usize>,
    pub(super) clock: Clock,
    /// `None` after its end.
    pub(super) machine: Option<ClientMachine>,
    /// The site it is connected to, or tries to reach, and the number of the attempt.
    pub(super) site: usize,
    attempt: u64,
    /// The connection that is coming up: the site, and its generation.
    dialing: Option<(usize, u64)>,
    /// The generation of the connection that the machine was told is up; 0 if none is.
    pub(super) connection: u64,
    pub(super) paused: bool,
    /// Whether it is stopping and takes no more claims.
    pub(super) stopping: bool,
    /// The inputs it missed while it was paused, and the generation of a connection that came up.
    inbox: VecDeque<(ClientInput, u64)>,
    /// The due events of it and its callers that were postponed meanwhile.
    pub(super) deferred: Vec<Due>,
    /// The deadline for which an event is scheduled.
    planned: Option<Tick>,
    /// Its callers that are inside.
    pub(super) inside: BTreeSet<CallId>,
}

/// Where client processes run, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Placement {
    /// On a machine of this number.
    Remote(usize),
    /// In the process of this site.
    Embedded(usize),
}

/// A slot for client processes, and the one that runs there now or ran last.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientSlot {
    pub(super) placement: Placement,
    pub(super) process: usize,
    lives: u64,
}

/// All slots, and the slot of each caller.
pub(super) fn draw_placements(plan: &Plan, chance: &mut Chance) -> (Vec<ClientSlot>, Vec<usize>) {
    let n = plan.quorums.n();
    let drawn: Vec<Placement> = match plan.load {
        Load::OneHolder => vec![Placement::Remote(0)],
        Load::HolderAndWaiters => {
            let waiters = (1..n).flat_map(|at| [Placement::Remote(at), Placement::Embedded(at)]);
            std::iter::once(Placement::Remote(0)).chain(waiters).collect()
        }
        Load::Drawn { callers, .. } => {
            let remote = 1 + chance.place(n);
            let placement = |caller| {
                let embedded = chance.percent(40);
                if embedded {
                    Placement::Embedded(caller % n)
                } else {
                    Placement::Remote(chance.place(remote))
                }
            };
            (0..callers * n).map(placement).collect()
        }
    };
    let all: BTreeSet<Placement> = drawn.iter().copied().collect();
    let place = |placement: &Placement| all.range(..placement).count();
    let callers = drawn.iter().map(place).collect();
    let slot = |&placement: &Placement| ClientSlot { placement, process: 0, lives: 0 };
    (all.iter().map(slot).collect(), callers)
}

impl Client {
    pub(super) fn is_alive(&self) -> bool {
        self.machine.is_some()
    }

    /// The true time of a reading of its clock.
    pub(super) fn when(&self, tick: Tick) -> u64 {
        self.clock.when(tick)
    }
}

impl Run<'_> {
    /// The client process at an endpoint that is not a site.
    pub(super) fn client_at(&self, endpoint: usize) -> &Client {
        &self.clients[self.process_at(endpoint).expect("it is a client's")]
    }

    /// The endpoint of the client process with this number.
    pub(super) fn endpoint_of(&self, id: ClientId) -> usize {
        let process = usize::try_from(id.0).expect("it is the number of a process");
        self.endpoint(process)
    }

    /// Starts the next process of a slot, and connects it.
    pub(super) fn start_client(&mut self, place: usize) {
        let ClientSlot { placement, lives, .. } = self.slots[place];
        let name = ClientName { place, life: lives };
        let (host, site, clock) = match placement {
            Placement::Embedded(site) => (Some(site), site, self.nodes[site].clock),
            Placement::Remote(number) => {
                let n = self.nodes.len();
                let site = if lives == 0 { number % n } else { self.chance.place(n) };
                (None, site, Clock::draw(self.now, self.plan.skew, &mut self.chance))
            }
        };
        let now = clock.read(self.now);
        let terms = self.client_terms();
        let mut machine = ClientMachine::new(now, terms);
        if host.is_none() {
            let (sites, seed) = (self.nodes.len(), self.chance.below(u64::MAX));
            machine = machine.with_sites(SiteChoice::new(now, terms, sites, site, seed));
        }
        let process = self.clients.len();
        self.slots[place] = ClientSlot { placement, process, lives: lives + 1 };
        self.clients.push(Client {
            id: ClientId(process as u128),
            name,
            host,
            clock,
            machine: Some(machine),
            site,
            attempt: 0,
            dialing: None,
            connection: 0,
            paused: false,
            stopping: false,
            inbox: VecDeque::new(),
            deferred: Vec::new(),
            planned: None,
            inside: BTreeSet::new(),
        });
        self.wire.add_client();
        self.see(&Event::ClientStarts(name, host.map(SiteId::new), now));
        match host {
            Some(_) => self.plan_in(0, Due::Dial(process, 0)),
            None => self.step_client(process, ClientInput::Time, 0),
        }
    }

    fn client_terms(&self) -> Terms {
        let lease = Lease::new(self.plan.lease).expect("the plan's lease is in range");
        let terms = Terms::new(ClusterId::default(), lease, Drift::default());
        let terms = terms.with_window(self.parameters.window);
        self.plan.undone.map_or(terms, |rule| terms.without(rule))
    }

    /// A client tries to reach a site, instead of any that it tried before.
    fn dial(&mut self, process: usize, site: usize) {
        self.stop_dialing(process);
        let client = &mut self.clients[process];
        (client.site, client.attempt) = (site, client.attempt + 1);
        let attempt = client.attempt;
        let wait = self.chance.below(10 * MS);
        self.plan_in(wait, Due::Dial(process, attempt));
    }

    /// The connection that is coming up is not wanted any more.
    fn stop_dialing(&mut self, process: usize) {
        if let Some((site, _)) = self.clients[process].dialing.take() {
            let (endpoint, heard) = (self.endpoint(process), self.packet_delay());
            self.break_link(site, endpoint, [heard, 0]);
        }
    }

    /// A client closes its connection; its site learns of it later.
    fn close_connection(&mut self, process: usize) {
        let (site, endpoint) = (self.clients[process].site, self.endpoint(process));
        self.clients[process].connection = 0;
        let generation = self.wire.up(endpoint, site);
        if self.wire.go_down(endpoint, site, generation) {
            let heard = self.packet_delay();
            self.break_link(site, endpoint, [heard, 0]);
        }
    }

    /// A client tries to reach its site. Both must be up, and packets must get through both ways.
    /// If they do not, nobody may answer the attempt.
    pub(super) fn on_dial(&mut self, process: usize, attempt: u64) {
        let client = &mut self.clients[process];
        if client.machine.is_none() || client.attempt != attempt {
            return;
        }
        if client.paused {
            return client.deferred.push(Due::Dial(process, attempt));
        }
        let (site, endpoint) = (client.site, self.endpoint(process));
        let open = self.is_open_between(site, endpoint);
        if open && self.nodes[site].site.is_some() {
            self.open_connection(site, endpoint);
            let generation = self.wire.link(site, endpoint).latest;
            self.clients[process].dialing = Some((site, generation));
        } else if open || self.chance.percent(50) {
            self.fail_to_dial(process, site);
        }
    }

    /// The attempt of a client to reach a site fails.
    fn fail_to_dial(&mut self, process: usize, site: usize) {
        if self.clients[process].host.is_some() {
            let attempt = self.clients[process].attempt;
            return self.plan_in(self.lease / 6, Due::Dial(process, attempt));
        }
        self.feed_client(process, ClientInput::DialFailed(site), 0);
    }

    /// The connection of this generation with a site is up at the client, or broke before.
    pub(super) fn on_dialed(&mut self, process: usize, site: usize, generation: u64, up: bool) {
        if self.clients[process].dialing != Some((site, generation)) {
            return; // it is not wanted any more
        }
        self.clients[process].dialing = None;
        if up {
            self.feed_client(process, ClientInput::Up, generation);
        } else {
            self.fail_to_dial(process, site);
        }
    }

    /// A caller asks its process for something.
    pub(super) fn request(&mut self, process: usize, request: ClientRequest) {
        self.feed_client(process, ClientInput::Request(request), 0);
    }

    /// Feeds an input to a client; a paused client gets it later.
    pub(super) fn feed_client(&mut self, process: usize, input: ClientInput, generation: u64) {
        let client = &mut self.clients[process];
        if client.paused {
            return client.inbox.push_back((input, generation));
        }
        self.step_client(process, input, generation);
    }

    fn step_client(&mut self, process: usize, input: ClientInput, generation: u64) {
        let client = &mut self.clients[process];
        let Some(machine) = &mut client.machine else { return };
        let is_down = input == ClientInput::Down;
        if is_down || input == ClientInput::Up {
            client.connection = generation;
        }
        let now = client.clock.read(self.now);
        let name = client.name;
        match catch_unwind(AssertUnwindSafe(|| machine.step(now, input))) {
            Ok(effects) => self.take_client_effects(process, effects),
            Err(panic) => return self.monitor.on_panic(&name, panic_message(panic.as_ref())),
        }
        self.read_beliefs(process);
        self.note_client(process);
        self.plan_client_wake(process);
        if is_down && let Some(site) = self.clients[process].host {
            self.dial(process, site);
        }
    }

    fn take_client_effects(&mut self, process: usize, effects: Vec<ClientEffect>) {
        for effect in effects {
            match effect {
                ClientEffect::Packet(packet) => {
                    let client = &self.clients[process];
                    let (site, generation) = (client.site, client.connection);
                    let from = self.endpoint(process);
                    self.send(from, site, AnyPacket::Client(packet), generation);
                }
                ClientEffect::Close => self.close_connection(process),
                ClientEffect::Dial(site) => self.dial(process, site),
                effect => self.notify_caller(process, effect),
            }
        }
    }

    fn plan_client_wake(&mut self, process: usize) {
        let client = &mut self.clients[process];
        let Some(deadline) = client.machine.as_ref().and_then(ClientMachine::deadline) else {
            return;
        };
        if deadline <= client.clock.read(self.now) {
            let name = client.name;
            return self.monitor.on_overdue(name);
        }
        if client.planned != Some(deadline) {
            client.planned = Some(deadline);
            let at = client.clock.when(deadline);
            let late = self.chance.below(self.parameters.lateness);
            self.plan_at(at.saturating_add(late), Due::WakeClient(process));
        }
    }

    pub(super) fn on_wake_client(&mut self, process: usize) {
        let client = &mut self.clients[process];
        let due = client.machine.as_ref().and_then(ClientMachine::deadline);
        let now = client.clock.read(self.now);
        if !client.paused && due.is_some_and(|due| due <= now) {
            client.planned = None;
            self.step_client(process, ClientInput::Time, 0);
        }
    }

    /// A paused client resumes: it handles the inputs it missed, at the present time.
    pub(super) fn resume_client(&mut self, process: usize) {
        let client = &mut self.clients[process];
        if !client.paused || client.machine.is_none() {
            return;
        }
        client.paused = false;
        let name = self.end_name(self.endpoint(process));
        self.see(&Event::Recovers("goes on", Some(name)));
        for due in std::mem::take(&mut self.clients[process].deferred) {
            let wait = self.chance.below(self.lease / 50);
            self.plan_in(wait, due);
        }
        while let Some((input, generation)) = self.clients[process].inbox.pop_front() {
            self.step_client(process, input, generation);
        }
        self.step_client(process, ClientInput::Time, 0);
    }

    /// Ends a client process and its callers.
    pub(super) fn kill_client(&mut self, process: usize) {
        let client = &mut self.clients[process];
        client.machine = None;
        client.paused = false;
        client.inbox.clear();
        client.deferred.clear();
        self.end_callers(process);
    }

    /// The embedded client of a site, if there is one.
    pub(super) fn embedded(&self, site: usize) -> Option<usize> {
        self.slots.iter().position(|slot| slot.placement == Placement::Embedded(site))
    }
}

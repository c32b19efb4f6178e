//! How a run makes and loses connections.

use quorate_session::client::ClientInput;
use quorate_site::Input;
use quorate_site::client_gateway::GatewayInput;

use super::event::{AnyPacket, Endpoint, Event};
use super::run::{Due, MS, Run};

impl Run<'_> {
    pub(super) fn packet_delay(&mut self) -> u64 {
        let delay = self.chance.about(self.parameters.delay);
        let delay = if self.slow_packets > 0 { 20 * delay } else { delay };
        if self.slow_packets > 0 {
            self.note_slow(delay);
        }
        self.tally.packet_ns_max = self.tally.packet_ns_max.max(delay);
        delay
    }

    /// The delay of a packet; zero within one process.
    fn delay_between(&mut self, a: usize, b: usize) -> u64 {
        if self.is_one_process(a, b) { 0 } else { self.packet_delay() }
    }

    /// Whether one endpoint is the embedded client of the other.
    fn is_one_process(&self, a: usize, b: usize) -> bool {
        let process = self.process_at(a.max(b));
        process.is_some_and(|process| self.clients[process].host == Some(a.min(b)))
    }

    /// The client process at an endpoint; `None` if that is a site.
    pub(super) fn process_at(&self, endpoint: usize) -> Option<usize> {
        endpoint.checked_sub(self.nodes.len())
    }

    /// The endpoint of a client process.
    pub(super) fn endpoint(&self, process: usize) -> usize {
        self.nodes.len() + process
    }

    /// An endpoint, as events show it.
    pub(super) fn end_name(&self, endpoint: usize) -> Endpoint {
        match self.process_at(endpoint) {
            None => Endpoint::Site(self.nodes[endpoint].id),
            Some(process) => Endpoint::Client(self.clients[process].name),
        }
    }

    /// Sends a packet on the connection it was made for; drops it if that is gone.
    pub(super) fn send(&mut self, from: usize, to: usize, packet: AnyPacket, generation: u64) {
        if generation == 0 || self.wire.up(from, to) != generation {
            return;
        }
        self.tally.packets += 1;
        let (sender, receiver) = (self.end_name(from), self.end_name(to));
        self.watch.see(self.now, &Event::Sends(sender, receiver, &packet));
        let at = self.now + self.delay_between(from, to);
        if let Some(arrival) = self.wire.send((from, to), packet, at) {
            self.plan_at(arrival.at, Due::Arrive(from, to, arrival.serial));
        }
    }

    pub(super) fn on_arrive(&mut self, from: usize, to: usize, serial: u64) {
        let Some((packet, generation)) = self.wire.arrive((from, to), serial) else { return };
        let (sender, receiver) = (self.end_name(from), self.end_name(to));
        self.watch.see(self.now, &Event::Receives(sender, receiver, &packet));
        match (packet, self.process_at(to)) {
            (AnyPacket::Site(packet), _) => {
                let input = Input::Packet(self.nodes[from].id, packet);
                self.feed(to, GatewayInput::Site(input), 0);
            }
            (AnyPacket::Client(packet), None) => {
                let id = self.client_at(from).id;
                self.feed(to, GatewayInput::Client(id, packet), generation);
            }
            (AnyPacket::Client(packet), Some(process)) => {
                self.feed_client(process, ClientInput::Packet(packet), 0);
            }
        }
    }

    /// Two sites try to connect. Both must be up, and packets must get through both ways. A paused
    /// site's system still accepts connections.
    pub(super) fn on_connect(&mut self, a: usize, b: usize) {
        let able = [a, b].iter().all(|&site| self.nodes[site].site.is_some())
            && self.nodes[a].id != self.nodes[b].id; // a site does not connect to its copy
        let open = self.is_open_between(a, b);
        let lease = self.lease;
        let link = self.wire.link(a, b);
        if link.latest > link.broken {
            link.connecting = false;
            return;
        }
        if !able || !open {
            let wait = ((50 * MS) << link.failures.min(10)).min(lease / 6);
            link.failures += 1;
            return self.plan_in(wait, Due::Connect(a, b));
        }
        link.connecting = false;
        link.failures = 0;
        self.open_connection(a, b);
    }

    /// Whether packets can get through, both ways.
    pub(super) fn is_open_between(&mut self, a: usize, b: usize) -> bool {
        !self.wire.is_blocked((a, b)) && !self.wire.is_blocked((b, a))
    }

    /// Makes a connection, which comes up at each end at its own time.
    pub(super) fn open_connection(&mut self, a: usize, b: usize) {
        let generation = self.wire.connect(a, b);
        for (at, peer) in [(a, b), (b, a)] {
            let up = self.now + self.delay_between(at, peer);
            self.wire.expect_from(at, peer, up);
            self.plan_at(up, Due::Up(at, peer, generation));
        }
    }

    /// Both ends are notified of a connection, each at its own time.
    pub(super) fn on_up(&mut self, at: usize, peer: usize, generation: u64) {
        let came_up = self.wire.come_up(at, peer, generation);
        if came_up {
            self.see(&Event::Connection(self.end_name(at), self.end_name(peer), true));
        }
        match (self.process_at(at), self.process_at(peer)) {
            (Some(process), _) => self.on_dialed(process, peer, generation, came_up),
            (None, None) if came_up => {
                self.replace_connection(at, peer);
                let id = self.nodes[peer].id;
                self.feed(at, GatewayInput::Site(Input::Up(id)), generation);
            }
            (None, Some(process)) if came_up => {
                let id = self.clients[process].id;
                self.feed(at, GatewayInput::Up(id), generation);
            }
            (None, _) => {}
        }
    }

    pub(super) fn on_down(&mut self, at: usize, peer: usize, generation: u64) {
        if !self.wire.go_down(at, peer, generation) {
            return;
        }
        self.see(&Event::Connection(self.end_name(at), self.end_name(peer), false));
        match (self.process_at(at), self.process_at(peer)) {
            (Some(process), _) => self.feed_client(process, ClientInput::Down, 0),
            (None, Some(process)) => {
                let id = self.clients[process].id;
                self.feed(at, GatewayInput::Down(id), 0);
            }
            (None, None) => {
                let id = self.nodes[peer].id;
                self.feed(at, GatewayInput::Site(Input::Down(id)), 0);
            }
        }
    }

    /// A site has one connection with each other site: if two processes run as `peer`, the latest
    /// connection replaces that of the other process.
    fn replace_connection(&mut self, at: usize, peer: usize) {
        let id = self.nodes[peer].id;
        for other in (0..self.nodes.len()).filter(|&other| other != peer && other != at) {
            let generation = self.wire.up(at, other);
            if self.nodes[other].id == id && generation != 0 {
                self.wire.go_down(at, other, generation);
                let heard = self.packet_delay();
                self.break_link_for(at, other, [0, heard], self.lease / 6);
            }
        }
    }

    /// A site closes a connection because it refuses the other end. They connect again later.
    pub(super) fn refuse_connection(&mut self, at: usize, generation: u64) {
        let Some(peer) = self.wire.other_end(at, generation) else { return };
        if self.wire.link(at, peer).latest == generation {
            let heard = self.packet_delay();
            self.break_link_for(at, peer, [0, heard], self.lease / 6);
        }
    }

    /// Whether there is a connection that has not broken.
    pub(super) fn is_connected(&mut self, a: usize, b: usize) -> bool {
        let link = self.wire.link(a, b);
        link.latest > link.broken
    }

    /// The connection of two endpoints breaks: the last packets in transit are lost, and each end
    /// is notified after the given time. The site that is notified first connects again; a client
    /// does so itself.
    pub(super) fn break_link(&mut self, a: usize, b: usize, heard_after: [u64; 2]) {
        self.break_link_for(a, b, heard_after, 0);
    }

    /// The same, and the sites connect again so much later.
    fn break_link_for(&mut self, a: usize, b: usize, heard_after: [u64; 2], pause: u64) {
        self.note_cut(a, b, self.now + heard_after[0].max(heard_after[1]));
        let whole = self.is_connected(a, b);
        let generation = self.wire.link(a, b).latest;
        for (way, at, peer, after) in
            [((b, a), a, b, heard_after[0]), ((a, b), b, a, heard_after[1])]
        {
            let coming = self.wire.coming(way);
            let arriving = self.chance.place(coming + 1);
            self.wire.cut(way, arriving);
            self.plan_in(after, Due::Down(at, peer, generation));
        }
        let among_sites = self.process_at(a.max(b)).is_none();
        let link = self.wire.link(a, b);
        if among_sites && whole && !link.connecting {
            link.connecting = true;
            link.failures = 0;
            let again = heard_after.into_iter().min().unwrap_or(0) + pause;
            self.plan_in(again, Due::Connect(a, b));
        }
    }
}

//! The router: every packet between two nodes passes it, and it does to each what the rules say.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::packet::Packet;
use super::rules::{Link, Node, Rules};
use crate::chance::Chance;

/// The port of tunnels.
pub(super) const PORT: u16 = 4789;
/// The address of the router in the network that carries the tunnels.
pub(super) const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 254);
/// How many packets a stalled link keeps; more are dropped.
const KEPT: usize = 4096;
/// How often it looks whether a stall is over.
const LOOK: Duration = Duration::from_millis(5);

/// The address of a node in the network that carries the tunnels.
pub(super) fn tunnel_end(node: Node) -> Ipv4Addr {
    Ipv4Addr::new(10, 99, 0, host(node))
}

/// The last byte of a node's addresses.
pub(super) fn host(node: Node) -> u8 {
    u8::try_from(node + 1).expect("there are fewer than 250 nodes")
}

/// Starts a router that runs as long as this process.
pub(crate) fn start(rules: Arc<Mutex<Rules>>, seed: u64) -> io::Result<()> {
    let socket = UdpSocket::bind((ADDRESS, PORT))?;
    let router = Router {
        socket,
        rules,
        chance: Chance::new(seed),
        queue: BinaryHeap::new(),
        count: 0,
        held: BTreeMap::new(),
    };
    thread::Builder::new().name("router".into()).spawn(move || router.run())?;
    Ok(())
}

struct Router {
    socket: UdpSocket,
    rules: Arc<Mutex<Rules>>,
    chance: Chance,
    /// Packets that are on their way, by when they arrive.
    queue: BinaryHeap<Reverse<Delayed>>,
    count: u64,
    /// Packets of links that are stalled.
    held: BTreeMap<(Node, Node), VecDeque<Packet>>,
}

struct Delayed {
    due: Instant,
    /// Packets that are due at the same time keep their order.
    number: u64,
    packet: Packet,
}

impl Router {
    fn run(mut self) {
        let mut buffer = vec![0; 1 << 16];
        loop {
            self.deliver_due();
            let next = self.queue.peek().map(|Reverse(next)| next.due);
            let wait = next.map_or(LOOK, |due| due.saturating_duration_since(Instant::now()));
            let wait = wait.clamp(Duration::from_micros(100), LOOK);
            self.socket.set_read_timeout(Some(wait)).expect("a timeout that is not zero is valid");
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) => self.on_packet(&buffer[..length], from),
                Err(_) => self.release_held(),
            }
        }
    }

    fn on_packet(&mut self, bytes: &[u8], from: SocketAddr) {
        let SocketAddr::V4(from) = from else { return };
        let Some(from) = usize::from(from.ip().octets()[3]).checked_sub(1) else { return };
        let Some(packet) = Packet::parse(bytes) else { return };
        let Some(to) = usize::from(packet.destination()).checked_sub(1) else { return };
        let link = self.link(from, to);
        if link.cut || self.chance.permille(link.loss) {
            return;
        }
        let held = self.held.get(&(from, to)).is_some_and(|held| !held.is_empty());
        if link.stalled || held {
            let held = self.held.entry((from, to)).or_default();
            if held.len() < KEPT {
                held.push_back(packet);
            }
            return;
        }
        let packet = if packet.has_data() && self.chance.permille(link.resets) {
            packet.reset()
        } else {
            packet
        };
        if self.chance.permille(link.duplicates) {
            self.forward(packet.clone(), link);
        }
        self.forward(packet, link);
    }

    fn link(&self, from: Node, to: Node) -> Link {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).link(from, to)
    }

    fn forward(&mut self, packet: Packet, link: Link) {
        let mut wait = link.delay;
        if !link.jitter.is_zero() && self.chance.permille(300) {
            let micros = usize::try_from(link.jitter.as_micros()).unwrap_or(usize::MAX);
            let extra = self.chance.below(micros);
            wait += Duration::from_micros(u64::try_from(extra).unwrap_or_default());
        }
        if wait.is_zero() {
            return self.send(&packet);
        }
        self.count += 1;
        let delayed = Delayed { due: Instant::now() + wait, number: self.count, packet };
        self.queue.push(Reverse(delayed));
    }

    /// Sends it into the tunnel of its node. A tunnel whose node is gone has no packets either.
    fn send(&self, packet: &Packet) {
        let Some(node) = usize::from(packet.destination()).checked_sub(1) else { return };
        if node < 250 {
            self.socket.send_to(packet.bytes(), (tunnel_end(node), PORT)).ok();
        }
    }

    fn deliver_due(&mut self) {
        let now = Instant::now();
        while let Some(Reverse(next)) = self.queue.peek()
            && next.due <= now
        {
            if let Some(Reverse(delayed)) = self.queue.pop() {
                self.send(&delayed.packet);
            }
        }
    }

    /// Sends what stalled links held back, where the stall is over.
    fn release_held(&mut self) {
        let links: Vec<(Node, Node)> = self.held.keys().copied().collect();
        for (from, to) in links {
            if !self.link(from, to).stalled
                && let Some(packets) = self.held.remove(&(from, to))
            {
                for packet in &packets {
                    self.send(packet);
                }
            }
        }
    }
}

impl PartialEq for Delayed {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Delayed {}

impl PartialOrd for Delayed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Delayed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

//! The connections between sites, and between sites and client processes, one for each pair, and
//! the packets in transit on them.
//!
//! Endpoints are numbered: the sites first, then the client processes in the order they start.
//!
//! A connection has a number, its *generation*. Each end comes up and goes down at a moment of its
//! own, and receives nothing of a generation that is not up there.

use std::collections::VecDeque;

use super::event::AnyPacket;

/// All connections.
#[derive(Debug)]
pub(super) struct Wire {
    /// How many sites there are.
    n: usize,
    /// By pair, of which the smaller endpoint is end 0: those between sites first, then those of
    /// each client process.
    links: Vec<Link>,
    /// The two ends of each generation, from 1.
    pairs: Vec<(usize, usize)>,
    serial: u64,
}

/// The connection of one pair.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// The latest generation, and the latest that is broken.
    pub(super) latest: u64,
    pub(super) broken: u64,
    /// Whether a new attempt to connect is scheduled, and the number of failed attempts.
    pub(super) connecting: bool,
    pub(super) failures: u32,
    ends: [End; 2],
}

/// One end of a connection, and the packets in transit to it.
#[derive(Debug, Default)]
struct End {
    /// The generation that is up here; 0 if none is.
    up: u64,
    /// The latest scheduled arrival here; no later packet arrives before it.
    last: u64,
    /// How many partitions block packets to this end.
    blocks: u32,
    coming: VecDeque<Parcel>,
    /// The packets that wait for the end of a partition: the sender's system repeats them.
    stalled: VecDeque<Parcel>,
    /// No packets of this generation and those before are carried here any more.
    shut: u64,
}

#[derive(Debug)]
struct Parcel {
    serial: u64,
    generation: u64,
    packet: AnyPacket,
}

/// The arrival time of a packet, and its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) at: u64,
    pub(super) serial: u64,
}

impl Wire {
    pub(super) fn new(n: usize) -> Self {
        let links = (0..n * n).map(|_| Link::default()).collect();
        Self { n, links, pairs: Vec::new(), serial: 0 }
    }

    /// Adds a client process.
    pub(super) fn add_client(&mut self) {
        self.links.extend((0..self.n).map(|_| Link::default()));
    }

    /// The connection of a pair.
    pub(super) fn link(&mut self, a: usize, b: usize) -> &mut Link {
        let (site, other) = (a.min(b), a.max(b));
        let place = if other < self.n { site * self.n + other } else { other * self.n + site };
        &mut self.links[place]
    }

    /// Numbers a new connection of a pair.
    pub(super) fn connect(&mut self, a: usize, b: usize) -> u64 {
        self.pairs.push((a, b));
        let generation = self.pairs.len() as u64;
        self.link(a, b).latest = generation;
        generation
    }

    /// The endpoint that a connection of `at` leads to; `None` if there is no such connection.
    pub(super) fn other_end(&self, at: usize, generation: u64) -> Option<usize> {
        let index = usize::try_from(generation).ok()?.checked_sub(1)?;
        let (a, b) = *self.pairs.get(index)?;
        Some(if a == at { b } else { a })
    }

    fn end(&mut self, at: usize, peer: usize) -> &mut End {
        &mut self.link(at, peer).ends[usize::from(at > peer)]
    }

    /// The generation that is up at `at`, towards `peer`; 0 if none is.
    pub(super) fn up(&mut self, at: usize, peer: usize) -> u64 {
        self.end(at, peer).up
    }

    /// A new connection comes up at `at` at this time; nothing arrives before.
    pub(super) fn expect_from(&mut self, at: usize, peer: usize, time: u64) {
        let end = self.end(at, peer);
        end.last = end.last.max(time);
    }

    /// A connection comes up at one end; false if it broke before. Packets of the former one are
    /// lost.
    pub(super) fn come_up(&mut self, at: usize, peer: usize, generation: u64) -> bool {
        if generation <= self.link(at, peer).broken {
            return false;
        }
        let end = self.end(at, peer);
        end.up = generation;
        end.coming.retain(|parcel| parcel.generation >= generation);
        true
    }

    /// A connection goes down at one end; false if it is not the one that is up.
    pub(super) fn go_down(&mut self, at: usize, peer: usize, generation: u64) -> bool {
        let end = self.end(at, peer);
        if end.up == 0 || end.up != generation {
            return false;
        }
        end.up = 0;
        end.coming.retain(|parcel| parcel.generation > generation);
        true
    }

    /// Sends a packet on the connection that is up at its sender; `None` if it is lost, or stalls.
    pub(super) fn send(
        &mut self,
        (from, to): (usize, usize),
        packet: AnyPacket,
        at: u64,
    ) -> Option<Arrival> {
        let generation = self.up(from, to);
        self.serial += 1;
        let serial = self.serial;
        let end = self.end(to, from);
        if generation <= end.shut {
            return None;
        }
        let parcel = Parcel { serial, generation, packet };
        if end.blocks > 0 || !end.stalled.is_empty() {
            end.stalled.push_back(parcel);
            return None;
        }
        Some(end.take(parcel, at))
    }

    /// The packet with this number arrives, on the connection of this generation, unless it was
    /// lost.
    pub(super) fn arrive(
        &mut self,
        (from, to): (usize, usize),
        serial: u64,
    ) -> Option<(AnyPacket, u64)> {
        let end = self.end(to, from);
        let first = end.coming.front()?;
        if first.serial != serial {
            return None;
        }
        let parcel = end.coming.pop_front().expect("it was looked at");
        (parcel.generation == end.up).then_some((parcel.packet, parcel.generation))
    }

    /// The latest connection breaks: nothing more is carried, and of the packets in transit to `to`
    /// only so many still arrive.
    pub(super) fn cut(&mut self, (from, to): (usize, usize), arriving: usize) {
        let link = self.link(from, to);
        let latest = link.latest;
        link.broken = latest;
        let end = self.end(to, from);
        end.shut = latest;
        end.stalled.clear();
        end.coming.truncate(arriving);
        end.last = 0; // the next connection waits for nothing of this one
    }

    /// How many packets are in transit.
    pub(super) fn coming(&mut self, (from, to): (usize, usize)) -> usize {
        self.end(to, from).coming.len()
    }

    /// Whether a packet can get through.
    pub(super) fn is_blocked(&mut self, (from, to): (usize, usize)) -> bool {
        self.end(to, from).blocks > 0
    }

    /// Blocks packets.
    pub(super) fn block(&mut self, (from, to): (usize, usize)) {
        self.end(to, from).blocks += 1;
    }

    /// Undoes one [`Wire::block`]; stalled packets may get through from `at` on.
    pub(super) fn unblock(&mut self, (from, to): (usize, usize), at: u64) -> Vec<Arrival> {
        let end = self.end(to, from);
        end.blocks -= 1;
        if end.blocks > 0 {
            return Vec::new();
        }
        let stalled = std::mem::take(&mut end.stalled);
        stalled.into_iter().map(|parcel| end.take(parcel, at)).collect()
    }
}

impl End {
    /// Accepts a packet, which never arrives before one that was sent earlier.
    fn take(&mut self, parcel: Parcel, at: u64) -> Arrival {
        self.last = self.last.max(at);
        let arrival = Arrival { at: self.last, serial: parcel.serial };
        self.coming.push_back(parcel);
        arrival
    }
}

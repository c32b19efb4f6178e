//! Connections as a run's drivers make and lose them.

use quorate_quorum::SiteId;
use quorate_session::session::Packet;
use quorate_site::{Input, Said};

use super::event::Event;
use super::run::{Due, MS, Run};

impl Run<'_> {
    pub(super) fn packet_delay(&mut self) -> u64 {
        let delay = self.chance.about(self.mood.delay);
        if self.slow_packets > 0 { 20 * delay } else { delay }
    }

    /// Sends a packet on the connection it was meant for; if that is gone, to nobody.
    pub(super) fn send(&mut self, from: usize, to: usize, packet: Packet<Said>, generation: u64) {
        if generation == 0 || self.wire.up(from, to) != generation {
            return;
        }
        self.tally.packets += 1;
        let (sender, receiver) = (SiteId::new(from), SiteId::new(to));
        self.watch.see(self.now, &Event::Sends(sender, receiver, &packet));
        let at = self.now + self.packet_delay();
        if let Some(arrival) = self.wire.send((from, to), packet, at) {
            self.plan_at(arrival.at, Due::Arrive(from, to, arrival.serial));
        }
    }

    pub(super) fn on_arrive(&mut self, from: usize, to: usize, serial: u64) {
        let Some(packet) = self.wire.arrive((from, to), serial) else { return };
        let (sender, receiver) = (SiteId::new(from), SiteId::new(to));
        self.watch.see(self.now, &Event::Receives(sender, receiver, &packet));
        self.feed(to, Input::Packet(sender, packet), 0);
    }

    /// Tries to connect. It takes both sites, and both ways between them: a paused site's system
    /// still takes connections.
    pub(super) fn on_connect(&mut self, a: usize, b: usize) {
        let able = [a, b].iter().all(|&site| self.nodes[site].site.is_some());
        let open = !self.wire.is_blocked((a, b)) && !self.wire.is_blocked((b, a));
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
        link.latest += 1;
        let generation = link.latest;
        for (at, peer) in [(a, b), (b, a)] {
            let up = self.now + self.packet_delay();
            self.wire.expect_from(at, peer, up);
            self.plan_at(up, Due::Up(at, peer, generation));
        }
    }

    pub(super) fn on_up(&mut self, at: usize, peer: usize, generation: u64) {
        if self.wire.come_up(at, peer, generation) {
            self.see(&Event::Connection(SiteId::new(at), SiteId::new(peer), true));
            self.feed(at, Input::Up(SiteId::new(peer)), generation);
        }
    }

    pub(super) fn on_down(&mut self, at: usize, peer: usize, generation: u64) {
        if self.wire.go_down(at, peer, generation) {
            self.see(&Event::Connection(SiteId::new(at), SiteId::new(peer), false));
            self.feed(at, Input::Down(SiteId::new(peer)), 0);
        }
    }

    /// The connection of two sites breaks: a tail of what is under way is lost, each end hears of
    /// it after the time given, and whoever hears first connects again.
    pub(super) fn break_link(&mut self, a: usize, b: usize, heard_after: [u64; 2]) {
        let link = self.wire.link(a, b);
        let generation = link.latest;
        let whole = generation > link.broken;
        for (way, at, peer, after) in
            [((b, a), a, b, heard_after[0]), ((a, b), b, a, heard_after[1])]
        {
            let coming = self.wire.coming(way);
            let arriving = self.chance.place(coming + 1);
            self.wire.cut(way, arriving);
            self.plan_in(after, Due::Down(at, peer, generation));
        }
        let link = self.wire.link(a, b);
        if whole && !link.connecting {
            link.connecting = true;
            link.failures = 0;
            let again = heard_after.into_iter().min().unwrap_or(0);
            self.plan_in(again, Due::Connect(a, b));
        }
    }
}

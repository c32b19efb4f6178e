//! The faults of sites and connections, and how they end.

use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_site::Input;
use quorate_site::client_gateway::GatewayInput;

use super::event::{Endpoint, Event};
use super::faults::Fault;
use super::run::{Due, Run};

impl Run<'_> {
    pub(super) fn on_fault(&mut self, place: usize) {
        let fault = self.faults[place].1.clone();
        if self.settled_at.is_some() || !self.is_possible(&fault) {
            return;
        }
        self.tally.faults[fault.kind()] += 1;
        self.see(&Event::Suffers(&fault));
        match fault {
            Fault::Reset(a, b) => {
                let after = [self.packet_delay(), self.packet_delay()];
                self.break_link(a.index(), b.index(), after);
            }
            Fault::Partition { from, both_ways, lasts } => self.part(&from, both_ways, lasts),
            Fault::CutLink(a, b, lasts) => {
                self.cut((a.index(), b.index()), true, lasts);
            }
            Fault::CutWay(a, b, lasts) => self.cut((a.index(), b.index()), false, lasts),
            Fault::SlowPackets(lasts) => {
                self.slow_packets += 1;
                self.plan_in(lasts, Due::QuickPackets);
            }
            Fault::Pause(site, lasts) => self.pause(site.index(), lasts),
            Fault::Crash { site, reboot, lasts } => self.crash(site.index(), reboot, lasts),
            Fault::CrashHolder(lasts) => {
                let holder = self.monitor.holder(self.now, 0).expect("it was looked at");
                self.crash(holder.site.index(), false, lasts);
            }
            Fault::SlowDisk(site, lasts) => {
                self.nodes[site.index()].slow_disk = true;
                self.plan_in(lasts, Due::QuickDisk(site.index()));
            }
            Fault::Drain { site, within, lasts } => {
                self.nodes[site.index()].starts_after = Some(lasts);
                let drain = Input::Drain(Duration::from_nanos(within));
                self.step(site.index(), GatewayInput::Site(drain), 0);
            }
            Fault::Disk { site, damage, lasts } => self.damage(site.index(), damage, lasts),
            Fault::Copy { site, older, lasts } => self.copy(site.index(), older, lasts),
            Fault::ClientReset(client) => self.reset_client(client),
            Fault::ClientCut { client, cut, lasts } => self.cut_client(client, cut, lasts),
            Fault::ClientPause(client, lasts) => self.pause_client(client, lasts),
            Fault::ClientCrash(client, lasts) => self.crash_client(client, lasts),
            Fault::ClientStop(client, lasts) => self.stop_client(client, lasts),
        }
    }

    fn is_possible(&mut self, fault: &Fault) -> bool {
        match fault {
            Fault::Pause(site, _) | Fault::Drain { site, .. } => {
                let node = &self.nodes[site.index()];
                node.site.is_some() && !node.paused
            }
            Fault::Crash { site, .. } => self.nodes[site.index()].site.is_some(),
            Fault::CrashHolder(_) => {
                let holder = self.monitor.holder(self.now, 0);
                holder.is_some_and(|holder| self.nodes[holder.site.index()].site.is_some())
            }
            Fault::Disk { site, damage, .. } => self.can_damage(site.index(), *damage),
            Fault::Copy { site, older, .. } => self.can_copy(site.index(), *older),
            Fault::Reset(..)
            | Fault::Partition { .. }
            | Fault::CutLink(..)
            | Fault::CutWay(..)
            | Fault::SlowPackets(_)
            | Fault::SlowDisk(..) => true,
            Fault::ClientReset(client) => self.has_connection(*client),
            Fault::ClientCut { client, .. } | Fault::ClientCrash(client, _) => {
                self.slot(*client).is_alive()
            }
            Fault::ClientPause(client, _) | Fault::ClientStop(client, _) => {
                let client = self.slot(*client);
                client.is_alive() && !client.paused && !client.stopping
            }
        }
    }

    /// Separates some sites from the others. Packets stall, as the sender's system repeats them;
    /// after a while it gives up, and no new connection comes up before the partition is over.
    fn part(&mut self, from: &[SiteId], both_ways: bool, lasts: u64) {
        let mut from = from.to_vec();
        if self.nodes.len() > self.plan.quorums.n() && self.chance.percent(50) {
            from.push(SiteId::new(self.nodes.len() - 1)); // a copy of a site
        }
        let mut ways = Vec::new();
        for &site in &from {
            let others = SiteId::all(self.nodes.len()).filter(|other| !from.contains(other));
            for other in others {
                ways.push((site.index(), other.index()));
                if both_ways {
                    ways.push((other.index(), site.index()));
                }
                if self.chance.percent(60) {
                    let timeout = self.lease / 4 + self.chance.below(3 * self.lease);
                    self.plan_in(timeout, Due::TimeOut(site.index(), other.index()));
                }
            }
        }
        self.block(ways, lasts);
    }

    /// Separates two sites from each other only, or cuts the way from the first to the second.
    fn cut(&mut self, (a, b): (usize, usize), both_ways: bool, lasts: u64) {
        if self.chance.percent(60) {
            let timeout = self.lease / 4 + self.chance.below(3 * self.lease);
            self.plan_in(timeout, Due::TimeOut(a, b));
        }
        let mut ways = vec![(a, b)];
        ways.extend(both_ways.then_some((b, a)));
        self.block(ways, lasts);
    }

    /// Blocks packets, for so long.
    pub(super) fn block(&mut self, ways: Vec<(usize, usize)>, lasts: u64) {
        for &way in &ways {
            self.wire.block(way);
            self.note_cut(way.0, way.1, self.now);
        }
        self.partitions.push(ways);
        self.plan_in(lasts, Due::Unblock(self.partitions.len() - 1));
    }

    /// An operating system gives up a connection on which nothing gets through.
    pub(super) fn on_time_out(&mut self, a: usize, b: usize) {
        if self.wire.is_blocked((a, b)) || self.wire.is_blocked((b, a)) {
            let [mine, other] = [(); 2].map(|()| self.chance.below(self.lease));
            self.break_link(a, b, [mine, other]);
        }
    }

    pub(super) fn unblock(&mut self, place: usize) {
        let ways = std::mem::take(&mut self.partitions[place]);
        if !ways.is_empty() {
            self.see(&Event::Recovers("a partition is over", None));
        }
        for way in ways {
            let at = self.now + self.packet_delay();
            self.note_cut(way.0, way.1, at);
            for arrival in self.wire.unblock(way, at) {
                self.plan_at(arrival.at, Due::Arrive(way.0, way.1, arrival.serial));
            }
        }
    }

    /// Pauses a site and its embedded client.
    fn pause(&mut self, place: usize, lasts: u64) {
        self.note_unsound(place);
        self.nodes[place].paused = true;
        if let Some(process) = self.embedded(place).map(|place| self.slots[place].process) {
            self.clients[process].paused = true;
        }
        self.plan_in(lasts, Due::Resume(place));
    }

    /// A paused site resumes: it handles the inputs it missed, at the present time.
    pub(super) fn resume(&mut self, place: usize) {
        let node = &mut self.nodes[place];
        if !node.paused {
            return;
        }
        node.paused = false;
        let id = node.id;
        self.note_unsound(place);
        self.see(&Event::Recovers("goes on", Some(Endpoint::Site(id))));
        self.drain(place);
        while let Some((input, generation)) = self.nodes[place].inbox.pop_front() {
            self.step(place, input, generation);
        }
        self.step(place, GatewayInput::Site(Input::Time), 0);
        if let Some(process) = self.embedded(place).map(|place| self.slots[place].process) {
            self.resume_client(process);
        }
    }

    /// A site crashes, and its embedded client. Its operating system closes its connections; if its
    /// machine is gone too, its peers get no packets any more.
    pub(super) fn crash(&mut self, place: usize, reboot: bool, lasts: u64) {
        self.stop(place, reboot);
        self.plan_in(lasts, Due::Restart(place));
    }

    /// A site ends, and does not start again by itself.
    pub(super) fn stop(&mut self, place: usize, reboot: bool) {
        self.note_unsound(place);
        let finished = self.chance.percent(50);
        self.changed_at = self.now;
        let node = &mut self.nodes[place];
        node.forget();
        node.drive.crash(finished);
        if let Some(process) = self.embedded(place).map(|place| self.slots[place].process) {
            self.kill_client(process);
        }
        if reboot {
            let reading = self.chance.below(self.lease);
            let node = &mut self.nodes[place];
            node.clock = node.clock.set(self.now, reading);
        }
        let remote = self.remote_at(place).into_iter().map(|process| self.endpoint(process));
        let remote: Vec<usize> = remote.collect();
        let peers = (0..self.nodes.len()).filter(|peer| *peer != place);
        for peer in peers.chain(remote) {
            let heard =
                if reboot { self.chance.below(3 * self.lease) } else { self.packet_delay() };
            self.break_link(place, peer, [0, heard]);
            let generation = self.wire.up(place, peer);
            self.wire.go_down(place, peer, generation);
        }
    }

    /// A site that was told to stop has nothing left to do.
    pub(super) fn on_drained(&mut self, place: usize) {
        let lasts = self.nodes[place].starts_after.unwrap_or_default();
        self.crash(place, false, lasts);
    }

    pub(super) fn restart(&mut self, place: usize) {
        if self.nodes[place].site.is_none() && !self.is_stopped(place) && !self.stays_down(place) {
            self.changed_at = self.now;
            self.start(place);
        }
    }
}

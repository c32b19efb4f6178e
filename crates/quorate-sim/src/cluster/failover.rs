//! Which clients are served, since when they are not, and which sites could serve them.
//!
//! That a site fails to be sound is noted when it happens. Clients are looked at in their own
//! steps, and together a few times in each lease.

use std::collections::BTreeMap;

use super::disk_faults::Harm;
use super::property;
use super::run::{Due, MS, Run, nanos};

/// How often clients are judged, as a part of a lease.
const JUDGED: u64 = 16;

/// What is known of clients and sites.
#[derive(Debug, Default)]
pub(super) struct Failover {
    /// When each site was last seen not to be sound.
    unsound: BTreeMap<usize, u64>,
    /// Until when packets between a client and a site were last stopped or lost.
    cut: BTreeMap<(usize, usize), u64>,
    /// Until when packets were slow everywhere.
    slow: u64,
    waits: BTreeMap<usize, Wait>,
}

/// How a client is served.
#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    /// When it was served last, or had no claim to it.
    since: u64,
    /// Since when it is served.
    served_from: Option<u64>,
    /// For how long it was served without interruption, and by which site.
    served_for: u64,
    by: usize,
}

/// How a client is, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It does not run, or holds something.
    Excused,
    Served,
    Unserved,
}

impl Run<'_> {
    /// Whether clients are judged: not with disks that are not what they were.
    fn judges_failover(&self) -> bool {
        self.nodes.len() == self.plan.quorums.n() && self.nodes.len() > 1
    }

    pub(super) fn begin_failover(&mut self) {
        if self.judges_failover() {
            self.plan_in(self.lease / JUDGED, Due::Judge);
        }
    }

    /// Whether a site serves the clients that reach it.
    fn serves(&self, place: usize) -> bool {
        let node = &self.nodes[place];
        let willing = node.site.as_ref().is_some_and(|site| site.site().quorum().reached);
        willing && !node.paused && node.starts_after.is_none() && node.harm == Harm::None
    }

    pub(super) fn is_sound(&self, place: usize) -> bool {
        let node = &self.nodes[place];
        self.serves(place) && !node.slow_disk && !node.is_catching_up
    }

    fn state(&mut self, process: usize) -> State {
        let (client, endpoint) = (&self.clients[process], self.endpoint(process));
        let (site, connection) = (client.site, client.connection);
        let Some(machine) = client.machine.as_ref().filter(|_| !client.paused && !client.stopping)
        else {
            return State::Excused;
        };
        let is_open = machine.is_open() && connection != 0;
        if machine.is_tied() {
            State::Excused
        } else if is_open
            && self.serves(site)
            && self.is_open_between(site, endpoint)
            && self.is_connected(site, endpoint)
            && self.wire.up(site, endpoint) == connection
        {
            State::Served
        } else {
            State::Unserved
        }
    }

    /// Notes how a client is now.
    pub(super) fn note_client(&mut self, process: usize) {
        if self.clients[process].host.is_some() || !self.judges_failover() {
            return;
        }
        let (state, now, by) = (self.state(process), self.now, self.clients[process].site);
        let starts = Wait { since: now, ..Wait::default() };
        let wait = self.failover.waits.entry(process).or_insert(starts);
        match state {
            State::Excused => *wait = Wait { since: now, ..Wait::default() },
            State::Served => {
                let from = *wait.served_from.get_or_insert(now);
                *wait = Wait { since: now, served_from: Some(from), served_for: now - from, by };
            }
            State::Unserved => wait.served_from = None,
        }
    }

    /// Notes that a site has changed.
    pub(super) fn note_unsound(&mut self, place: usize) {
        self.failover.unsound.insert(place, self.now);
    }

    /// Notes a step of a site: `was_sound` says how it was before.
    pub(super) fn note_step(&mut self, place: usize, was_sound: bool) {
        if !was_sound || !self.is_sound(place) {
            self.note_unsound(place);
        }
    }

    /// Packets between these are stopped or lost until then.
    pub(super) fn note_cut(&mut self, a: usize, b: usize, until: u64) {
        if let Some(process) = self.process_at(a.max(b)) {
            let end = self.failover.cut.entry((process, a.min(b))).or_default();
            *end = until.max(*end);
        }
    }

    /// A packet takes this long, because packets are slow.
    pub(super) fn note_slow(&mut self, delay: u64) {
        self.failover.slow = self.failover.slow.max(self.now + delay);
    }

    /// Whether the client process of a slot has been started.
    fn process_of(&self, place: usize) -> Option<usize> {
        let process = self.slots[place].process;
        (process < self.clients.len()).then_some(process)
    }

    /// Judges all clients.
    pub(super) fn on_judge(&mut self) {
        for place in 0..self.nodes.len() {
            self.nodes[place].is_catching_up &= self.nodes[place].drive.is_busy();
            self.note_step(place, true);
        }
        for place in 0..self.slots.len() {
            if let Some(process) = self.process_of(place) {
                self.note_client(process);
                self.judge(process);
            }
        }
        self.plan_in(self.lease / JUDGED, Due::Judge);
    }

    fn judge(&mut self, process: usize) {
        let Some(&wait) = self.failover.waits.get(&process) else { return };
        let since = wait.since.max(self.failover.slow);
        let unserved = self.now.saturating_sub(since);
        let lease = self.longest_lease();
        let slack = self.slack();
        let sound_since: Vec<u64> =
            (0..self.nodes.len()).map(|site| self.sound_since(process, site)).collect();
        let all = sound_since.len();
        let others = (0..all).filter(|&site| site != wait.by);
        let others_sound = others.map(|site| sound_since[site]).all(|sound| sound < since);
        let first = property::first_bound(lease, slack);
        let name = self.clients[process].name;
        if others_sound && wait.served_for > lease && since == wait.since && unserved > first {
            return self.monitor.on_client_unserved(name, unserved / MS, 1);
        }
        for bad in 1..all {
            let bound = property::bound(lease, bad, slack);
            let begin = self.now.saturating_sub(bound);
            let failed = sound_since.iter().filter(|&&sound| sound >= begin).count();
            if unserved > bound && failed <= bad && begin > 0 {
                return self.monitor.on_client_unserved(name, unserved / MS, bad);
            }
        }
    }

    /// Since when a site could serve a client.
    fn sound_since(&mut self, process: usize, site: usize) -> u64 {
        let endpoint = self.endpoint(process);
        if !self.is_sound(site) || !self.is_open_between(site, endpoint) {
            return self.now;
        }
        let unsound = self.failover.unsound.get(&site).copied().unwrap_or_default();
        let cut = self.failover.cut.get(&(process, site)).copied().unwrap_or_default();
        unsound.max(cut)
    }

    /// The longest lease of any site, by the slowest clock.
    fn longest_lease(&self) -> u64 {
        let leases = self.parameters.leases.iter().map(|&lease| nanos(lease));
        let lease = leases.max().expect("there is one for each site");
        lease + lease / 1_000_000 * u64::from(self.plan.skew)
    }

    /// How long the packets, writes and timers of one attempt may take together.
    fn slack(&self) -> u64 {
        let parameters = &self.parameters;
        // A packet or a write seldom takes more than this many times its typical time.
        let (packets, writes, timers) = (4 * 10, 2 * 10, 4);
        packets * parameters.delay
            + writes * parameters.write
            + timers * parameters.lateness
            + self.lease / JUDGED
            + 10 * MS
    }
}

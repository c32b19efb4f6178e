//! A run in progress: the events that are due, and their order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::session::Window;
use quorate_session::{CallId, Name};
use quorate_site::Config;

use super::callers::{Call, Queue};
use super::claim_kind::ClaimParameters;
use super::clients::{self, Client, ClientSlot, Placement};
use super::event::{Event, Observer};
use super::failover::Failover;
use super::faults::{self, Fault, Faults, Scope};
use super::node::Node;
use super::property::Monitor;
use super::storage::Storage;
use super::tally::Tally;
use super::wire::Wire;
use super::{Load, Outcome, Plan};
use crate::chance::Chance;

/// A millisecond, in nanoseconds.
pub(super) const MS: u64 = 1_000_000;

/// An event that is due at some time. Sites, client processes and resources are list indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// A site's deadline, in this incarnation.
    Wake(usize, u64),
    /// A client's deadline.
    WakeClient(usize),
    /// The arrival of the packet with this number, from, to.
    Arrive(usize, usize, u64),
    /// The connection of this generation comes up, or goes down, at the first endpoint.
    Up(usize, usize, u64),
    Down(usize, usize, u64),
    /// Two sites connect, or a client its site.
    Connect(usize, usize),
    /// The attempt of this number; an earlier one is void.
    Dial(usize, u64),
    /// A connection is given up, if no packets get through.
    TimeOut(usize, usize),
    /// The first write of a site's disk is done, in this incarnation.
    Written(usize, u64),
    /// The caller with this number makes a claim.
    Claim(usize),
    GiveUp(CallId),
    /// The deadline of a caller has passed, and its process had the time to notice.
    WaitOver(CallId),
    Write(CallId),
    LateWrite(CallId),
    Leave(CallId),
    /// A caller whose grant is lost notifies its process that it has stopped.
    Drop(CallId),
    /// A caller sets an earlier signal for the loss of its grant.
    Margin(CallId),
    Break,
    /// The fault with this number in the list.
    Fault(usize),
    /// The end of a partition, of slow packets, of a pause, of a crash, of a slow disk.
    Unblock(usize),
    QuickPackets,
    Resume(usize),
    Restart(usize),
    /// A copy of a site stops.
    StopCopy(usize, u64),
    QuickDisk(usize),
    /// A client resumes, or has stopped; another process replaces it.
    ResumeClient(usize),
    EndClient(usize),
    StartClient(usize),
    /// All faults end but those of sites that are down, and callers make no more claims.
    Settle,
    /// Checks whether anybody waits who need not.
    Inspect,
    /// Judges whether clients are served.
    Judge,
}

/// The values that a seed draws once for a whole run.
#[derive(Clone, Debug)]
pub(super) struct RunParameters {
    /// The typical delays of packets and of writes to disk.
    pub(super) delay: u64,
    pub(super) write: u64,
    /// The largest delay of a timer.
    pub(super) lateness: u64,
    /// How long callers stay inside, and away.
    pub(super) hold: u64,
    pub(super) think: u64,
    pub(super) fence_block: u64,
    pub(super) local_turns: u32,
    pub(super) claims_per_step: usize,
    pub(super) locks_per_step: usize,
    /// How much of a stream may be unacknowledged.
    pub(super) window: Window,
    /// What the locks are like.
    pub(super) claims: ClaimParameters,
    /// The leases that incarnations of sites grant, one of these each.
    pub(super) leases: Vec<Duration>,
}

/// A run in progress.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) watch: &'a mut dyn Observer,
    pub(super) chance: Chance,
    pub(super) parameters: RunParameters,
    pub(super) now: u64,
    /// The length of a lease.
    pub(super) lease: u64,
    /// The scheduled events by time; at equal times in the order of scheduling.
    agenda: BinaryHeap<Reverse<(u64, u64, Due)>>,
    planned: u64,
    pub(super) nodes: Vec<Node>,
    /// Client processes, in the order they started.
    pub(super) clients: Vec<Client>,
    /// The slots of client processes, the remote ones first.
    pub(super) slots: Vec<ClientSlot>,
    /// The slot of each caller, an index in that list.
    pub(super) slot_of: Vec<usize>,
    pub(super) wire: Wire,
    pub(super) names: Vec<Name>,
    pub(super) calls: Vec<Call>,
    pub(super) queues: Vec<Queue>,
    /// The storage that each unit of a resource guards.
    pub(super) stores: BTreeMap<(usize, u32), Storage>,
    pub(super) monitor: Monitor,
    pub(super) failover: Failover,
    pub(super) tally: Tally,
    pub(super) faults: Vec<(u64, Fault)>,
    /// The pairs that each partition separates; none once it is over.
    pub(super) partitions: Vec<Vec<(usize, usize)>>,
    /// How many faults make packets slow.
    pub(super) slow_packets: u32,
    /// When callers stopped making claims and faults happening, and when sites that were down
    /// started too.
    pub(super) settled_at: Option<u64>,
    pub(super) healed_at: Option<u64>,
    /// When a site last started or stopped.
    pub(super) changed_at: u64,
    /// How many sites were started.
    pub(super) starts: u64,
    /// How many places of folders there have been.
    pub(super) places: u64,
    /// How many checks in a row have found no claim.
    pub(super) quiet: u32,
    pub(super) over: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(plan: &'a Plan, seed: u64, watch: &'a mut dyn Observer) -> Self {
        let mut chance = Chance::new(seed);
        let n = plan.quorums.n();
        let lease = nanos(plan.lease);
        let lasts = nanos(plan.lasts);
        let mut parameters = draw_parameters(plan, &mut chance);
        parameters.locks_per_step = draw_locks_per_step(plan, seed);
        let (slots, slot_of) = clients::draw_placements(plan, &mut chance);
        let remote = |slot: &&ClientSlot| matches!(slot.placement, Placement::Remote(_));
        let clients = slots.iter().filter(remote).count();
        let spare = if plan.faults == Faults::Minority { plan.quorums.resilience() } else { Ok(0) };
        let spare = spare.expect("a cluster to simulate is small");
        let scope = Scope { sites: n, spare, clients, lease, lasts };
        let mut faults = faults::draw(plan.faults, scope, &mut chance);
        faults.extend(plan.listed.iter().cloned());
        let mut nodes: Vec<Node> =
            SiteId::all(n).map(|site| Node::new(plan, site, &mut chance)).collect();
        let copies = |(_, fault): &(u64, Fault)| matches!(fault, Fault::Copy { .. });
        if plan.faults == Faults::Disks || plan.listed.iter().any(copies) {
            nodes.push(Node::for_copies(plan, &mut chance));
        }
        let names = if let Load::Drawn { names, .. } = plan.load { names.max(1) } else { 1 };
        let name = |place| format!("lock-{}", place + 1).parse::<Name>();
        Self {
            plan,
            watch,
            chance,
            parameters,
            now: 0,
            lease,
            agenda: BinaryHeap::new(),
            planned: 0,
            clients: Vec::new(),
            slots,
            slot_of,
            wire: Wire::new(nodes.len()),
            nodes,
            names: (0..names).map(|place| name(place).expect("it is short")).collect(),
            calls: Vec::new(),
            queues: vec![Queue::default(); names],
            stores: BTreeMap::new(),
            monitor: Monitor::new(names, plan),
            failover: Failover::default(),
            tally: Tally::default(),
            faults,
            partitions: Vec::new(),
            slow_packets: 0,
            settled_at: None,
            healed_at: None,
            changed_at: 0,
            starts: 0,
            places: 0,
            quiet: 0,
            over: false,
        }
    }

    /// Starts all sites, connects them, and schedules the events that are known at the start.
    pub(super) fn begin(&mut self) {
        let n = self.plan.quorums.n();
        for site in 0..n {
            self.start(site);
            for peer in site + 1..n {
                self.wire.link(site, peer).connecting = true;
                self.plan_in(0, Due::Connect(site, peer));
            }
        }
        for place in 0..self.slots.len() {
            if matches!(self.slots[place].placement, Placement::Remote(_)) {
                self.start_client(place);
            }
        }
        for place in 0..self.faults.len() {
            self.plan_at(self.faults[place].0, Due::Fault(place));
        }
        let waiters = self.plan.load == Load::HolderAndWaiters; // they come after the holder
        for caller in 0..if waiters { 1 } else { self.slot_of.len() } {
            let wait = self.chance.about(self.parameters.think);
            self.plan_in(wait, Due::Claim(caller));
        }
        if matches!(self.plan.load, Load::Drawn { .. }) {
            self.plan_in(self.lease, Due::Break);
        }
        self.plan_at(nanos(self.plan.lasts), Due::Settle);
        self.begin_failover();
    }

    pub(super) fn outcome(self) -> Outcome {
        let tally = Tally { elapsed_ns: self.now, ..self.tally };
        Outcome { tally, breach: self.monitor.breach().cloned() }
    }

    pub(super) fn plan_at(&mut self, at: u64, due: Due) {
        self.planned += 1;
        self.agenda.push(Reverse((at.max(self.now), self.planned, due)));
    }

    pub(super) fn plan_in(&mut self, time: u64, due: Due) {
        self.plan_at(self.now + time, due);
    }

    pub(super) fn see(&mut self, event: &Event<'_>) {
        self.watch.see(self.now, event);
    }

    /// Handles the next event; false if the run is over.
    pub(super) fn happen(&mut self) -> bool {
        if self.over || self.monitor.breach().is_some() {
            return false;
        }
        let Some(Reverse((at, _, due))) = self.agenda.pop() else { return false };
        self.now = at;
        match due {
            Due::Wake(site, life) => self.on_wake(site, life),
            Due::WakeClient(process) => self.on_wake_client(process),
            Due::Arrive(from, to, serial) => self.on_arrive(from, to, serial),
            Due::Up(at, peer, generation) => self.on_up(at, peer, generation),
            Due::Down(at, peer, generation) => self.on_down(at, peer, generation),
            Due::Connect(a, b) => self.on_connect(a, b),
            Due::Dial(process, attempt) => self.on_dial(process, attempt),
            Due::TimeOut(a, b) => self.on_time_out(a, b),
            Due::Written(site, life) => self.on_written(site, life),
            Due::Claim(caller) => self.on_claim(caller),
            Due::GiveUp(call) => self.on_give_up(call),
            Due::WaitOver(call) => self.on_wait_over(call),
            Due::Write(call) => self.on_write(call),
            Due::LateWrite(call) => self.on_late_write(call),
            Due::Leave(call) => self.on_leave(call),
            Due::Drop(call) => self.on_drop(call),
            Due::Margin(call) => self.on_margin(call),
            Due::Break => self.on_break(),
            Due::Fault(place) => self.on_fault(place),
            Due::Unblock(place) => self.unblock(place),
            Due::QuickPackets => self.slow_packets = self.slow_packets.saturating_sub(1),
            Due::Resume(site) => self.resume(site),
            Due::Restart(site) => self.restart(site),
            Due::StopCopy(place, life) => self.stop_copy(place, life),
            Due::QuickDisk(site) => self.nodes[site].end_slow_disk(),
            Due::ResumeClient(process) => self.resume_client(process),
            Due::EndClient(process) => self.end_client(process),
            Due::StartClient(client) => self.restart_client(client),
            Due::Settle => self.settle(),
            Due::Inspect => self.inspect(),
            Due::Judge => self.on_judge(),
        }
        true
    }
}

pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("runs are short")
}

/// With faults, most windows are so small that they are often full.
fn draw_window(plan: &Plan, chance: &mut Chance) -> Window {
    match plan.window {
        Some(most) => Window::of_frames(1 + chance.place(most.max(1))),
        None if plan.faults == Faults::None => Window::DEFAULT,
        None => *chance.pick(&[
            Window::DEFAULT,
            Window::of_frames(80),
            Window::of_frames(12),
            Window::of_frames(4),
            Window::of_frames(2),
            Window::of_frames(1),
        ]),
    }
}

/// With faults, a step tells so few locks in most runs that half of a table often knows more than
/// the other. Drawn apart from the rest, so that a plan can choose it and the rest stays the same.
fn draw_locks_per_step(plan: &Plan, seed: u64) -> usize {
    let drawn = Chance::new(!seed).one_of(&[1, 1, 2, Config::LOCKS_PER_STEP as u64]);
    match plan.locks_per_step {
        Some(locks) => locks,
        None if plan.faults == Faults::None => Config::LOCKS_PER_STEP,
        None => usize::try_from(drawn).unwrap_or(Config::LOCKS_PER_STEP),
    }
}

fn draw_parameters(plan: &Plan, chance: &mut Chance) -> RunParameters {
    let calm = matches!(plan.faults, Faults::None | Faults::Minority);
    let lease = nanos(plan.lease);
    let mut leases = vec![plan.lease];
    if !calm && chance.percent(20) {
        leases.extend([plan.lease / 2, plan.lease * 2]);
    }
    RunParameters {
        delay: chance.one_of(&[MS / 5, 2 * MS, 2 * MS, 20 * MS]),
        write: chance.one_of(&[MS / 5, 3 * MS, 15 * MS]),
        lateness: chance.one_of(&[1, MS, MS, 20 * MS]),
        hold: if plan.faults == Faults::Minority {
            lease * chance.one_of(&[1, 2, 4])
        } else {
            lease / chance.one_of(&[100, 50, 20, 4])
        },
        think: lease / chance.one_of(&[20, 5, 2]),
        fence_block: {
            let drawn = chance.one_of(&[4, 64, 1 << 20]);
            plan.fence_block.unwrap_or(drawn)
        },
        local_turns: chance.one_of(&[1, 2, 8]),
        claims_per_step: if calm { Config::CLAIMS_PER_STEP } else { chance.one_of(&[16, 2, 1]) },
        locks_per_step: Config::LOCKS_PER_STEP, // drawn apart
        window: draw_window(plan, chance),
        claims: plan.claims.draw_parameters(chance),
        leases,
    }
}

//! One site and its driver: its clock, its disk, and its effects, carried out in order.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use quorate_protocol::{Fence, Tick};
use quorate_quorum::SiteId;
use quorate_session::session::Lease;
use quorate_site::client_gateway::{GatewayEffect, GatewayInput, SiteWithClients};
use quorate_site::{Config, Effect, Input, Kept, Past, Start};

use super::clock::Clock;
use super::disk::{Drive, Need, Record};
use super::disk_faults::Harm;
use super::event::{AnyPacket, Event};
use super::faults::Faults;
use super::run::{Due, Run};
use super::{Forgets, Plan};
use crate::chance::Chance;

/// So few that records are folded often.
const UNUSED_RECORDS: usize = 1;

/// One site and its driver.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: SiteId,
    pub(super) clock: Clock,
    /// `None` while it is down.
    pub(super) site: Option<SiteWithClients>,
    /// The ordinal of the site's incarnation, from 1.
    pub(super) life: u64,
    pub(super) paused: bool,
    pub(super) slow_disk: bool,
    /// Whether writes are left from a time when the disk was slow.
    pub(super) is_catching_up: bool,
    /// After what time it starts again, if it was told to stop.
    pub(super) starts_after: Option<u64>,
    /// The inputs it missed while it was paused, with the generation of a connection that came up
    /// or on which a client's packet arrived.
    pub(super) inbox: VecDeque<(GatewayInput, u64)>,
    /// Effects that wait for the disk; a packet with the generation of its connection.
    pub(super) outbox: VecDeque<(GatewayEffect, u64)>,
    /// The generations of the connections that the site was told are up, by endpoint.
    known: BTreeMap<usize, u64>,
    pub(super) drive: Drive,
    pub(super) harm: Harm,
    /// The time at which the site asked to be woken, and the one for which an event is scheduled.
    asked: Option<Tick>,
    planned: Option<Tick>,
}

impl Node {
    pub(super) fn new(plan: &Plan, id: SiteId, chance: &mut Chance) -> Self {
        Self {
            id,
            clock: Clock::draw(0, plan.skew, chance),
            site: None,
            life: 0,
            paused: false,
            slow_disk: false,
            is_catching_up: false,
            starts_after: None,
            inbox: VecDeque::new(),
            outbox: VecDeque::new(),
            known: BTreeMap::new(),
            drive: Drive::default(),
            harm: Harm::None,
            asked: None,
            planned: None,
        }
    }

    /// The disk is not slow any more.
    pub(super) fn end_slow_disk(&mut self) {
        self.is_catching_up |= self.slow_disk && self.drive.is_busy();
        self.slow_disk = false;
    }

    /// Clears all that was in memory.
    pub(super) fn forget(&mut self) {
        self.starts_after = None;
        self.site = None;
        self.life += 1;
        self.paused = false;
        self.inbox.clear();
        self.outbox.clear();
        self.known.clear();
        self.asked = None;
        self.planned = None;
    }

    /// The contents of the disk, as read at a start.
    fn read_disk(&self, forgets: Option<Forgets>) -> Past {
        let mut past = self.drive.synced.clone();
        let disk = &mut past.disk;
        match forgets {
            None => {}
            Some(Forgets::Ceil) => disk.ceil = Fence::default(),
            Some(Forgets::LeaseMax) => disk.sessions.lease_max = std::time::Duration::ZERO,
            Some(Forgets::Clock) => disk.clock = 0,
            Some(Forgets::Folded) => past.folded = Kept::default(),
            Some(Forgets::All) => past = Past::default(),
        }
        past
    }
}

impl Run<'_> {
    /// Starts an incarnation of a site with the contents of its disk.
    pub(super) fn start(&mut self, place: usize) {
        let lease = *self.chance.pick(&self.parameters.leases);
        let node = &mut self.nodes[place];
        let mut config = Config::new(node.id, Arc::clone(&self.plan.quorums));
        config.terms.lease = Lease::new(lease).expect("the plan's lease is in range");
        config.terms = config.terms.with_window(self.parameters.window);
        if let Some(rule) = self.plan.undone {
            config.terms = config.terms.without(rule);
        }
        config.fence_block = self.parameters.fence_block;
        config.local_turns = self.parameters.local_turns;
        config.claims_per_step = self.parameters.claims_per_step;
        config.unused_records = UNUSED_RECORDS;
        config.locks_per_step = self.parameters.locks_per_step;
        config.settings = self.plan.settings;
        let now = node.clock.read(self.now);
        let past = node.read_disk(self.plan.forgets);
        let (id, life, lies) = (node.id, node.life, node.drive.place);
        self.starts += 1;
        let (birth, nonce) = (u128::from(self.starts), self.starts);
        let start = Start { cluster: String::new(), birth, nonce, place: lies, new_place: lies };
        let started =
            catch_unwind(AssertUnwindSafe(|| SiteWithClients::start(now, config, past, &start)));
        self.see(&Event::Starts(id, life, now));
        self.note_unsound(place);
        match started {
            Ok(Err(error)) => return self.see(&Event::CannotStart(id, &error)),
            Ok(Ok((site, effects))) => {
                self.nodes[place].site = Some(site);
                self.take_effects(place, effects);
            }
            Err(panic) => return self.monitor.on_panic(&id, panic_message(panic.as_ref())),
        }
        if let Some(client) = self.embedded(place) {
            self.start_client(client);
        }
    }

    /// Feeds an input to a site; a paused site gets it later.
    pub(super) fn feed(&mut self, place: usize, input: GatewayInput, generation: u64) {
        let node = &mut self.nodes[place];
        if node.site.is_none() {
            return;
        }
        if node.paused {
            return node.inbox.push_back((input, generation));
        }
        self.step(place, input, generation);
    }

    pub(super) fn step(&mut self, place: usize, input: GatewayInput, generation: u64) {
        self.note_connection(place, &input, generation);
        let was_sound = self.is_sound(place);
        let node = &mut self.nodes[place];
        let Some(site) = &mut node.site else { return };
        let now = node.clock.read(self.now);
        match catch_unwind(AssertUnwindSafe(|| site.step(now, input))) {
            Ok(effects) => self.take_effects(place, effects),
            Err(panic) => {
                let id = node.id;
                self.monitor.on_panic(&id, panic_message(panic.as_ref()));
            }
        }
        self.note_step(place, was_sound);
    }

    /// Records the connection on which the site's packets go out.
    fn note_connection(&mut self, place: usize, input: &GatewayInput, generation: u64) {
        let (endpoint, generation) = match input {
            GatewayInput::Site(Input::Up(peer)) => (peer.index(), generation),
            GatewayInput::Site(Input::Down(peer)) => (peer.index(), 0),
            GatewayInput::Up(id) | GatewayInput::Client(id, _) => {
                (self.endpoint_of(*id), generation)
            }
            GatewayInput::Down(id) => (self.endpoint_of(*id), 0),
            GatewayInput::Site(_) => return,
        };
        self.nodes[place].known.insert(endpoint, generation);
    }

    /// Carries out effects, or keeps them until the disk is done. Timers do not wait for the disk.
    fn take_effects(&mut self, place: usize, effects: Vec<GatewayEffect>) {
        for effect in effects {
            let to = match &effect {
                GatewayEffect::Site(Effect::Packet(to, _) | Effect::Refuse(to, _)) => {
                    Some(to.index())
                }
                GatewayEffect::Client(id, _) => Some(self.endpoint_of(*id)),
                GatewayEffect::Site(_) => None,
            };
            let node = &mut self.nodes[place];
            if let GatewayEffect::Site(Effect::Wake(tick)) = effect {
                node.asked = Some(tick);
            } else {
                let generation = to.and_then(|to| node.known.get(&to).copied());
                node.outbox.push_back((effect, generation.unwrap_or(0)));
            }
        }
        self.drain(place);
        self.plan_wake(place);
    }

    fn plan_wake(&mut self, place: usize) {
        let node = &mut self.nodes[place];
        let Some(deadline) = node.site.as_ref().and_then(SiteWithClients::deadline) else { return };
        if node.asked != Some(deadline) {
            let id = node.id;
            return self.monitor.on_deaf(id);
        }
        if node.planned != Some(deadline) {
            node.planned = Some(deadline);
            let (at, life) = (node.clock.when(deadline), node.life);
            let late = self.chance.below(self.parameters.lateness);
            self.plan_at(at.saturating_add(late), Due::Wake(place, life));
        }
    }

    pub(super) fn on_wake(&mut self, place: usize, life: u64) {
        let node = &mut self.nodes[place];
        if node.life != life || node.paused {
            return;
        }
        let now = node.clock.read(self.now);
        let due = node.site.as_ref().and_then(SiteWithClients::deadline);
        if due.is_some_and(|due| due <= now) {
            node.planned = None;
            self.step(place, GatewayInput::Site(Input::Time), 0);
        }
    }

    /// Carries out an effect that does not have to wait for the disk.
    pub(super) fn drain(&mut self, place: usize) {
        loop {
            let node = &mut self.nodes[place];
            if node.paused || node.drive.is_barred() || self.monitor.breach().is_some() {
                return;
            }
            let Some((effect, generation)) = node.outbox.pop_front() else { return };
            self.carry_out(place, effect, generation);
        }
    }

    fn carry_out(&mut self, place: usize, effect: GatewayEffect, generation: u64) {
        let effect = match effect {
            GatewayEffect::Client(id, packet) => {
                let to = self.endpoint_of(id);
                return self.send(place, to, AnyPacket::Client(packet), generation);
            }
            GatewayEffect::Site(effect) => effect,
        };
        match effect {
            Effect::Packet(_, packet) => {
                if let Some(to) = self.wire.other_end(place, generation) {
                    self.send(place, to, AnyPacket::Site(packet), generation);
                }
            }
            Effect::Refuse(about, why) => {
                let id = self.nodes[place].id;
                self.see(&Event::Refuses(id, about, why));
                self.tally.refused += 1;
                self.refuse_connection(place, generation);
            }
            Effect::Persist(disk) => {
                self.write_disk(place, Record::Site(Box::new(disk)), Need::Barrier);
            }
            Effect::Save(disk) => {
                self.write_disk(place, Record::Site(Box::new(disk)), Need::Early);
            }
            Effect::Joined => {
                let id = self.nodes[place].id;
                self.see(&Event::Joins(id));
            }
            Effect::Keep(name, durable) => {
                self.write_disk(place, Record::Token(name, durable), Need::Barrier);
            }
            Effect::Fold(folded, names) => {
                self.tally.folded += names.len() as u64;
                self.write_disk(place, Record::Fold(folded, names), Need::Barrier);
            }
            Effect::Regenerated(name, what) => {
                self.tally.regenerated += u64::from(what.before.0 > 0);
                let id = self.nodes[place].id;
                self.see(&Event::Regenerates(id, &name, &what));
            }
            Effect::Note(about, what) => {
                let id = self.nodes[place].id;
                self.see(&Event::Notes(id, about, what));
                self.monitor.on_note(id, about, what);
            }
            Effect::Violation(about, why) => {
                let id = self.nodes[place].id;
                self.see(&Event::Violation(id, about, why));
                self.monitor.on_note(id, about, &format!("it broke the contract: {why}"));
            }
            Effect::Drained => self.on_drained(place),
            Effect::Wake(_) | Effect::Audit(_) | Effect::RefusedBy(..) => {}
            _ => unreachable!("the rest is for callers, and these are all clients"),
        }
    }

    fn write_disk(&mut self, place: usize, record: Record, need: Need) {
        self.tally.disk_writes += 1;
        if self.nodes[place].drive.write(record, need) {
            self.plan_write(place);
        }
    }

    fn plan_write(&mut self, place: usize) {
        let mut time = self.chance.about(self.parameters.write);
        if self.nodes[place].slow_disk {
            time += self.chance.below(2 * self.lease);
        }
        self.plan_in(time, Due::Written(place, self.nodes[place].life));
    }

    pub(super) fn on_written(&mut self, place: usize, life: u64) {
        let node = &mut self.nodes[place];
        if node.life != life {
            return;
        }
        let (record, need) = node.drive.done();
        let (id, busy) = (node.id, node.drive.is_busy());
        self.see(&Event::Written(id));
        if self.plan.faults == Faults::Disks && self.chance.percent(5) {
            let drive = &mut self.nodes[place].drive;
            drive.copies.push(drive.synced.clone());
        }
        if busy {
            self.plan_write(place);
        }
        match (need, record) {
            (Need::Early, Record::Site(disk)) => {
                self.feed(place, GatewayInput::Site(Input::Saved(*disk)), 0);
            }
            _ => self.drain(place),
        }
    }
}

pub(super) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why")
}

//! What must be on disk before a later effect, and what is written ahead so that nothing waits.
//!
//! Writes have numbers. A raised ceiling is used, and a record of a lock is relied on, when a
//! majority of the sites has registered the number (`identity/writes.rs`).

use std::collections::VecDeque;

use quorate_protocol::{Fence, Record};
use quorate_session::Name;
use quorate_session::session::Durable;

use super::site_core::SiteCore;
use crate::disk::{CLOCK_BLOCK, CLOCK_MARGIN, Disk, Kept};
use crate::effect::Effect;
use crate::identity::Identity;

/// So many blocks of fences are written ahead. A crash of a site takes one, and each further one
/// while a slow disk writes takes another.
const BLOCKS_AHEAD: u64 = 16;

/// The ceilings of a site, and its writes.
#[derive(Clone, Debug)]
pub(super) struct DiskState {
    /// What the sessions keep on disk.
    sessions: Durable,
    /// What may be used: it is on disk, or will be before any later effect, and registered.
    pub(super) safe: Ceilings,
    /// The highest ceilings that the driver was asked to write.
    asked: Ceilings,
    /// The raised ceilings that may not be used yet, with the numbers of their writes.
    raised: VecDeque<(u64, Ceilings)>,
}

/// The ceilings of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ceilings {
    /// No ticket of this site has a later Lamport time.
    pub(super) clock: u64,
    /// All fences that this site has used lie below this one.
    pub(super) ceil: Fence,
}

impl DiskState {
    pub(super) fn new(disk: &Disk) -> Self {
        let ceilings = Ceilings { clock: disk.clock, ceil: disk.ceil };
        Self { sessions: disk.sessions, safe: ceilings, asked: ceilings, raised: VecDeque::new() }
    }
}

impl SiteCore {
    /// The first write after a start: all ceilings lie above what earlier lives may have used. It
    /// includes the site's own lease, because callers may rely on it though no peer was promised
    /// one: a cluster of one site has no peers.
    ///
    /// It has no number: the ceilings are used when the life has begun, and a disk from before this
    /// start is recognised by the life. A site whose life has not begun makes no numbered write.
    /// Otherwise one with an older disk would catch up with the number that the others know.
    pub(super) fn persist_start(&mut self) {
        let sessions = &mut self.disk.sessions;
        sessions.incarnation = self.sessions.incarnation();
        sessions.lease_max = sessions.lease_max.max(self.config.terms.lease.length());
        self.disk.asked.clock = plus(self.disk.asked.clock, CLOCK_BLOCK);
        self.disk.asked.ceil = self.ahead_of(self.shared.ceil(), BLOCKS_AHEAD);
        self.disk.safe = self.disk.asked;
        self.persist_record();
    }

    pub(super) fn persist_sessions(&mut self, durable: Durable) {
        self.disk.sessions = durable;
        self.persist_record();
    }

    /// Writes what a protocol needs on disk. Usually it was written ahead.
    pub(super) fn persist(&mut self, name: &Name, record: Record) {
        match record {
            Record::FenceCeil(ceil) if ceil > self.disk.safe.ceil => {
                let ahead = self.ahead_of(ceil, BLOCKS_AHEAD);
                self.disk.asked.ceil = ahead.max(self.disk.asked.ceil);
                self.raise_now();
            }
            Record::FenceCeil(_) => {}
            Record::Token(record) => {
                let write = self.identity.next_write();
                let kept = Kept { write, record };
                self.tokens.insert(name.clone(), kept.clone());
                self.out.push(Effect::Keep(name.clone(), kept));
                self.identity.note_persisted();
                self.drive_identity(Identity::announce);
                self.held.hold(write, self.out.len());
            }
        }
    }

    /// Raises the Lamport ceiling before a ticket above it leaves the site.
    pub(super) fn raise_clock_ceiling(&mut self) {
        let time = self.shared.clock.time();
        if time > self.disk.safe.clock {
            self.disk.asked.clock = self.disk.asked.clock.max(plus(time, CLOCK_BLOCK));
            self.raise_now();
        }
    }

    /// Writes ceilings that will be needed soon, so that a busy lock waits neither for the disk nor
    /// for other sites.
    pub(super) fn save_ahead(&mut self) {
        if !self.identity.has_begun() {
            return;
        }
        let mut ahead = self.disk.asked;
        let time = self.shared.clock.time();
        if plus(time, CLOCK_MARGIN) > ahead.clock {
            ahead.clock = plus(time, CLOCK_BLOCK);
        }
        if self.ahead_of(self.shared.ceil(), BLOCKS_AHEAD / 2) > ahead.ceil {
            ahead.ceil = self.ahead_of(self.shared.ceil(), BLOCKS_AHEAD);
        }
        if ahead != self.disk.asked {
            self.disk.asked = ahead;
            let number = self.identity.next_write();
            self.disk.raised.push_back((number, ahead));
            self.save_record();
        }
    }

    /// The ceiling so many blocks above this one.
    fn ahead_of(&self, ceil: Fence, blocks: u64) -> Fence {
        ceil.plus(blocks.saturating_mul(self.config.fence_block))
    }

    /// A record is on disk.
    pub(super) fn on_saved(&mut self, disk: &Disk) {
        self.drive_identity(|identity, out| identity.on_saved(&disk.identity, out));
    }

    /// Allows the use of raised ceilings whose writes are registered.
    pub(super) fn use_registered(&mut self) {
        let registered = self.identity.registered_writes();
        while let Some((_, raised)) = self.disk.raised.pop_front_if(|(n, _)| *n <= registered) {
            let safe = &mut self.disk.safe;
            (safe.clock, safe.ceil) = (safe.clock.max(raised.clock), safe.ceil.max(raised.ceil));
        }
    }

    /// Writes the record before any later effect.
    pub(super) fn persist_record(&mut self) {
        let before = self.identity.writes_on_disk();
        self.identity.note_persisted();
        let record = self.record();
        self.out.push(Effect::Persist(record));
        if self.identity.writes_on_disk() > before {
            self.drive_identity(Identity::announce);
        }
    }

    /// Writes the record when there is time.
    pub(super) fn save_record(&mut self) {
        let record = self.record();
        self.out.push(Effect::Save(record));
    }

    /// The ceilings asked for are used at once: all later effects wait until they are on disk, and
    /// registered.
    fn raise_now(&mut self) {
        self.disk.safe = self.disk.asked;
        self.disk.raised.clear();
        let number = self.identity.next_write();
        self.persist_record();
        self.held.hold(number, self.out.len());
    }

    /// The record of the site. Nothing in it is below a record that was asked for earlier.
    fn record(&self) -> Disk {
        let Ceilings { clock, ceil } = self.disk.asked;
        let identity = self.identity.record().clone();
        Disk { sessions: self.disk.sessions, clock, ceil, identity }
    }
}

/// A ceiling this far above a time.
fn plus(time: u64, block: u64) -> u64 {
    time.checked_add(block).expect("Lamport times of others stay below 2^62")
}

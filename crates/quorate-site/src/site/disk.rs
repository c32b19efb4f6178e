//! What must be on disk before a later effect, and what is written ahead so that nothing waits.

use quorate_protocol::Record;
use quorate_session::Name;
use quorate_session::session::Durable;

use super::site_core::SiteCore;
use crate::disk::{CLOCK_BLOCK, CLOCK_MARGIN, Disk};
use crate::effect::Effect;

impl SiteCore {
    /// The first write after a start: all ceilings lie above what earlier lives may have used. It
    /// includes the site's own lease, because callers may rely on it though no peer was promised
    /// one: a cluster of one site has no peers.
    pub(super) fn persist_start(&mut self) {
        let sessions = &mut self.safe.sessions;
        sessions.incarnation = self.sessions.incarnation();
        sessions.lease_max = sessions.lease_max.max(self.config.terms.lease.length());
        self.safe.clock += CLOCK_BLOCK;
        self.safe.ceil = self.shared.ceil().plus(self.config.fence_block);
        self.write_safe();
    }

    pub(super) fn persist_sessions(&mut self, durable: Durable) {
        self.safe.sessions = durable;
        self.write_safe();
    }

    /// Writes what a protocol needs on disk. Usually it was written ahead.
    pub(super) fn persist(&mut self, name: &Name, record: Record) {
        match record {
            Record::FenceCeil(ceil) if ceil > self.safe.ceil => {
                self.safe.ceil = ceil.plus(self.config.fence_block);
                self.write_safe();
            }
            Record::FenceCeil(_) => {}
            Record::Token(record) => {
                self.tokens.insert(name.clone(), record.clone());
                self.out.push(Effect::Keep(name.clone(), record));
            }
        }
    }

    /// Raises the Lamport ceiling before a ticket above it leaves the site.
    pub(super) fn raise_clock_ceiling(&mut self) {
        let time = self.shared.clock.time();
        if time > self.safe.clock {
            self.safe.clock = time + CLOCK_BLOCK;
            self.write_safe();
        }
    }

    /// Writes ceilings that will be needed soon, so that a busy lock never waits for the disk.
    pub(super) fn save_ahead(&mut self) {
        let mut ahead = self.asked;
        if self.shared.clock.time() + CLOCK_MARGIN > ahead.clock {
            ahead.clock = self.shared.clock.time() + CLOCK_BLOCK;
        }
        let spare = self.shared.ceil().plus(self.config.fence_block);
        if spare > ahead.ceil {
            ahead.ceil = spare.plus(self.config.fence_block);
        }
        if ahead != self.asked {
            self.asked = ahead;
            self.out.push(Effect::Save(ahead));
        }
    }

    /// A record is on disk.
    pub(super) fn on_saved(&mut self, disk: Disk) {
        self.safe.clock = self.safe.clock.max(disk.clock);
        self.safe.ceil = self.safe.ceil.max(disk.ceil);
    }

    /// Writes the record before any later effect. Nothing in it is below a record that was asked
    /// for earlier.
    fn write_safe(&mut self) {
        let record = Disk {
            sessions: self.safe.sessions,
            clock: self.safe.clock.max(self.asked.clock),
            ceil: self.safe.ceil.max(self.asked.ceil),
        };
        self.safe = record;
        self.asked = record;
        self.out.push(Effect::Persist(record));
    }
}

//! What must be on disk before something is said, and what is written early so that nothing waits.

use quorate_protocol::Record;
use quorate_session::Name;
use quorate_session::session::Durable;

use super::desk::Desk;
use crate::disk::{CLOCK_BLOCK, CLOCK_MARGIN, Disk};
use crate::effect::Effect;

impl Desk {
    /// The first write of a life: all ceilings lie above what the lives before may have used. Its
    /// callers may go by a lease that no peer was promised; a site that is alone promises nobody.
    pub(super) fn persist_birth(&mut self) {
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

    /// A protocol may not go on without this. Usually it was written long before.
    pub(super) fn persist(&mut self, name: &Name, record: Record) {
        match record {
            Record::FenceCeil(ceil) if ceil > self.safe.ceil => {
                self.safe.ceil = ceil.plus(self.config.fence_block);
                self.write_safe();
            }
            Record::FenceCeil(_) => {}
            Record::Token(durable) => {
                self.tokens.insert(name.clone(), durable.clone());
                self.out.push(Effect::Keep(name.clone(), durable));
            }
        }
    }

    /// Before a ticket above the Lamport ceiling the ceiling is raised.
    pub(super) fn secure_clock(&mut self) {
        let time = self.shared.clock.time();
        if time > self.safe.clock {
            self.safe.clock = time + CLOCK_BLOCK;
            self.write_safe();
        }
    }

    /// Has ceilings written that will be needed soon: a hot lock never waits for the disk.
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
    pub(super) fn saved(&mut self, disk: Disk) {
        self.safe.clock = self.safe.clock.max(disk.clock);
        self.safe.ceil = self.safe.ceil.max(disk.ceil);
    }

    /// Has the record written before anything else is said. It says no less than one that was
    /// asked for earlier.
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

//! Numbered writes: a raised ceiling is used only when a majority knows its number.
//!
//! So a site whose disk was set back to before a write is recognised, and cannot use what it used
//! after that write a second time.

use std::collections::BTreeMap;

use quorate_quorum::SiteId;
use quorate_session::session::Rule;

use super::{Identity, IdentityEffect, IdentityMessage, IdentityRecord, Out};

/// The numbers of a site's writes, and who knows them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Writes {
    /// The highest number on this site's own disk, or there before any later effect.
    on_disk: u64,
    /// The highest number on the disk of each peer.
    acknowledged: BTreeMap<SiteId, u64>,
    /// The numbers of peers that are to be acknowledged when they are on disk here.
    debts: BTreeMap<SiteId, u64>,
    /// Whether a write for them is under way.
    saving: bool,
}

impl Writes {
    pub(super) fn new(on_disk: u64) -> Self {
        Self { on_disk, acknowledged: BTreeMap::new(), debts: BTreeMap::new(), saving: false }
    }

    pub(super) fn on_disk(&self) -> u64 {
        self.on_disk
    }

    /// A peer has our number on disk. It cannot have one that we have not sent.
    pub(super) fn acknowledge(&mut self, peer: SiteId, number: u64) {
        let known = self.acknowledged.entry(peer).or_default();
        *known = (*known).max(number.min(self.on_disk));
    }

    pub(super) fn forget_debt(&mut self, peer: SiteId) {
        self.debts.remove(&peer);
    }
}

impl Identity {
    /// The highest write that is on the disks of a majority, this site's included.
    pub fn registered_writes(&self) -> u64 {
        if !self.terms.keep(Rule::CeilingsAreRegistered) {
            return self.writes.on_disk;
        }
        let mut numbers: Vec<u64> = self.writes.acknowledged.values().copied().collect();
        numbers.push(self.writes.on_disk);
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        numbers.get(self.n / 2).copied().unwrap_or(0)
    }

    /// The number of the next write, which is to be part of the record.
    pub fn next_write(&mut self) -> u64 {
        assert!(self.begun, "a site that takes no part numbers nothing");
        let next = self.record.writes.checked_add(1);
        self.record.writes = next.expect("a site writes fewer than 2^64 times");
        self.record.writes
    }

    /// The highest number on this site's own disk, or there before any later effect.
    pub fn writes_on_disk(&self) -> u64 {
        self.writes.on_disk
    }

    /// The record as it stands is on disk before any later effect.
    pub fn note_persisted(&mut self) {
        self.writes.on_disk = self.record.writes;
    }

    /// This record is on disk.
    pub fn on_saved(&mut self, saved: &IdentityRecord, out: &mut Out) {
        if saved.writes > self.writes.on_disk {
            self.writes.on_disk = saved.writes;
            self.announce(out);
        }
        let is_saved = |(peer, number): &(&SiteId, &u64)| {
            saved.known.get(*peer).is_some_and(|known| known.writes >= **number)
        };
        let debts = self.writes.debts.iter().filter(is_saved);
        let paid: Vec<(SiteId, u64)> = debts.map(|(peer, number)| (*peer, *number)).collect();
        for (peer, number) in paid {
            self.writes.debts.remove(&peer);
            out.push(IdentityEffect::Send(peer, IdentityMessage::Acknowledged(number)));
        }
        self.writes.saving = false;
        self.save_debts(out);
    }

    /// Writes what is to be acknowledged, with one write at a time however many peers wait.
    fn save_debts(&mut self, out: &mut Out) {
        if !self.writes.saving && !self.writes.debts.is_empty() {
            self.writes.saving = true;
            out.push(IdentityEffect::Save);
        }
    }

    /// Tells the peers that have registered us the number of our latest write on disk.
    pub fn announce(&mut self, out: &mut Out) {
        let wrote = IdentityMessage::Wrote(self.writes.on_disk);
        for (peer, _) in self.links.iter().filter(|(_, link)| link.registered) {
            out.push(IdentityEffect::Send(*peer, wrote.clone()));
        }
    }

    /// The peer has written. It learns when its number is on disk here.
    pub(super) fn on_wrote(&mut self, peer: SiteId, number: u64, out: &mut Out) {
        let Some(known) = self.record.known.get_mut(&peer) else { return };
        known.writes = known.writes.max(number);
        self.writes.debts.insert(peer, number);
        self.save_debts(out);
    }
}

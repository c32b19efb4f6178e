//! Disks that are wiped, older than before, another site's, or copied.
//!
//! A site that starts with such a disk may stay out for ever, and the others must go on without it:
//! so not too many sites are harmed.

use quorate_quorum::{SiteId, SiteSet};
use quorate_site::Past;

use super::Plan;
use super::clock::Clock;
use super::faults::Damage;
use super::node::Node;
use super::run::{Due, Run};
use crate::chance::Chance;

/// What has happened to the disk of a site. A site that was harmed may stay out for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Harm {
    None,
    /// It was wiped, set back or swapped.
    Disk,
    /// It was copied, and the copy has run.
    Copied,
}

impl Node {
    /// Where a copy of a site can run.
    pub(super) fn for_copies(plan: &Plan, chance: &mut Chance) -> Self {
        let mut node = Node::new(plan, SiteId::new(0), chance);
        node.harm = Harm::Copied;
        node
    }
}

impl Run<'_> {
    /// Whether the disk of a site can be harmed: its cluster has formed, and the others can go on
    /// without it.
    fn can_spoil(&self, place: usize) -> bool {
        let n = self.plan.quorums.n();
        let sound = (0..n).filter(|&site| site != place && self.nodes[site].harm == Harm::None);
        let sound: SiteSet = sound.map(SiteId::new).collect();
        self.has_formed() && sound.len() > n / 2 && self.plan.quorums.is_quorum(&sound)
    }

    /// Whether the cluster has formed: all its sites were up together once.
    pub(super) fn has_formed(&self) -> bool {
        (0..self.plan.quorums.n()).all(|site| {
            let disk = &self.nodes[site].drive.synced.disk;
            self.nodes[site].harm != Harm::None || disk.identity.lineage.begun.is_some()
        })
    }

    pub(super) fn can_damage(&self, place: usize, damage: Damage) -> bool {
        let node = &self.nodes[place];
        let has_copy = damage != Damage::Older || !node.drive.copies.is_empty();
        node.site.is_some() && has_copy && self.can_spoil(place)
    }

    pub(super) fn can_copy(&self, place: usize, older: bool) -> bool {
        let copies = self.nodes.len() - 1;
        let has_copy = !older || !self.nodes[place].drive.copies.is_empty();
        copies > place && self.nodes[copies].site.is_none() && has_copy && self.can_spoil(place)
    }

    /// A site crashes, and starts with another disk.
    pub(super) fn damage(&mut self, place: usize, damage: Damage, lasts: u64) {
        self.crash(place, false, lasts);
        self.places += 1;
        let other = (place + 1) % self.plan.quorums.n();
        let disk = match damage {
            Damage::Wiped => Past::default(),
            Damage::Older => self.draw_copy(place),
            Damage::Swapped => self.nodes[other].drive.synced.clone(),
        };
        let node = &mut self.nodes[place];
        node.harm = node.harm.max(Harm::Disk);
        (node.drive.synced, node.drive.place) = (disk, self.places);
    }

    fn draw_copy(&mut self, place: usize) -> Past {
        self.chance.pick(&self.nodes[place].drive.copies).clone()
    }

    /// A second process of a site starts, on a copy of its disk.
    pub(super) fn copy(&mut self, place: usize, older: bool, lasts: u64) {
        let disk =
            if older { self.draw_copy(place) } else { self.nodes[place].drive.synced.clone() };
        self.places += 1;
        let copy = self.nodes.len() - 1;
        let (id, clock) =
            (self.nodes[place].id, Clock::draw(self.now, self.plan.skew, &mut self.chance));
        self.nodes[place].harm = Harm::Copied;
        let node = &mut self.nodes[copy];
        (node.id, node.clock) = (id, clock);
        (node.drive.synced, node.drive.place) = (disk, self.places);
        self.start(copy);
        for peer in (0..copy).filter(|&peer| peer != place) {
            let link = self.wire.link(peer, copy);
            if !link.connecting {
                link.connecting = true;
                self.plan_in(0, Due::Connect(peer, copy));
            }
        }
        let life = self.nodes[copy].life;
        self.plan_in(lasts, Due::StopCopy(copy, life));
    }

    /// The faults are over, and with them every site of which two processes ran: some sites may
    /// refuse the one and some the other, and a caller at a site that only some refuse can keep
    /// others waiting.
    pub(super) fn stop_copied(&mut self) {
        for place in 0..self.nodes.len() {
            let node = &mut self.nodes[place];
            if node.harm == Harm::Copied && node.site.is_some() {
                node.paused = false;
                self.stop(place, false);
            }
        }
    }

    /// Whether a site has stopped for good.
    pub(super) fn is_stopped(&self, place: usize) -> bool {
        self.settled_at.is_some() && self.nodes[place].harm == Harm::Copied
    }

    /// The second process of a site ends.
    pub(super) fn stop_copy(&mut self, place: usize, life: u64) {
        if self.nodes[place].site.is_some() && self.nodes[place].life == life {
            self.stop(place, false);
        }
    }
}

//! A site's request for the door, and the permissions it has.

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::{LedgerPool, Message, Try};
use crate::{Fence, Fences, Out, Shared};

/// The one request of a site, for the first of its callers that wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) of: Try,
    /// The permission of every arbiter that was asked in this try; none while no quorum is within
    /// reach (L6).
    pub(super) permissions: LiteMap<SiteId, Permission>,
    /// Whether it had to wait, at an arbiter or at the door.
    pub(super) held_up: bool,
}

/// One arbiter's permission, as the requester sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Permission {
    /// Whether it is in hand.
    pub(super) held: bool,
    /// Whether the arbiter sent a fail, or the request yielded there.
    pub(super) failed: bool,
    /// Whether an inquire about the loan in hand has not been answered.
    pub(super) inquired: bool,
    /// The fences that may be used with it.
    pub(super) fences: Fences,
    /// The ceiling that the arbiter was asked for.
    raising: Fence,
}

impl Request {
    pub(super) fn new(of: Try) -> Self {
        Self { of, permissions: LiteMap::new(), held_up: false }
    }

    /// The arbiters whose permission is in hand.
    pub(super) fn held(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.permissions.iter().filter(|(_, p)| p.held).map(|(&arbiter, _)| arbiter)
    }

    /// The arbiters that were asked and whose permission is not in hand.
    pub(super) fn missing(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.permissions.iter().filter(|(_, p)| !p.held).map(|(&arbiter, _)| arbiter)
    }

    /// Whether it is at the door: the permissions in hand contain a quorum. Those of ended sessions
    /// do not count: several may have ended at once, and their `Lost` inputs come one by one.
    pub(super) fn has_quorum(&self, site: &Shared) -> bool {
        let counted = self.held().filter(|&arbiter| site.session_at(arbiter).is_some());
        site.is_quorum(&counted.collect())
    }

    /// The arbiters that were asked, in sessions that are not silent.
    pub(super) fn asked(&self, site: &Shared) -> SiteSet {
        self.permissions.keys().copied().filter(|&asked| !site.is_silent(asked)).collect()
    }

    /// Takes a permission in hand.
    pub(super) fn take(&mut self, arbiter: SiteId, fences: Fences) {
        let ceil = self.permissions.get(&arbiter).map_or(fences.ceil, |p| p.fences.ceil);
        let fences = Fences { ceil: ceil.max(fences.ceil), ..fences };
        self.permissions
            .insert(arbiter, Permission { held: true, fences, ..Permission::default() });
    }

    /// The fences that may be used with all permissions in hand.
    pub(super) fn fences(&self) -> Fences {
        let held = || self.permissions.values().filter(|permission| permission.held);
        let floor = held().map(|permission| permission.fences.floor).max();
        let ceil = held().map(|permission| permission.fences.ceil).min();
        let (floor, ceil) = floor.zip(ceil).expect("a quorum has a member");
        Fences { floor, ceil }
    }

    /// Asks every arbiter with too low a ceiling, once in a loan, to raise it.
    pub(super) fn raise(&mut self, ceil: Fence, out: &mut Out<LedgerPool>) {
        let ticket = self.of.ticket;
        for (&arbiter, permission) in self.permissions.iter_mut() {
            let lags = permission.held && permission.fences.ceil < ceil;
            if lags && permission.raising < ceil {
                permission.raising = ceil;
                out.send(arbiter, Message::Raise { ticket, ceil });
            }
        }
    }

    /// Yields every permission with an open inquire, because it has to wait. Returns the arbiters.
    pub(super) fn yield_inquired(&mut self, out: &mut Out<LedgerPool>) -> Vec<SiteId> {
        let of = self.of;
        self.held_up = true;
        let mut yielded = Vec::new();
        for (&arbiter, permission) in self.permissions.iter_mut() {
            if permission.held && permission.inquired {
                permission.held = false;
                permission.inquired = false;
                permission.failed = true;
                out.send(arbiter, Message::Yield { of });
                yielded.push(arbiter);
            }
        }
        yielded
    }

    /// Withdraws the try everywhere. Answers to it may still come.
    pub(super) fn cancel(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        for &arbiter in self.permissions.keys() {
            if site.session_at(arbiter).is_some() {
                out.send(arbiter, Message::Cancel { of: self.of });
            }
        }
        if !self.permissions.is_empty() {
            self.permissions.clear();
            self.of.number += 1;
        }
    }
}

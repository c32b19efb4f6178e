//! The properties of clusters of whole sites, one file each, judged in true time.

mod contract;
mod deadlines;
mod exclusion;
mod failover;
mod fences;
mod progress;
mod storage;
mod survival;
mod views;

use std::fmt::Display;

use quorate_protocol::Fence;
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::{CallId, Name, Share};
use quorate_site::kinds::PoolProtocol;

use self::exclusion::Exclusion;
use self::fences::Fences;
use super::event::ClientName;
use super::storage::Write;
use super::{ClaimKind, Plan};
use crate::Breach;

pub(super) use self::failover::{bound, first_bound};
pub(super) use self::progress::Left;

/// The names of all properties, in the order of their files.
pub const PROPERTIES: [&str; 9] = [
    contract::NAME,
    deadlines::NAME,
    exclusion::NAME,
    failover::NAME,
    fences::NAME,
    progress::NAME,
    storage::NAME,
    survival::NAME,
    views::NAME,
];

/// Watches one run, and remembers the first property that broke.
#[derive(Debug)]
pub(super) struct Monitor {
    exclusion: Exclusion,
    fences: Fences,
    tolerates: Option<&'static str>,
    breach: Option<Breach>,
}

/// A holder, as the properties speak of it.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) name: usize,
    pub(super) call: CallId,
    pub(super) client: ClientName,
    /// The site at which it has its grant.
    pub(super) site: SiteId,
    /// The part of the lock that it has.
    pub(super) share: Share,
    /// Until when it is valid, in true time.
    pub(super) end: u64,
}

impl Monitor {
    /// A monitor of a run of `plan` with this many locks.
    pub(super) fn new(names: usize, plan: &Plan) -> Self {
        let ledger = plan.settings.pools == PoolProtocol::Ledger;
        let along_all = plan.claims == ClaimKind::Pool && ledger;
        let (exclusion, fences) = (Exclusion::new(names), Fences::new(names, along_all));
        Self { exclusion, fences, tolerates: plan.tolerates, breach: None }
    }

    /// A caller claims a lock.
    pub(super) fn on_claim(&mut self, name: usize, call: CallId) {
        self.fences.on_claim(name, call);
    }

    pub(super) fn breach(&self) -> Option<&Breach> {
        self.breach.as_ref()
    }

    /// A caller believes that it is valid until `holder.end`.
    pub(super) fn on_belief(&mut self, now: u64, holder: &Holder) {
        let verdict = self.exclusion.on_belief(now, holder);
        self.note(exclusion::NAME, verdict);
    }

    /// A site ended the grant of a caller that is valid.
    pub(super) fn on_outlived(&mut self, client: ClientName, call: CallId) {
        self.note(exclusion::NAME, Err(exclusion::of_outlived(client, call)));
    }

    /// A caller is valid for the first time.
    pub(super) fn on_enter(&mut self, holder: &Holder, fence: Fence) {
        let verdict = self.fences.on_enter(holder, fence);
        self.note(fences::NAME, verdict);
    }

    /// A caller has left, or was told to.
    pub(super) fn on_leave(&mut self, name: usize, call: CallId) {
        self.exclusion.on_leave(name, call);
    }

    pub(super) fn is_valid(&self, now: u64, name: usize, call: CallId) -> bool {
        self.exclusion.is_valid(now, name, call)
    }

    /// A caller that is valid now.
    pub(super) fn holder(&self, now: u64, name: usize) -> Option<Holder> {
        self.exclusion.holder(now, name)
    }

    /// Until when a caller has been valid that has not left.
    pub(super) fn last_end(&self, now: u64, name: usize) -> u64 {
        self.exclusion.last_end(now, name)
    }

    pub(super) fn on_write(&mut self, call: CallId, fence: Fence, valid: bool, write: Write) {
        self.note(storage::NAME, storage::monitor(call, fence, valid, write));
    }

    pub(super) fn on_note(&mut self, site: SiteId, about: SiteId, what: &str) {
        self.note(contract::NAME, contract::of_note(site, about, what));
    }

    pub(super) fn on_panic(&mut self, whose: &dyn Display, message: &str) {
        self.note(contract::NAME, Err(contract::of_panic(whose, message)));
    }

    pub(super) fn on_deaf(&mut self, site: SiteId) {
        self.note(contract::NAME, Err(contract::of_deaf(site)));
    }

    pub(super) fn on_overdue(&mut self, client: ClientName) {
        self.note(contract::NAME, Err(contract::of_overdue(client)));
    }

    /// A caller waits though its deadline has passed.
    pub(super) fn on_late(&mut self, client: ClientName, call: CallId) {
        self.note(deadlines::NAME, Err(deadlines::of_late(client, call)));
    }

    /// A client is not served for so long, though only so many of its sites fail.
    pub(super) fn on_client_unserved(&mut self, client: ClientName, ms: u64, bad: usize) {
        self.note(failover::NAME, Err(failover::of_unserved(client, ms, bad)));
    }

    /// A client says something impossible about a call.
    pub(super) fn on_misled(&mut self, client: ClientName, call: CallId, what: &str) {
        self.note(contract::NAME, Err(contract::of_misled(client, call, what)));
    }

    /// A grant is lost that should have survived the crashes of other sites.
    pub(super) fn on_lost_to_crashes(&mut self, client: ClientName, call: CallId) {
        self.note(survival::NAME, Err(survival::of_lost(client, call)));
    }

    /// So many callers wait whose quorum is among the sites that are up, this many leases after the
    /// last change.
    pub(super) fn on_unserved(&mut self, leases: u64, up: &SiteSet, unserved: usize, left: &Left) {
        self.note(progress::NAME, Err(progress::of_unserved(leases, up, unserved, left)));
    }

    /// Something is left of claims, this many leases after the faults.
    pub(super) fn on_stuck(&mut self, leases: u64, left: &Left) {
        self.note(progress::NAME, Err(progress::of_stuck(leases, left)));
    }

    /// These sites together call a lock free that a valid caller holds.
    pub(super) fn on_called_free(&mut self, call: CallId, name: &Name, sites: &SiteSet) {
        self.note(views::NAME, Err(views::of_called_free(call, name, sites)));
    }

    fn note(&mut self, property: &'static str, verdict: Result<(), String>) {
        if let (None, Err(what)) = (&self.breach, verdict)
            && self.tolerates != Some(property)
        {
            self.breach = Some(Breach { property, what });
        }
    }
}

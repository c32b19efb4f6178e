//! What happens when sessions end: stages replace lost arbiters, arbiters take locks back, and
//! waiting processes ask another host.
//!
//! Not in the paper; `docs/protocols/role.md`, "When sessions end", lists these rules.

use quorate_quorum::{SiteId, SiteSet};

use super::RoleLock;
use super::arbiter::Arbiter;
use super::host::Host;
use super::process::{ProcessState, Processes};
use super::stage::{Stage, StageState};
use crate::{Out, Shared, Tick, Why};

impl Processes {
    /// Our session at `peer` is over: its delegations no longer count. Processes that wait there
    /// ask another host. A member of a stage hosted there is lost; its caller may claim again.
    pub(super) fn on_lost(&mut self, site: &Shared, peer: SiteId, out: &mut Out<RoleLock>) {
        let mut lost = Vec::new();
        for (&id, process) in self.processes.iter_mut() {
            match &mut process.state {
                ProcessState::Inside(_, pr) | ProcessState::Stopping(_, pr) => {
                    if pr.site == peer {
                        lost.push(id);
                    }
                }
                ProcessState::Waiting(hosts) => {
                    for host in hosts.values_mut().filter(|host| **host == Some(peer)) {
                        *host = None;
                    }
                    process.ask_hosts(site, out);
                }
            }
        }
        for id in lost {
            let process = self.processes.remove(&id).expect("the claim has a process");
            if let ProcessState::Inside(..) = process.state {
                out.lose(id, Why::DelegationExpired);
            }
        }
    }

    /// We have a session again: asks for the groups whose hosts could not be reached.
    pub(super) fn on_open(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        for (_, process) in self.processes.iter_mut() {
            process.ask_hosts(site, out);
        }
    }
}

impl Host {
    /// A peer has not answered for half a lease: asks others in its place, and keeps its lock.
    pub(super) fn on_silent(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        for stage in self.stages.values_mut() {
            stage.ask_quorum(site, out);
        }
    }

    /// Our session at `peer` is over, and with it the locks it lent to our stages.
    pub(super) fn on_lost(
        &mut self,
        site: &mut Shared,
        now: Tick,
        peer: SiteId,
        out: &mut Out<RoleLock>,
    ) {
        for stage in self.stages.values_mut() {
            stage.lose_peer(site, peer, out);
            stage.enter_or_admit(site, now, out);
        }
        self.end_empty_stages(site, out);
    }

    /// We have a session at `peer` again: asks it for every stage that lacks a quorum of asked
    /// arbiters, or collects spare locks. Others are asked too, if that is not enough: a site that
    /// was silent answers again by now.
    pub(super) fn on_open(&mut self, site: &Shared, peer: SiteId, out: &mut Out<RoleLock>) {
        for stage in self.stages.values_mut() {
            if stage.stays || !stage.has_asked_quorum(site) {
                stage.ask_replacement(peer, out);
            }
            stage.ask_quorum(site, out);
        }
    }

    /// The session of `client` here is over: its members have stopped, and its waiting processes
    /// have asked elsewhere.
    pub(super) fn on_closed(
        &mut self,
        site: &mut Shared,
        now: Tick,
        client: SiteId,
        out: &mut Out<RoleLock>,
    ) {
        for stage in self.stages.values_mut() {
            stage.remove_requests(site, now, |ticket| ticket.site == client, out);
        }
        self.end_empty_stages(site, out);
    }
}

impl Stage {
    /// Drops the lock of `peer` and asks a replacement. A stage in the critical section without a
    /// quorum is lost: its members have stopped, and its pending requests wait for the next stage.
    pub(super) fn lose_peer(&mut self, site: &Shared, peer: SiteId, out: &mut Out<RoleLock>) {
        if self.loans.remove(&peer).is_some() {
            self.repaired = true;
        }
        if matches!(self.state, StageState::Cs(_)) && !self.is_complete(site) {
            self.postpone_pending();
            self.remove_members(out);
        } else {
            self.ask_quorum(site, out);
        }
    }

    /// Enters or admits, if what the stage waited for is no longer missing.
    pub(super) fn enter_or_admit(&mut self, site: &Shared, now: Tick, out: &mut Out<RoleLock>) {
        self.try_to_enter(site, now, out);
        self.admit(site, now, out);
    }

    /// Asks further arbiters until those asked in live sessions contain a quorum, if one exists.
    pub(super) fn ask_quorum(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        if self.has_asked_quorum(site) {
            return;
        }
        let prefer: Vec<SiteId> = self.asked(site).iter().collect();
        let quorum = site.replacement(&prefer);
        for arbiter in quorum.iter().flat_map(SiteSet::iter) {
            self.ask_replacement(arbiter, out);
        }
    }

    pub(super) fn ask_replacement(&mut self, arbiter: SiteId, out: &mut Out<RoleLock>) {
        if !self.loans.contains_key(&arbiter) {
            self.send_req_group(arbiter, out);
            self.repaired = true;
        }
    }

    fn has_asked_quorum(&self, site: &Shared) -> bool {
        site.is_quorum(&self.asked(site))
    }

    /// The arbiters that were asked, without the silent ones.
    fn asked(&self, site: &Shared) -> SiteSet {
        self.loans.keys().copied().filter(|&asked| !site.is_silent(asked)).collect()
    }
}

impl Arbiter {
    /// The session of `client` here is over: forgets its stages and takes the lock back. Which
    /// fences its stage used is unknown; all below the ceiling are skipped.
    pub(super) fn on_closed(&mut self, site: &mut Shared, client: SiteId, out: &mut Out<RoleLock>) {
        self.forget(|queued| queued.site == client);
        if self.is_lent_to(|holder| holder.site == client) {
            site.skip_fences(out);
            self.lend(site, out);
        }
    }

    /// The quarantine after a restart is over.
    pub(super) fn on_cleared(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        if self.holder.is_none() {
            self.lend(site, out);
        }
    }
}

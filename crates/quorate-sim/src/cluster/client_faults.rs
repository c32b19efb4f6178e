//! The faults of remote clients.

use quorate_session::client::ClientInput;

use super::clients::Client;
use super::faults::Cut;
use super::run::{Due, Run};

impl Run<'_> {
    /// The process of a slot: the one that runs there, or the last one that did.
    pub(super) fn slot(&self, client: usize) -> &Client {
        &self.clients[self.slots[client].process]
    }

    /// The remote clients that are connected to a site.
    pub(super) fn remote_at(&mut self, site: usize) -> Vec<usize> {
        let remote = |&process: &usize| self.clients[process].host.is_none();
        let remote: Vec<usize> = (0..self.clients.len()).filter(remote).collect();
        let has = |&process: &usize| self.is_connected(site, self.nodes.len() + process);
        remote.into_iter().filter(has).collect()
    }

    /// Whether a client has a connection, or one is coming up.
    pub(super) fn has_connection(&mut self, client: usize) -> bool {
        let process = self.slots[client].process;
        let (site, endpoint) = (self.clients[process].site, self.endpoint(process));
        self.is_connected(site, endpoint)
    }

    pub(super) fn reset_client(&mut self, client: usize) {
        let process = self.slots[client].process;
        let (site, endpoint) = (self.clients[process].site, self.endpoint(process));
        let after = [self.packet_delay(), self.packet_delay()];
        self.break_link(site, endpoint, after);
    }

    /// Packets between a client and its present site stall. After a while one end gives the
    /// connection up, unless the client merely does not read.
    pub(super) fn cut_client(&mut self, client: usize, cut: Cut, lasts: u64) {
        let process = self.slots[client].process;
        let (site, endpoint) = (self.clients[process].site, self.endpoint(process));
        let mut ways = Vec::new();
        if cut == Cut::BothWays || cut == Cut::FromClient {
            ways.push((endpoint, site));
        }
        if cut != Cut::FromClient {
            ways.push((site, endpoint));
        }
        if cut != Cut::Unread && self.chance.percent(60) {
            let timeout = self.lease / 4 + self.chance.below(3 * self.lease);
            self.plan_in(timeout, Due::TimeOut(site, endpoint));
        }
        self.block(ways, lasts);
    }

    pub(super) fn pause_client(&mut self, client: usize, lasts: u64) {
        let process = self.slots[client].process;
        self.clients[process].paused = true;
        self.plan_in(lasts, Due::ResumeClient(process));
    }

    pub(super) fn crash_client(&mut self, client: usize, lasts: u64) {
        self.end_client(self.slots[client].process);
        self.plan_in(lasts, Due::StartClient(client));
    }

    /// A client process stops: it releases the locks of its callers and ends soon.
    pub(super) fn stop_client(&mut self, client: usize, lasts: u64) {
        let process = self.slots[client].process;
        self.clients[process].stopping = true;
        self.feed_client(process, ClientInput::Stop, 0);
        let wait = self.chance.below(self.lease / 4);
        self.plan_in(wait, Due::EndClient(process));
        self.plan_in(wait + lasts, Due::StartClient(client));
    }

    /// A client process crashes. Its operating system closes its connection; if its machine is gone
    /// too, the site gets no packets any more.
    pub(super) fn end_client(&mut self, process: usize) {
        if !self.clients[process].is_alive() {
            return;
        }
        self.kill_client(process);
        let (site, endpoint) = (self.clients[process].site, self.endpoint(process));
        if self.is_connected(site, endpoint) {
            let unheard = self.chance.percent(30);
            let heard =
                if unheard { self.chance.below(3 * self.lease) } else { self.packet_delay() };
            self.break_link(site, endpoint, [heard, 0]);
        }
    }

    /// Another process replaces one that is gone.
    pub(super) fn restart_client(&mut self, client: usize) {
        if !self.slot(client).is_alive() {
            self.start_client(client);
        }
    }
}

//! Which faults are possible in a state, and what would have to come first.

use quorate_quorum::SiteId;

use super::World;
use super::links::LinkState;
use crate::{Fault, SimProtocol};

impl<P: SimProtocol> World<P> {
    /// Why `fault` is impossible now, and what must come first; `None` if it is possible.
    pub(crate) fn refusal(&self, fault: Fault) -> Option<String> {
        let crashes = matches!(fault, Fault::Crash(_) | Fault::Restart(_)) && P::LOSSY;
        if self.contract.is_none() && !crashes {
            return Some("there are no sessions here that could end".to_owned());
        }
        match fault {
            Fault::Crash(site) => self.is_down(site, " already"),
            Fault::Restart(site) if self.is_up(site) => Some(format!("{site} has not crashed")),
            Fault::Restart(_) => None,
            Fault::Clear(site) => self.refuse_clear(site),
            Fault::Silence(client, server)
            | Fault::Lose(client, server)
            | Fault::Close(client, server)
            | Fault::Reopen(client, server)
            | Fault::Open(client, server)
                if client == server =>
            {
                Some(format!("{client} has no session at itself: nothing can become of it"))
            }
            Fault::Silence(client, server) if self.is_silent(client, server) => {
                Some(format!("{client} hears nothing of {server} already"))
            }
            Fault::Silence(client, server) | Fault::Lose(client, server) => {
                self.refuse_loss(client, server)
            }
            Fault::Close(client, server) => self.refuse_close(client, server),
            Fault::Reopen(client, server) => self.refuse_reopen(client, server),
            Fault::Open(client, server) if self.is_opening(client, server) => None,
            Fault::Open(client, server) => {
                let first = Fault::Reopen(client, server);
                Some(format!("{server} has no new session of {client}; expected `{first}` first"))
            }
        }
    }

    fn link_state(&self, client: SiteId, server: SiteId) -> LinkState {
        self.links.get(client, server).state
    }

    fn is_down(&self, site: SiteId, when: &str) -> Option<String> {
        (!self.is_up(site)).then(|| format!("{site} has crashed{when}"))
    }

    fn refuse_clear(&self, site: SiteId) -> Option<String> {
        if !self.is_up(site) || !self.nodes[site.index()].shared.quarantined {
            return Some(format!("{site} is in no quarantine; it is after `restart {site}`"));
        }
        let mut clients = SiteId::all(self.n());
        let client =
            clients.find(|&client| self.link_state(client, site) == LinkState::Orphaned)?;
        let first = Fault::Lose(client, site);
        Some(format!(
            "{client} counts on what {site} lent before it crashed; expected `{first}` first"
        ))
    }

    /// For faults at the client's end of an open session.
    fn refuse_loss(&self, client: SiteId, server: SiteId) -> Option<String> {
        match self.link_state(client, server) {
            LinkState::Open | LinkState::Orphaned => None,
            LinkState::Lost | LinkState::Closed | LinkState::Opening => {
                Some(format!("{client} has no session at {server}"))
            }
        }
    }

    fn refuse_close(&self, client: SiteId, server: SiteId) -> Option<String> {
        match self.link_state(client, server) {
            LinkState::Lost => None,
            LinkState::Open | LinkState::Opening => {
                let first = Fault::Lose(client, server);
                Some(format!("a session ends at its client first; expected `{first}` first"))
            }
            LinkState::Orphaned | LinkState::Closed => {
                Some(format!("{server} has no session of {client} to close"))
            }
        }
    }

    fn refuse_reopen(&self, client: SiteId, server: SiteId) -> Option<String> {
        let first = match self.link_state(client, server) {
            LinkState::Closed => {
                let down = |site| self.is_down(site, &format!("; expected `restart {site}` first"));
                return down(client).or_else(|| down(server));
            }
            LinkState::Open | LinkState::Opening => {
                return Some(format!("{server} has a session of {client} already"));
            }
            LinkState::Lost => Fault::Close(client, server),
            LinkState::Orphaned => Fault::Lose(client, server),
        };
        Some(format!("the session before it is not over; expected `{first}` first"))
    }
}

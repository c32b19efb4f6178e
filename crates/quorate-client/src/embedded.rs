//! A site in this process, and this process as its client.

use std::sync::{Arc, Weak};

use quorate_net::clock::{self, Alarm};
use quorate_server::{LocalClient, Server, SiteConfig};
use quorate_session::client::{ClientMachine, ClientMessage};
use quorate_session::session::Packet;

use crate::client::{Client, Shared};
use crate::dial::draw_id;
use crate::options::claimant_of_this_process;
use crate::state::Link;
use crate::{Cluster, Error};

/// Passes packets of the site to the client, as long as the client exists.
#[derive(Debug)]
struct Local(Weak<Shared>);

impl LocalClient for Local {
    fn on_packet(&self, packet: Packet<ClientMessage>) {
        if let Some(client) = self.0.upgrade() {
            client.on_packets(0, [packet]);
        }
    }

    fn on_stop(&self) {
        if let Some(client) = self.0.upgrade() {
            client.on_stop();
        }
    }
}

/// Sites in this process, with the feature `embedded`.
impl Cluster {
    /// Runs a site of a cluster in this process, in a thread of its own, and connects to it.
    ///
    /// # Errors
    ///
    /// The site cannot be started.
    pub fn embedded(config: &SiteConfig) -> Result<Self, Error> {
        let server = Server::start(config).map_err(|error| Error::Stopped(error.to_string()))?;
        Self::of_server(server)
    }

    /// Runs a site of a cluster as a task of the current runtime, and connects to it. This saves
    /// two switches between threads, but the site does not run while a task of that runtime blocks:
    /// no task there may block for a third of a lease.
    ///
    /// # Errors
    ///
    /// As [`Cluster::embedded`].
    pub fn embedded_here(config: &SiteConfig) -> Result<Self, Error> {
        let server = Server::start_here(config);
        Self::of_server(server.map_err(|error| Error::Stopped(error.to_string()))?)
    }

    /// Runs a whole cluster in this process, for tests. Its sites are connected in memory and have
    /// no disk. Returns a handle for each site, when all have reached each other.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), quorate::Error> {
    /// let sites = quorate::Cluster::in_memory(3)?;
    /// let held = sites[0].mutex("deploy")?.lock().await?;
    /// assert!(sites[1].mutex("deploy")?.try_lock().await.is_err());
    /// drop(held);
    /// assert!(sites[1].mutex("deploy")?.lock().await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A cluster cannot have this many sites, or the machine is too busy to start them.
    pub fn in_memory(sites: usize) -> Result<Vec<Self>, Error> {
        let config = SiteConfig::new("memory", 1, &[], std::path::PathBuf::new());
        let servers = Server::start_in_memory(sites, &config);
        let servers = servers.map_err(|error| Error::Stopped(error.to_string()))?;
        servers.into_iter().map(Self::of_server).collect()
    }

    /// Connects to a site that runs in this process. The last handle that is dropped stops it.
    ///
    /// # Errors
    ///
    /// The system refused a timer or random numbers.
    pub fn of_server(server: Server) -> Result<Self, Error> {
        let (id, terms) = (draw_id()?, server.terms());
        let machine = ClientMachine::new(clock::now(), terms);
        let shared = Arc::new(Shared::new(machine));
        let link = server.connect(id, Arc::new(Local(Arc::downgrade(&shared))));
        shared.on_up(0, Link::Local(link));
        let alarm = {
            let _inside = server.runtime().enter();
            Alarm::new().map_err(|error| Error::Stopped(error.to_string()))?
        };
        server.runtime().spawn(Arc::clone(&shared).run(alarm));
        let sites = server.sites();
        let client = Client::of_server(shared, server);
        Ok(Self {
            client,
            claimant: claimant_of_this_process(),
            lease: terms.lease.length(),
            sites,
            addresses: [].into(),
        })
    }

    /// The site, if it runs in this process.
    pub fn server(&self) -> Option<&Server> {
        self.client.server()
    }

    /// How many messages of lock protocols our site has sent to others since it started; `None` if
    /// it is not in this process. Renewals of leases do not count, so the difference of two
    /// readings at all sites is the cost of the claims in between.
    pub fn messages_sent(&self) -> Option<u64> {
        self.server().map(Server::messages_sent)
    }
}

//! A site in this process, and this process as its client.

use std::sync::{Arc, Weak};

use quorate_net::clock::Alarm;
use quorate_server::{LocalClient, Server, SiteConfig};
use quorate_session::client::ClientMessage;
use quorate_session::session::Packet;

use crate::client::{Client, Link, Shared};
use crate::dial::draw_id;
use crate::options::card_of_this_process;
use crate::{Cluster, Error};

/// Hands what the site says to the client, for as long as somebody needs it.
#[derive(Debug)]
struct Local(Weak<Shared>);

impl LocalClient for Local {
    fn on_packet(&self, packet: Packet<ClientMessage>) {
        if let Some(client) = self.0.upgrade() {
            client.on_packets([packet]);
        }
    }

    fn on_stop(&self) {
        if let Some(client) = self.0.upgrade() {
            client.on_stop();
        }
    }
}

/// Sites in this process. They need the feature `embedded`.
impl Cluster {
    /// Runs a site of a cluster in this process, in a thread of its own, and is its client.
    ///
    /// # Errors
    ///
    /// The site cannot be started.
    pub fn embedded(config: &SiteConfig) -> Result<Self, Error> {
        let server = Server::start(config).map_err(|error| Error::Stopped(error.to_string()))?;
        Self::of_server(server)
    }

    /// Runs a site of a cluster among the tasks of the runtime we are in, and is its client. That
    /// is faster than a thread of its own, by the way between threads and back, but the site stands
    /// still while its runtime does: tasks there must not block for a third of a lease.
    ///
    /// # Errors
    ///
    /// As [`Cluster::embedded`].
    pub fn embedded_here(config: &SiteConfig) -> Result<Self, Error> {
        let server = Server::start_here(config);
        Self::of_server(server.map_err(|error| Error::Stopped(error.to_string()))?)
    }

    /// Runs a whole cluster in this process, whose sites talk in memory and forget all when they
    /// are dropped: for tests. What is returned is the cluster as each of its sites sees it.
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
    /// A cluster cannot have so many sites.
    pub fn in_memory(sites: usize) -> Result<Vec<Self>, Error> {
        let config = SiteConfig::new("memory", 1, &[], std::path::PathBuf::new());
        let servers = Server::start_in_memory(sites, &config);
        let servers = servers.map_err(|error| Error::Stopped(error.to_string()))?;
        servers.into_iter().map(Self::of_server).collect()
    }

    /// The cluster of a site that runs in this process.
    ///
    /// # Errors
    ///
    /// The system lacks something.
    pub fn of_server(server: Server) -> Result<Self, Error> {
        let (id, terms) = (draw_id()?, server.terms());
        let shared = Arc::new(Shared::new(terms));
        let link = server.connect(id, Arc::new(Local(Arc::downgrade(&shared))));
        shared.on_up(Link::Local(link));
        let alarm = {
            let _inside = server.runtime().enter();
            Alarm::new().map_err(|error| Error::Stopped(error.to_string()))?
        };
        server.runtime().spawn(Arc::clone(&shared).keep_time(alarm));
        let sites = server.sites();
        let client = Client::of_server(shared, server);
        Ok(Self { client, card: card_of_this_process(), lease: terms.lease.length(), sites })
    }

    /// The site in this process; `None` if ours is in another.
    pub fn server(&self) -> Option<&Server> {
        self.client.server()
    }

    /// How many messages of its locks' protocols our site has sent to others since it started;
    /// `None` if it is not in this process. What only renews a lease does not count, so two
    /// readings at all sites tell what the claims in between have cost.
    pub fn messages_sent(&self) -> Option<u64> {
        self.server().map(Server::messages_sent)
    }
}

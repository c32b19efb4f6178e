//! A cluster, as one process sees it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quorate_server::{Reply, Server, SiteConfig};
use quorate_session::{Answer, Break, Card, Fence, Name, Question, SiteId};
use tokio::time::{Instant, timeout_at};

use crate::backend::Backend;
use crate::remote::Remote;
use crate::{Error, GroupLock, Mutex, Options, Pool, RwLock};

/// A cluster, as one process sees it; cheap to copy.
///
/// ```no_run
/// # async fn example() -> Result<(), quorate::Error> {
/// let cluster = quorate::Cluster::connect("127.0.0.1:7420").await?;
/// let guard = cluster.mutex("deploy")?.lock().await?;
/// println!("inside, with fence {}", guard.fence());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Cluster {
    pub(crate) backend: Backend,
    pub(crate) card: Card,
    lease: Duration,
    sites: usize,
    /// The site in this process, if it is here.
    server: Option<Arc<Server>>,
}

/// What the sites of a cluster said to a question.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The answers of those that were reached in time.
    pub answers: BTreeMap<SiteId, Answer>,
    /// Those that were reached and did not answer in time.
    pub silent: Vec<SiteId>,
}

impl Cluster {
    /// Connects to a site.
    ///
    /// # Errors
    ///
    /// It cannot be reached, or does not want us.
    pub async fn connect(address: impl Into<String>) -> Result<Self, Error> {
        Options::new([address.into()]).connect().await
    }

    /// Runs a site of a cluster in this process, in a thread of its own, and is its caller.
    ///
    /// # Errors
    ///
    /// The site cannot be started.
    pub fn embedded(config: &SiteConfig) -> Result<Self, Error> {
        let server = Server::start(config).map_err(|error| Error::Stopped(error.to_string()))?;
        Ok(Self::of_server(server))
    }

    /// Runs a site of a cluster among the tasks of the runtime we are in, and is its caller. That
    /// is faster than a thread of its own, by the way between threads and back, but the site stands
    /// still while its runtime does: tasks there must not block for a third of a lease.
    ///
    /// # Errors
    ///
    /// As [`Cluster::embedded`].
    pub fn embedded_here(config: &SiteConfig) -> Result<Self, Error> {
        let server = Server::start_here(config);
        Ok(Self::of_server(server.map_err(|error| Error::Stopped(error.to_string()))?))
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
        Ok(servers.into_iter().map(Self::of_server).collect())
    }

    /// The cluster of a site that runs in this process.
    pub fn of_server(server: Server) -> Self {
        Self {
            backend: Backend::Local(server.local()),
            card: Card::default(),
            lease: server.lease(),
            sites: server.sites(),
            server: Some(Arc::new(server)),
        }
    }

    pub(crate) async fn with(options: Options) -> Result<Self, Error> {
        let card = options.card.clone();
        let remote = Remote::connect(options).await?;
        let (lease, sites) = (remote.lease, remote.sites);
        Ok(Self { backend: Backend::Remote(remote), card, lease, sites, server: None })
    }

    /// Says who asks, for people that wait.
    pub fn with_card(mut self, card: Card) -> Self {
        self.card = card;
        self
    }

    /// The length of a lease: what is lost is free again about so much later.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// All sites of the cluster, reached or not.
    pub fn sites(&self) -> impl Iterator<Item = SiteId> + use<> {
        SiteId::all(self.sites)
    }

    /// How many messages of its locks' protocols our site has sent to others since it started;
    /// `None` if it is not in this process. What only renews a lease does not count, so two
    /// readings at all sites tell what the claims in between have cost.
    pub fn messages_sent(&self) -> Option<u64> {
        self.server.as_ref().map(|server| server.messages_sent())
    }

    /// Waits until our site has taken in all that was asked of it before, and so long at most. A
    /// process that drops a guard and ends without it may leave the lock to its lease.
    pub async fn heard(&self, patience: Duration) -> bool {
        self.backend.heard(patience).await
    }

    /// A lock that one holds at a time.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn mutex(&self, name: &str) -> Result<Mutex, Error> {
        Ok(Mutex::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// So many units, of which callers take some.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn pool(&self, name: &str, units: u32) -> Result<Pool, Error> {
        Ok(Pool::new(self.clone(), name.parse().map_err(Error::Name)?, units))
    }

    /// A lock that many hold together, if they are of one group.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn group(&self, name: &str) -> Result<GroupLock, Error> {
        Ok(GroupLock::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// A lock that many hold to read, or one to write.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn rwlock(&self, name: &str) -> Result<RwLock, Error> {
        Ok(RwLock::new(self.clone(), name.parse().map_err(Error::Name)?))
    }

    /// Asks all sites something, and waits so long at most for their answers.
    pub async fn ask(&self, question: Question, patience: Duration) -> Gathered {
        let (mut replies, end) = (self.backend.ask(question), Instant::now() + patience);
        let mut gathered = Gathered::default();
        while let Ok(Some(reply)) = timeout_at(end, replies.recv()).await {
            match reply {
                Reply::Asked(sites) => gathered.silent = sites,
                Reply::Answer(site, answer) => {
                    gathered.silent.retain(|silent| *silent != site);
                    gathered.answers.insert(site, answer);
                }
            }
            if gathered.silent.is_empty() {
                break;
            }
        }
        gathered
    }

    /// Wants the grant of `name` with this fence to end, though its holder does not release it. It
    /// takes up to a lease.
    pub fn break_grant(&self, name: Name, fence: Fence, reason: &str) {
        let wish = Break { name, fence, by: self.card.clone(), reason: reason.into() };
        self.backend.break_grant(wish);
    }
}

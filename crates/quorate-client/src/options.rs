//! Options of a connection to a cluster.

use std::time::Duration;

use quorate_net::tls::TlsConfig;
use quorate_session::{Claimant, HostText, OwnerText, PurposeText};

use crate::{Cluster, Error};

/// Options of a connection to a cluster: the addresses of its sites, TLS, and who connects.
///
/// ```no_run
/// # async fn example() -> Result<(), quorate::Error> {
/// use std::time::Duration;
/// let options = quorate::Options::new(["10.0.0.1:7420", "10.0.0.2:7420", "10.0.0.3:7420"]);
/// let cluster = options.timeout(Duration::from_secs(1)).connect().await?;
/// # drop(cluster);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) addresses: Vec<String>,
    pub(crate) tls: Option<TlsConfig>,
    pub(crate) claimant: Claimant,
    pub(crate) timeout: Duration,
}

impl Options {
    /// The addresses of sites of one cluster. One that begins with `/` is a Unix socket. A client
    /// uses one site at a time: it begins with any of them, and moves to another when its site does
    /// not answer or reaches no quorum.
    pub fn new(addresses: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            addresses: addresses.into_iter().map(Into::into).collect(),
            tls: None,
            claimant: claimant_of_this_process(),
            timeout: Duration::from_secs(5),
        }
    }

    /// Uses TLS with these certificates.
    pub fn tls(mut self, tls: TlsConfig) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Sets the description of this process that others see while it holds or waits for a lock.
    pub fn claimant(mut self, claimant: Claimant) -> Self {
        self.claimant = claimant;
        self
    }

    /// How long the first connection may take: 5 seconds unless set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Connects to any of the sites.
    ///
    /// # Errors
    ///
    /// No site can be reached in time, or all refuse the connection. It ends when the time is up,
    /// whether or not any site answers.
    pub async fn connect(self) -> Result<Cluster, Error> {
        Cluster::with(self).await
    }
}

/// The default claimant: user, host and process.
pub(crate) fn claimant_of_this_process() -> Claimant {
    let user = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let user = user.filter(|user| !user.is_empty());
    let owner = user.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let (owner, host) = (OwnerText::fitted(&owner), HostText::fitted(&host));
    Claimant { owner, host, pid: std::process::id(), purpose: PurposeText::default() }
}

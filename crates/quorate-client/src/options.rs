//! How a process joins a cluster.

use std::time::Duration;

use quorate_net::tls::TlsConfig;
use quorate_session::Card;

use crate::{Cluster, Error};

/// How a process joins a cluster: where its sites are, and who it is.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) addresses: Vec<String>,
    pub(crate) tls: Option<TlsConfig>,
    pub(crate) card: Card,
    pub(crate) patience: Duration,
}

impl Options {
    /// Sites are reached at these addresses, tried in turn; one that begins with `/` is a Unix
    /// socket.
    pub fn new(addresses: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            addresses: addresses.into_iter().map(Into::into).collect(),
            tls: None,
            card: card_of_this_process(),
            patience: Duration::from_secs(5),
        }
    }

    /// Speaks TLS with these certificates.
    pub fn tls(mut self, tls: TlsConfig) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Says who asks, for people that wait.
    pub fn card(mut self, card: Card) -> Self {
        self.card = card;
        self
    }

    /// For how long the first connection is tried.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// No site can be reached in time, or none wants us.
    pub async fn connect(self) -> Result<Cluster, Error> {
        Cluster::with(self).await
    }
}

/// Who we are, for people that wait: the user, the machine and the process.
pub(crate) fn card_of_this_process() -> Card {
    let user = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let user = user.filter(|user| !user.is_empty());
    let owner = user.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Card { owner: owner.into(), host: host.into(), pid: std::process::id(), purpose: "".into() }
}

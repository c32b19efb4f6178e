//! The commands that run a cluster, and those that use one.

pub(crate) mod break_;
pub(crate) mod cert;
pub(crate) mod elect;
pub(crate) mod explain;
pub(crate) mod lock;
pub(crate) mod ls;
pub(crate) mod seen;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod signals;
pub(crate) mod sites;
pub(crate) mod up;
pub(crate) mod watch;

use std::env;
use std::future::Future;
use std::path::PathBuf;
use std::process;
use std::time::Duration;

use clap::Args;
use nix::unistd;
use quorate::{Card, Cluster, Options, TlsConfig};

use quorate_terminal::answer::{Answer, Failure};

/// Where `quorate up` begins.
pub(crate) const PORT: u16 = 7420;

/// For how long a site may be away before a command that only asks gives up.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long the sites have to answer a question.
pub(crate) const ANSWERS: Duration = Duration::from_millis(1500);

/// Which cluster is meant.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct Connect {
    /// A site of the cluster, as host:port or the path of a Unix socket; more than one are tried in
    /// turn
    #[arg(
        long = "connect",
        value_name = "ADDR",
        env = "QUORATE_CONNECT",
        value_delimiter = ',',
        default_value = "127.0.0.1:7420"
    )]
    addresses: Vec<String>,
    /// Our certificate, for a cluster that speaks TLS
    #[arg(long, value_name = "FILE", env = "QUORATE_CERT", requires_all = ["key", "ca"])]
    cert: Option<PathBuf>,
    /// The key of our certificate
    #[arg(long, value_name = "FILE", env = "QUORATE_KEY", requires_all = ["cert", "ca"])]
    key: Option<PathBuf>,
    /// The authority that signed the certificates of the cluster
    #[arg(long, value_name = "FILE", env = "QUORATE_CA", requires_all = ["cert", "key"])]
    ca: Option<PathBuf>,
}

impl Connect {
    /// Connects, to ask something.
    pub(crate) async fn cluster(&self) -> Result<Cluster, Failure> {
        self.cluster_as(own_card(None, ""), PATIENCE).await
    }

    /// Connects on behalf of `card`, and tries so long at most.
    pub(crate) async fn cluster_as(
        &self,
        card: Card,
        patience: Duration,
    ) -> Result<Cluster, Failure> {
        let mut options = Options::new(self.addresses.clone()).card(card).patience(patience);
        if let (Some(ca), Some(cert), Some(key)) = (&self.ca, &self.cert, &self.key) {
            options =
                options.tls(TlsConfig { ca: ca.clone(), cert: cert.clone(), key: key.clone() });
        }
        options.connect().await.map_err(|error| {
            let hint = if self.is_default() { "; is `quorate up` running?" } else { "" };
            Failure::Service(format!("{error}{hint}"))
        })
    }

    fn is_default(&self) -> bool {
        self.addresses == ["127.0.0.1:7420"]
    }
}

/// Who we are: all of it is shown to people, none of it is relied on.
pub(crate) fn own_card(owner: Option<&str>, purpose: &str) -> Card {
    let user = || env::var("USER").ok().filter(|user| !user.is_empty());
    let owner = owner.map(str::to_owned).or_else(user);
    let host = unistd::gethostname().ok().and_then(|host| host.into_string().ok());
    Card {
        owner: owner.unwrap_or_else(|| format!("uid {}", unistd::getuid())).into(),
        host: host.unwrap_or_default().into(),
        pid: process::id(),
        purpose: purpose.into(),
    }
}

/// Does `work` in a runtime of this thread; what still waits for input then is left behind.
pub(crate) fn block_on(work: impl Future<Output = Answer>) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::service)?;
    let answer = runtime.block_on(work);
    runtime.shutdown_background();
    answer
}

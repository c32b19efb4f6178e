//! The commands that run a cluster or use one.

pub(crate) mod break_;
pub(crate) mod cert;
pub(crate) mod elect;
pub(crate) mod explain;
pub(crate) mod lock;
pub(crate) mod lock_status;
pub(crate) mod ls;
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
use quorate::{
    Claimant, Cluster, HostText, Options, OwnerText, PurposeText, Question, Responses, TextError,
    TlsConfig,
};

use quorate_terminal::answer::{Answer, Failure, Verdict};

/// The port of the first site of `quorate up`.
pub(crate) const FIRST_PORT: u16 = 7420;

/// How long a command that only reads tries to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait for the sites' answers to a question, at most.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_millis(1500);

/// The exit status of every command that shows something: for `--help`.
pub(crate) const VIEW_EXIT: &str = "Exit status: 0 if the sites that answer are enough to know; \
    125 if they are not, or if the cluster cannot be reached.";

/// Asks all sites. It takes a lease at most, even if no site answers.
pub(crate) async fn ask(cluster: &Cluster, question: Question) -> Responses {
    cluster.ask(question, ANSWER_TIMEOUT.min(cluster.lease())).await
}

/// The verdict of a command that shows something: whether the sites know enough.
pub(crate) fn view_verdict(is_known: bool) -> Verdict {
    if is_known { Verdict::Clean } else { Verdict::Exit(Failure::SERVICE) }
}

/// How to reach the cluster.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct Connect {
    /// A comma-separated list of sites' addresses, of which any is used, and another if it does not
    /// answer: host:port or the path of a Unix socket
    #[arg(
        long = "connect",
        value_name = "ADDR",
        env = "QUORATE_CONNECT",
        value_delimiter = ',',
        default_value = "127.0.0.1:7420"
    )]
    addresses: Vec<String>,
    /// The client's certificate, for a cluster that uses TLS
    #[arg(long, value_name = "FILE", env = "QUORATE_CERT", requires_all = ["key", "ca"])]
    cert: Option<PathBuf>,
    /// The private key of the client's certificate
    #[arg(long, value_name = "FILE", env = "QUORATE_KEY", requires_all = ["cert", "ca"])]
    key: Option<PathBuf>,
    /// The certificate of the authority that signed the cluster's certificates
    #[arg(long, value_name = "FILE", env = "QUORATE_CA", requires_all = ["cert", "key"])]
    ca: Option<PathBuf>,
}

impl Connect {
    /// Connects to read something.
    pub(crate) async fn cluster(&self) -> Result<Cluster, Failure> {
        self.cluster_as(own_claimant(None, "").map_err(Failure::of)?, CONNECT_TIMEOUT).await
    }

    /// Connects on behalf of `claimant`, and fails after `timeout`.
    pub(crate) async fn cluster_as(
        &self,
        claimant: Claimant,
        timeout: Duration,
    ) -> Result<Cluster, Failure> {
        let mut options = Options::new(self.addresses.clone()).claimant(claimant).timeout(timeout);
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

/// A description of this process, for people only: nothing depends on it.
///
/// # Errors
///
/// The owner or the purpose is too long, or has control characters.
pub(crate) fn own_claimant(owner: Option<&str>, purpose: &str) -> Result<Claimant, TextError> {
    let user = || env::var("USER").ok().filter(|user| !user.is_empty());
    let user = || user().unwrap_or_else(|| format!("uid {}", unistd::getuid()));
    let host = unistd::gethostname().ok().and_then(|host| host.into_string().ok());
    Ok(Claimant {
        owner: match owner {
            Some(owner) => OwnerText::new("owner", owner)?,
            None => OwnerText::fitted(&user()),
        },
        host: HostText::fitted(&host.unwrap_or_default()),
        pid: process::id(),
        purpose: PurposeText::new("purpose", purpose)?,
    })
}

/// Runs `work` in a current-thread runtime. Tasks that still wait for input at its end are dropped.
pub(crate) fn block_on(work: impl Future<Output = Answer>) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::service)?;
    let answer = runtime.block_on(work);
    runtime.shutdown_background();
    answer
}

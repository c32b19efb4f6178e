//! `quorate up`: a whole cluster in this process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use quorate::{Cluster, Question};
use quorate_server::{Server, ServerError, SiteConfig};
use tokio::time::{Instant, sleep};

use super::signals::Signals;
use super::{ANSWER_TIMEOUT, FIRST_PORT, block_on};
use quorate_terminal::answer::{Answer, Failure, Verdict, print_lines};

/// Run a whole cluster in this process, to try things out
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate up --sites 3 --lease 1s\n\n\
    SIGTERM and Ctrl-C stop it; SIGHUP does not.")]
pub(crate) struct Up {
    /// The number of sites
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=64))]
    sites: u16,
    /// The quorum system; see `quorate quorum list`
    #[arg(long, value_name = "KIND", default_value = "majority")]
    quorum: String,
    /// The protocol of pools: ledger, on the quorum system, or arbiters
    #[arg(long, value_name = "PROTOCOL", default_value = "ledger")]
    pool: String,
    /// The port of the first site; the other sites use the ports after it
    #[arg(long, default_value_t = FIRST_PORT)]
    port: u16,
    /// The length of a lease, such as 500ms or 3s
    #[arg(long, value_name = "TIME", default_value = "3s",
        value_parser = humantime::parse_duration)]
    lease: Duration,
    /// The directory for the sites' durable state; a temporary one by default
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// How long the sites may take to connect to each other; usually it is a moment.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Waits until all sites are connected to each other.
async fn wait_until_connected(sites: &[String]) -> Result<(), Failure> {
    let cluster = Cluster::connect(sites[0].clone()).await.map_err(Failure::service)?;
    let end = Instant::now() + START_TIMEOUT;
    while Instant::now() < end {
        let gathered = cluster.ask(Question::Sites, ANSWER_TIMEOUT).await;
        if gathered.answers.len() == sites.len() {
            return Ok(());
        }
        sleep(Duration::from_millis(10)).await;
    }
    let time = humantime::format_duration(START_TIMEOUT);
    Err(Failure::Service(format!("the sites have not connected to each other within {time}")))
}

impl Up {
    /// Runs the cluster until a signal arrives.
    pub(crate) fn run(&self) -> Answer {
        let temporary = match self.data {
            Some(_) => None,
            None => Some(tempfile::tempdir().map_err(Failure::service)?),
        };
        let folder = temporary.as_ref().map(tempfile::TempDir::path).or(self.data.as_deref());
        let folder = folder.expect("one of the two is there");
        let sites = self.addresses()?;
        let start = |site: usize| self.start(site, &sites, folder);
        block_on(async {
            let mut signals = Signals::ignoring_hangup().map_err(Failure::service)?;
            let servers: Vec<Server> = (1..=sites.len()).map(start).collect::<Result<_, _>>()?;
            tokio::select! {
                connected = wait_until_connected(&sites) => connected?,
                _ = signals.next() => return Ok(Verdict::Clean),
            }
            print_lines(&self.banner(&sites))?;
            signals.next().await;
            for server in servers {
                server.stop().await;
            }
            print_lines(&["stopped".into()])?;
            Ok(Verdict::Clean)
        })
    }

    fn addresses(&self) -> Result<Vec<String>, Failure> {
        let last = self.port.checked_add(self.sites - 1).filter(|_| self.port > 0);
        let last = last.ok_or_else(|| {
            let (sites, port) = (self.sites, self.port);
            Failure::Input(format!(
                "{sites} sites need {sites} ports from {port} on, and ports are 1 to 65535; \
                 choose another --port"
            ))
        })?;
        Ok((self.port..=last).map(|port| format!("127.0.0.1:{port}")).collect())
    }

    fn start(&self, site: usize, sites: &[String], folder: &Path) -> Result<Server, Failure> {
        let config = SiteConfig {
            quorum: self.quorum.clone(),
            pool: self.pool.clone(),
            lease_ms: u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX),
            ..SiteConfig::new("up", site, sites, folder.join(format!("site-{site}")))
        };
        Server::start(&config).map_err(|error| match error {
            ServerError::Config(why) => Failure::Input(why),
            ServerError::Listen(..) => {
                Failure::Service(format!("{error}; choose other ports with --port"))
            }
            _ => Failure::service(error),
        })
    }

    fn banner(&self, sites: &[String]) -> Vec<String> {
        let lease = humantime::format_duration(self.lease);
        let (first, last) = (&sites[0], sites[sites.len() - 1].trim_start_matches("127.0.0.1:"));
        let range = if sites.len() == 1 { first.clone() } else { format!("{first} to {last}") };
        let data = match &self.data {
            Some(folder) => format!("state in {}", folder.display()),
            None => "no state is kept when it stops".to_owned(),
        };
        let count =
            if sites.len() == 1 { "1 site".into() } else { format!("{} sites", sites.len()) };
        let connect =
            if self.port == FIRST_PORT { String::new() } else { format!(" --connect {first}") };
        vec![
            format!("{count} on {range}: quorum {}, lease {lease}; {data}", self.quorum),
            String::new(),
            "Try these in a second terminal, and the first one in a third terminal too:".into(),
            format!(
                "  quorate lock deploy{connect} -- sh -c 'echo fence $QUORATE_FENCE; sleep 10'"
            ),
            format!("  quorate show deploy{connect}"),
            format!("  quorate sites{connect}"),
            String::new(),
            "Ctrl-C stops the cluster.".into(),
        ]
    }
}

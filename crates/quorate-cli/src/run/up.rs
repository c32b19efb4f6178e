//! `quorate up`: a whole cluster in this process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use quorate::{Cluster, Question};
use quorate_server::{Server, ServerError, SiteConfig};
use tokio::time::{Instant, sleep};

use super::signals::Signals;
use super::{ANSWERS, PORT, block_on};
use quorate_terminal::answer::{Answer, Failure, Verdict, say_lines};

/// Runs a whole cluster in this process, to try things out
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate up --sites 3 --lease 1s")]
pub(crate) struct Up {
    /// How many sites
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=64))]
    sites: u16,
    /// The quorum system; see `quorate quorum list`
    #[arg(long, value_name = "KIND", default_value = "majority")]
    quorum: String,
    /// The port of the first site; the others take the next ones
    #[arg(long, default_value_t = PORT)]
    port: u16,
    /// The length of a lease
    #[arg(long, value_name = "TIME", default_value = "3s",
        value_parser = humantime::parse_duration)]
    lease: Duration,
    /// The folder for what sites must remember; without it, it is forgotten at the end
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// How long the sites have to find each other; a moment is usual.
const MEETING: Duration = Duration::from_secs(10);

/// Waits until all sites hear each other.
async fn meet(sites: &[String]) -> Result<(), Failure> {
    let cluster = Cluster::connect(sites[0].clone()).await.map_err(Failure::service)?;
    let end = Instant::now() + MEETING;
    while Instant::now() < end {
        let gathered = cluster.ask(Question::Sites, ANSWERS).await;
        if gathered.answers.len() == sites.len() {
            return Ok(());
        }
        sleep(Duration::from_millis(10)).await;
    }
    Err(Failure::Service("the sites do not find each other on 127.0.0.1".into()))
}

impl Up {
    /// Runs the cluster until a signal comes.
    pub(crate) fn run(&self) -> Answer {
        let temporary = match self.data {
            Some(_) => None,
            None => Some(tempfile::tempdir().map_err(Failure::service)?),
        };
        let folder = temporary.as_ref().map(tempfile::TempDir::path).or(self.data.as_deref());
        let folder = folder.expect("one of the two is there");
        let sites = self.addresses()?;
        let start = |site: usize| self.start(site, &sites, folder);
        let servers: Vec<Server> = (1..=sites.len()).map(start).collect::<Result<_, _>>()?;
        block_on(async {
            let mut signals = Signals::new().map_err(Failure::service)?;
            tokio::select! {
                met = meet(&sites) => met?,
                _ = signals.next() => return Ok(Verdict::Clean),
            }
            say_lines(&self.greeting(&sites))?;
            signals.next().await;
            for server in servers {
                server.stop().await;
            }
            say_lines(&["stopped".into()])?;
            Ok(Verdict::Clean)
        })
    }

    fn addresses(&self) -> Result<Vec<String>, Failure> {
        let last = self.port.checked_add(self.sites - 1).filter(|_| self.port > 0);
        let last = last.ok_or_else(|| {
            let (sites, port) = (self.sites, self.port);
            Failure::Input(format!(
                "there are no {sites} ports from {port} on: they are 1 to 65535"
            ))
        })?;
        Ok((self.port..=last).map(|port| format!("127.0.0.1:{port}")).collect())
    }

    fn start(&self, site: usize, sites: &[String], folder: &Path) -> Result<Server, Failure> {
        let config = SiteConfig {
            quorum: self.quorum.clone(),
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

    fn greeting(&self, sites: &[String]) -> Vec<String> {
        let lease = humantime::format_duration(self.lease);
        let (first, last) = (&sites[0], sites[sites.len() - 1].trim_start_matches("127.0.0.1:"));
        let range = if sites.len() == 1 { first.clone() } else { format!("{first} to {last}") };
        let data = match &self.data {
            Some(folder) => format!("what they must remember is in {}", folder.display()),
            None => "all is forgotten at the end".to_owned(),
        };
        let count =
            if sites.len() == 1 { "1 site".into() } else { format!("{} sites", sites.len()) };
        let connect = if self.port == PORT { String::new() } else { format!(" --connect {first}") };
        vec![
            format!("{count} on {range}: quorum {}, lease {lease}; {data}", self.quorum),
            String::new(),
            "Try in a second terminal, and the first line in a third one too:".into(),
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

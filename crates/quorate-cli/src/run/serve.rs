//! `quorate serve`: one site of a cluster.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quorate_server::{Server, ServerError, SiteConfig};
use tracing_subscriber::EnvFilter;

use super::block_on;
use super::signals::Signals;
use quorate_terminal::answer::{Answer, Failure, Verdict, say_lines};

/// Runs one site of a cluster
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate serve --config /etc/quorate/site.toml\n\n\
    SIGTERM and Ctrl-C stop it; the environment variable QUORATE_LOG sets what is logged \
    (error, warn, info, debug).")]
pub(crate) struct Serve {
    /// The configuration; docs/operating.md has an example
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Reads and checks the configuration, and runs nothing
    #[arg(long)]
    check: bool,
    /// How the log is written, to standard error
    #[arg(long, value_name = "FORM", default_value = "text")]
    log: Log,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Log {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Serve {
    /// Runs the site until a signal comes.
    pub(crate) fn run(&self) -> Answer {
        let config = SiteConfig::read(&self.config).map_err(Failure::of)?;
        let sites = config.sites.len();
        if self.check {
            let quorums = config.quorums().map_err(Failure::of)?;
            let path = self.config.display();
            let (site, cluster) = (config.site, &config.cluster);
            let about = format!("site {site} of {sites}, cluster {cluster}, {}", quorums.name());
            say_lines(&[format!("{path} is fine: {about}, lease {} ms", config.lease_ms)])?;
            return Ok(Verdict::Clean);
        }
        self.log();
        let server = Server::start(&config).map_err(|error| match error {
            ServerError::Config(why) => Failure::Input(why),
            _ => Failure::service(error),
        })?;
        tracing::info!(cluster = config.cluster, site = config.site, sites,
            address = ?server.address(), tls = config.tls.is_some(), "the site runs");
        block_on(async {
            let mut signals = Signals::new().map_err(Failure::service)?;
            tokio::select! {
                signal = signals.next() => tracing::info!(%signal, "the site stops"),
                () = server.ended() => {
                    return Err(Failure::Service("the site has stopped; the log says why".into()));
                }
            }
            server.stop().await;
            Ok(Verdict::Clean)
        })
    }

    fn log(&self) {
        let filter = EnvFilter::try_from_env("QUORATE_LOG").unwrap_or_else(|_| "info".into());
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
        let log = log.with_target(false).with_ansi(io::stderr().is_terminal());
        match self.log {
            Log::Text => log.init(),
            Log::Json => log.json().flatten_event(true).init(),
        }
    }
}

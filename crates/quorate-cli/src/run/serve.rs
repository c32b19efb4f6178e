//! `quorate serve`: one site of a cluster.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quorate_server::{Server, ServerError, SiteConfig};
use tracing_subscriber::filter::LevelFilter;

use super::block_on;
use super::signals::Signals;
use quorate_terminal::answer::{Answer, Failure, Verdict, print_lines};

/// Run one site of a cluster
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate serve --config /etc/quorate/site.toml\n\n\
    SIGTERM, SIGHUP and Ctrl-C stop it. The environment variable QUORATE_LOG sets the log level: \
    off, error, warn, info (the default), debug or trace.")]
pub(crate) struct Serve {
    /// The configuration file; docs/operating.md has an example
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Check the configuration and exit
    #[arg(long)]
    check: bool,
    /// The format of the log on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log: LogFormat,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// Lines for people
    Text,
    /// One JSON object per line
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
            print_lines(&[format!("{path} is fine: {about}, lease {} ms", config.lease_ms)])?;
            return Ok(Verdict::Clean);
        }
        self.log(level(env::var_os("QUORATE_LOG"))?);
        let server = Server::start(&config).map_err(|error| match error {
            ServerError::Config(why) => Failure::Input(why),
            _ => Failure::service(error),
        })?;
        tracing::info!(
            cluster = config.cluster,
            site = config.site,
            sites,
            address = server.address().map(display),
            tls = config.tls.is_some(),
            "the site runs"
        );
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

    fn log(&self, level: LevelFilter) {
        let log = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr);
        let log = log.with_target(false).with_ansi(io::stderr().is_terminal());
        match self.log {
            LogFormat::Text => log.init(),
            LogFormat::Json => log.json().flatten_event(true).init(),
        }
    }
}

/// The level named by the value of `QUORATE_LOG`; `info` if it is unset or empty.
fn level(value: Option<OsString>) -> Result<LevelFilter, Failure> {
    let value = value.unwrap_or_default().to_string_lossy().into_owned();
    match value.to_ascii_lowercase().as_str() {
        "off" => Ok(LevelFilter::OFF),
        "error" => Ok(LevelFilter::ERROR),
        "warn" => Ok(LevelFilter::WARN),
        "" | "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        "trace" => Ok(LevelFilter::TRACE),
        _ => Err(Failure::Input(format!(
            "QUORATE_LOG is `{value}`, which is not a log level; \
             use off, error, warn, info, debug or trace"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_may_be_upper_or_lower_case() {
        assert_eq!(level(Some("debug".into())).unwrap(), LevelFilter::DEBUG);
        assert_eq!(level(Some("WARN".into())).unwrap(), LevelFilter::WARN);
        assert_eq!(level(Some("off".into())).unwrap(), LevelFilter::OFF);
    }

    #[test]
    fn the_default_level_is_info() {
        assert_eq!(level(None).unwrap(), LevelFilter::INFO);
        assert_eq!(level(Some("".into())).unwrap(), LevelFilter::INFO);
    }

    #[test]
    fn anything_else_is_refused() {
        for value in ["verbose", "quorate_server=debug", "debug,rustls=warn", "3"] {
            let Err(Failure::Input(why)) = level(Some(value.into())) else {
                panic!("`{value}` is accepted as a level")
            };
            assert!(why.contains(value) && why.contains("debug"), "{why}");
        }
    }
}

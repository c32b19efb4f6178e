//! `quorate serve`: one site of a cluster.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::SystemTime;

use clap::{Args, ValueEnum};
use quorate_server::{Findings, Server, ServerError, SiteConfig};
use tracing_subscriber::filter::LevelFilter;

use super::block_on;
use super::signals::Signals;
use quorate_terminal::answer::{Answer, Failure, Verdict, print_lines};

/// Run one site of a cluster
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate serve --config /etc/quorate/site.toml\n\n\
    SIGTERM and Ctrl-C stop it within the time `drain` of its configuration: its clients go to \
    other sites, and those that hold locks have this time to finish. A second signal stops it at \
    once. SIGHUP is ignored. --check prints all errors and warnings, starts \
    nothing and changes nothing; its exit code is 2 if there are errors. The environment \
    variable QUORATE_LOG sets the log level: off, error, warn, info (the default), debug or \
    trace.")]
pub(crate) struct Serve {
    /// The configuration file; docs/operating.md has an example
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Check the configuration, the certificates and the data folder, and exit
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
    /// Runs the site, or checks its configuration.
    pub(crate) fn run(&self) -> Answer {
        let config = SiteConfig::read(&self.config).map_err(Failure::of)?;
        let now = SystemTime::now();
        if self.check {
            return self.report(&config, config.findings_without_start(now));
        }
        let findings = config.findings(now);
        if !findings.errors.is_empty() {
            return self.report(&config, findings);
        }
        self.log(level(env::var_os("QUORATE_LOG"))?);
        for what in &findings.warnings {
            tracing::warn!(what, "a warning about the configuration");
        }
        block_on(self.serve(&config))
    }

    /// Runs the site until a signal comes.
    async fn serve(&self, config: &SiteConfig) -> Answer {
        let mut signals = Signals::ignoring_hangup().map_err(Failure::service)?;
        let server = Server::start(config).map_err(|error| match error {
            ServerError::Config(why) => Failure::Input(why),
            _ => Failure::service(error),
        })?;
        tracing::info!(
            cluster = config.cluster,
            site = config.site,
            sites = config.sites.len(),
            address = server.address().map(|address| address.to_string()),
            tls = config.tls.is_some(),
            "the site runs"
        );
        tokio::select! {
            signal = signals.next() => {
                let within = humantime::format_duration(config.drain);
                tracing::info!(%signal, %within, "the site is about to stop");
            }
            () = server.ended() => {
                return Err(Failure::Service("the site has stopped; the log says why".into()));
            }
        }
        tokio::select! {
            () = server.drain(config.drain) => {}
            _ = signals.next() => server.stop().await,
        }
        tracing::info!("the site stops");
        Ok(Verdict::Clean)
    }

    /// Reports what a check found.
    fn report(&self, config: &SiteConfig, findings: Findings) -> Answer {
        let path = self.config.display();
        let is_fine = findings.errors.is_empty();
        let list = |sort: &'static str, all: Vec<String>| {
            all.into_iter().map(move |what| format!("  {sort}: {what}"))
        };
        let mut lines: Vec<String> = list("error", findings.errors).collect();
        lines.extend(list("warning", findings.warnings));
        if !is_fine {
            return Err(Failure::Input(format!("{path} cannot be used\n{}", lines.join("\n"))));
        }
        let quorums = config.quorums().map_err(Failure::of)?;
        let (site, sites, cluster) = (config.site, config.sites.len(), &config.cluster);
        let about = format!("site {site} of {sites}, cluster {cluster}, {}", quorums.name());
        lines.insert(0, format!("{path} is fine: {about}, lease {} ms", config.lease_ms));
        print_lines(&lines)?;
        Ok(Verdict::Clean)
    }

    fn log(&self, level: LevelFilter) {
        let log = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr);
        // If standard error fails, as that of a closed terminal, it cannot be told there: the
        // attempt would end the site.
        let log = log.log_internal_errors(false);
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

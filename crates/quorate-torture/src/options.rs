//! Options of a run.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::faults::{Nemesis, Setting};
use crate::share::Kind;

/// What a run does. The same options with the same seed give the same schedule of faults and
/// claims.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// How long it runs, in minutes
    #[arg(long, default_value_t = 5.0, value_parser = minutes)]
    pub(crate) minutes: f64,

    /// The seed of the schedule
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// A comma-separated list of faults, all by default; `--nemesis list` describes them
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) nemesis: Vec<String>,

    /// A comma-separated list of kinds of locks, all by default
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) kinds: Vec<Kind>,

    /// The length of a lease, in milliseconds
    #[arg(long, default_value_t = 1000, value_name = "MS",
          value_parser = clap::value_parser!(u32).range(200..=60_000))]
    pub(crate) lease: u32,

    /// The number of sites
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=13))]
    pub(crate) sites: u8,

    /// The number of thin clients
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u8).range(1..=50))]
    pub(crate) clients: u8,

    /// The number of hosts that run `quorate lock`
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=20))]
    pub(crate) commands: u8,

    /// The protocol of pools
    #[arg(long, default_value = "ledger", value_name = "PROTOCOL",
          value_parser = ["ledger", "arbiters"])]
    pub(crate) pool: String,

    /// Let clients ignore their deadlines: a run that must find violations
    #[arg(long)]
    pub(crate) control: bool,

    /// Run the schedule of an earlier run again, from its folder
    #[arg(long, value_name = "DIR")]
    pub(crate) replay: Option<PathBuf>,

    /// Judge the history of an earlier run again, from its folder, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    pub(crate) judge: Option<PathBuf>,

    /// The folder for history, logs and report
    #[arg(long, default_value = "target/torture", value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// The program `quorate`; beside this one by default
    #[arg(long, value_name = "FILE")]
    pub(crate) quorate: Option<PathBuf>,

    /// Fail if namespaces cannot be had, in place of a run on loopback addresses
    #[arg(long)]
    pub(crate) strict: bool,

    /// This process is in namespaces of its own already
    #[arg(long, hide = true)]
    pub(crate) inside: bool,
}

/// The names of the options that a run is repeated with.
const REPEATED: [&str; 7] = ["minutes", "seed", "lease", "sites", "clients", "commands", "pool"];

impl Options {
    pub(crate) fn setting(&self) -> Setting {
        Setting {
            sites: self.sites.into(),
            clients: self.clients.into(),
            commands: self.commands.into(),
            lease: Duration::from_millis(self.lease.into()),
        }
    }

    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs_f64(self.minutes * 60.0)
    }

    pub(crate) fn kinds(&self) -> Vec<Kind> {
        if self.kinds.is_empty() { Kind::ALL.to_vec() } else { self.kinds.clone() }
    }

    /// The chosen faults.
    pub(crate) fn nemeses(&self) -> Result<Vec<Nemesis>, String> {
        if self.nemesis.is_empty() {
            return Ok(Nemesis::ALL.to_vec());
        }
        self.nemesis.iter().filter(|name| *name != "none").map(|name| name.parse()).collect()
    }

    /// The arguments that repeat this run.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let values = [
            self.minutes.to_string(),
            self.seed.to_string(),
            self.lease.to_string(),
            self.sites.to_string(),
            self.clients.to_string(),
            self.commands.to_string(),
            self.pool.clone(),
        ];
        let pairs = REPEATED.iter().zip(values);
        let mut arguments: Vec<String> =
            pairs.flat_map(|(name, value)| [format!("--{name}"), value]).collect();
        if !self.nemesis.is_empty() {
            arguments.extend(["--nemesis".into(), self.nemesis.join(",")]);
        }
        if !self.kinds.is_empty() {
            let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
            arguments.extend(["--kinds".into(), kinds.join(",")]);
        }
        if self.control {
            arguments.push("--control".into());
        }
        arguments
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.1..=1440.0).contains(&minutes) { Ok(minutes) } else { Err("take 0.1 to 1440".into()) }
}

//! The configuration of a site: `site.toml`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use quorate_net::tls::TlsConfig;
use quorate_quorum::{Kind, QuorumSystem, SiteId, build};
use quorate_session::session::{ClusterId, Drift, Lease, Terms};
use quorate_site::group::{self, Choice};
use quorate_site::kinds::PoolProtocol;
use quorate_site::role::{self, Overrun};
use quorate_wire::Configuration;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::ServerError;
use crate::admission::HANDSHAKES_MAX;

/// The configuration of a site, as in `site.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteConfig {
    /// The name of the cluster; sites of another one are refused.
    pub cluster: String,
    /// The place of this site in the list, counted from 1.
    pub site: usize,
    /// The addresses of all sites, in the same order everywhere.
    pub sites: Vec<String>,
    /// Where this site listens, for sites and clients; by default its address in the list.
    pub listen: Option<SocketAddr>,
    /// A Unix socket for clients on this machine, in addition.
    pub unix: Option<PathBuf>,
    /// The folder of its record on disk. A site that has lost it must not come back.
    pub data: PathBuf,
    /// The quorum system.
    #[serde(default = "majority")]
    pub quorum: String,
    /// Which protocol pools have: `ledger`, which uses the quorum system, or `arbiters`, which
    /// needs more sites the fewer units a claim asks for.
    #[serde(default = "pool")]
    pub pool: String,
    /// The length of a lease, in milliseconds.
    #[serde(default = "lease_ms")]
    pub lease_ms: u64,
    /// By how much the rates of two clocks may differ, in parts per thousand.
    #[serde(default = "drift")]
    pub drift_permille: u16,
    /// How many callers of one site may hold a lock in a row while another site waits.
    #[serde(default = "local_turns")]
    pub local_turns: u32,
    /// How many clients may be connected at the same time; by default as many as the process may
    /// have file descriptors for, and at most 16384.
    pub clients_max: Option<usize>,
    /// How long callers that are inside have to leave when this site is asked to stop.
    #[serde(default = "drain", deserialize_with = "read_time")]
    pub drain: Duration,
    /// Which of its groups the first caller of a group lock takes: `arbitrary` for the first by
    /// name, or `most-waiting` for the one that most waiters could join.
    #[serde(default = "group_choice")]
    pub group_choice: String,
    /// How long later callers may join an occupancy of a group lock while another group waits, in
    /// milliseconds; by default for as long as the occupancy lasts.
    pub group_limit_ms: Option<u64>,
    /// What happens to a member of a role lock that stays longer than declared: with `revoke` it
    /// loses its grant, with `tolerate` the others wait.
    #[serde(default = "role_overrun")]
    pub role_overrun: String,
    /// How much longer than declared it may stay, in milliseconds.
    #[serde(default = "role_grace_ms")]
    pub role_grace_ms: u64,
    /// The longest that a stage of a role lock is planned for, in milliseconds.
    pub role_cap_ms: Option<u64>,
    /// Whether a stage of a role lock that no other group waits for can be extended.
    #[serde(default = "yes")]
    pub role_extend: bool,
    /// Whether connections without TLS are allowed on other networks than loopback.
    #[serde(default)]
    pub insecure: bool,
    /// Certificates; without them there is no TLS.
    pub tls: Option<TlsConfig>,
}

fn majority() -> String {
    "majority".into()
}

fn pool() -> String {
    PoolProtocol::ALL[0].0.into()
}

fn lease_ms() -> u64 {
    3000
}

fn drift() -> u16 {
    10
}

fn drain() -> Duration {
    Duration::from_secs(10)
}

fn local_turns() -> u32 {
    quorate_site::Config::LOCAL_TURNS
}

fn group_choice() -> String {
    Choice::ALL[0].0.into()
}

fn role_overrun() -> String {
    "revoke".into()
}

fn role_grace_ms() -> u64 {
    1000
}

fn yes() -> bool {
    true
}

impl SiteConfig {
    /// The default configuration of site `site`, counted from 1, of those at these addresses, with
    /// its record in the folder `data`.
    pub fn new(cluster: &str, site: usize, sites: &[String], data: PathBuf) -> Self {
        Self {
            cluster: cluster.to_owned(),
            site,
            sites: sites.to_vec(),
            listen: None,
            unix: None,
            data,
            quorum: majority(),
            pool: pool(),
            lease_ms: lease_ms(),
            drift_permille: drift(),
            local_turns: local_turns(),
            clients_max: None,
            drain: drain(),
            group_choice: group_choice(),
            group_limit_ms: None,
            role_overrun: role_overrun(),
            role_grace_ms: role_grace_ms(),
            role_cap_ms: None,
            role_extend: true,
            insecure: false,
            tls: None,
        }
    }

    /// Reads a file. It is not checked yet.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a configuration.
    pub fn read(path: &Path) -> Result<Self, ServerError> {
        let problem = |why: String| ServerError::Config(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
        toml::from_str(&text).map_err(|error| {
            let hint = if has_epoch(&text) { EPOCH_IS_GONE } else { "" };
            problem(format!("{error}{hint}"))
        })
    }

    /// Checks that a site can run with this configuration.
    ///
    /// # Errors
    ///
    /// The message says all that is wrong, and what would be right.
    pub fn check(&self) -> Result<(), ServerError> {
        let errors = self.findings(SystemTime::now()).errors;
        if errors.is_empty() { Ok(()) } else { Err(ServerError::Config(errors.join("; "))) }
    }

    /// This site.
    pub fn me(&self) -> SiteId {
        SiteId::new(self.site - 1)
    }

    /// The quorum system.
    ///
    /// # Errors
    ///
    /// There is no such construction, or none for this number of sites.
    pub fn quorums(&self) -> Result<Arc<dyn QuorumSystem>, ServerError> {
        let wrong =
            |why: String| ServerError::Config(format!("quorum = \"{}\": {why}", self.quorum));
        let kind: Kind = self.quorum.parse().map_err(|error| wrong(format!("{error}")))?;
        build(kind, self.sites.len()).map_err(|error| wrong(error.to_string()))
    }

    /// The terms of its sessions.
    ///
    /// # Errors
    ///
    /// The lease or the drift is out of range.
    pub fn terms(&self) -> Result<Terms, ServerError> {
        Ok(Terms::new(self.cluster_id()?, self.lease()?, self.drift()?))
    }

    pub(crate) fn lease(&self) -> Result<Lease, ServerError> {
        let lease = Lease::new(Duration::from_millis(self.lease_ms));
        lease.map_err(|error| ServerError::Config(format!("lease_ms: {error}")))
    }

    pub(crate) fn drift(&self) -> Result<Drift, ServerError> {
        let drift = Drift::new(self.drift_permille);
        drift.map_err(|error| ServerError::Config(format!("drift_permille: {error}")))
    }

    /// How many clients may be connected at the same time, with this many descriptors.
    pub(crate) fn clients_max_of(&self, descriptors: usize) -> usize {
        let room = descriptors.saturating_sub(self.reserved_descriptors());
        self.clients_max.unwrap_or(CLIENTS_MAX).min(room)
    }

    /// The file descriptors that clients leave for all else: two connections to each other site,
    /// handshakes, and files.
    pub(crate) fn reserved_descriptors(&self) -> usize {
        FILES + HANDSHAKES_MAX + 2 * self.sites.len()
    }

    /// Which protocol pools have.
    pub(crate) fn pool_protocol(&self) -> Result<PoolProtocol, ServerError> {
        one_of("pool", &self.pool, &PoolProtocol::ALL)
    }

    /// The options of group locks.
    pub(crate) fn group_options(&self) -> Result<group::Options, ServerError> {
        let choice = one_of("group_choice", &self.group_choice, &Choice::ALL)?;
        let limit = self.group_limit_ms.map(Duration::from_millis);
        Ok(group::Options { choice, limit, spares: None })
    }

    /// The options of role locks.
    pub(crate) fn role_options(&self) -> Result<role::Options, ServerError> {
        Ok(role::Options {
            extend: self.role_extend,
            cap: self.role_cap_ms.map(Duration::from_millis),
            overrun: one_of("role_overrun", &self.role_overrun, &Overrun::ALL)?,
            grace: Duration::from_millis(self.role_grace_ms),
            ..role::Options::default()
        })
    }

    /// The settings that must be equal at all sites, as sites compare them when they connect. The
    /// name of the cluster comes first.
    pub(crate) fn configuration(&self) -> Configuration {
        let optional = |value: Option<u64>| value.map_or("none".to_owned(), |ms| ms.to_string());
        let own = |field: &str, value: String| (field.to_owned(), value);
        let sites = self.sites.iter().zip(1..);
        let mut all = vec![
            own("cluster", self.cluster.clone()),
            own("sites", format!("{} addresses", self.sites.len())),
        ];
        all.extend(sites.map(|(address, n)| (format!("sites[{n}]"), address.clone())));
        all.extend([
            own("quorum", self.quorum.clone()),
            own("pool", self.pool.clone()),
            own("lease_ms", self.lease_ms.to_string()),
            own("drift_permille", self.drift_permille.to_string()),
            own("group_choice", self.group_choice.clone()),
            own("group_limit_ms", optional(self.group_limit_ms)),
            own("role_overrun", self.role_overrun.clone()),
            own("role_grace_ms", self.role_grace_ms.to_string()),
            own("role_cap_ms", optional(self.role_cap_ms)),
            own("role_extend", self.role_extend.to_string()),
        ]);
        all.into_iter().collect()
    }

    /// A hash of the cluster's name and of the settings that the sessions of clients depend on: a
    /// client that knew the cluster with others is refused. Each session tells its own lease.
    pub(crate) fn cluster_id(&self) -> Result<ClusterId, ServerError> {
        let Self { cluster, sites, quorum, drift_permille, .. } = self;
        let wrong = |error: quorate_session::SiteError| {
            ServerError::Config(format!("cluster = \"{cluster}\": {error}"))
        };
        cluster.parse::<quorate_session::Name>().map_err(wrong)?;
        let whole = format!("{} {quorum} {drift_permille} {cluster}", sites.len());
        // A name may have the full length by itself; then its end is cut off.
        let end = whole.floor_char_boundary(quorate_session::Name::MAX_BYTES);
        let name: quorate_session::Name = whole[..end].parse().map_err(wrong)?;
        Ok(ClusterId(name.hash64()))
    }

    /// The configuration of the pure site.
    ///
    /// # Errors
    ///
    /// As [`SiteConfig::check`].
    pub fn site_config(&self) -> Result<quorate_site::Config, ServerError> {
        let mut config = quorate_site::Config::new(self.me(), self.quorums()?);
        config.terms = self.terms()?;
        config.local_turns = self.local_turns;
        config.settings.pools = self.pool_protocol()?;
        config.settings.group = self.group_options()?;
        config.settings.role = self.role_options()?;
        Ok(config)
    }
}

/// How many clients are taken by default, if there are descriptors for them.
const CLIENTS_MAX: usize = 16_384;

/// How many file descriptors a site needs beside its connections, generously.
const FILES: usize = 64;

/// Said of a configuration for earlier versions.
const EPOCH_IS_GONE: &str = "`epoch` is gone: remove the line. Sites compare the list of sites and \
    all other settings that must be equal; to change one, stop all sites first";

fn has_epoch(text: &str) -> bool {
    text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("epoch"))
}

/// Reads a time such as `10s` or `1m 30s`.
fn read_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text).map_err(|error| {
        D::Error::custom(format!("`{text}` is not a time: {error}; write it like \"10s\""))
    })
}

/// The value with this name.
fn one_of<T: Copy>(key: &str, text: &str, all: &[(&str, T)]) -> Result<T, ServerError> {
    let found = all.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        ServerError::Config(format!("{key} = \"{text}\": expected {}", names.join(" or ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> SiteConfig {
        let base = "site = 1\ndata = \"d\"\nsites = [\"127.0.0.1:1\", \"127.0.0.1:2\"]\n";
        toml::from_str(&format!("{base}{text}")).unwrap()
    }

    /// A test of the list itself: what is left out is one site's own.
    #[test]
    fn all_settings_that_must_be_equal_are_compared() {
        let ours = config("cluster = \"prod\"");
        for (field, line) in [
            ("quorum", "quorum = \"tree\""),
            ("pool", "pool = \"arbiters\""),
            ("lease_ms", "lease_ms = 500"),
            ("drift_permille", "drift_permille = 5"),
            ("group_choice", "group_choice = \"most-waiting\""),
            ("group_limit_ms", "group_limit_ms = 5"),
            ("role_overrun", "role_overrun = \"tolerate\""),
            ("role_grace_ms", "role_grace_ms = 5"),
            ("role_cap_ms", "role_cap_ms = 5"),
            ("role_extend", "role_extend = false"),
        ] {
            let other = config(&format!("cluster = \"prod\"\n{line}"));
            let found = ours.configuration().differences(&other.configuration());
            let fields: Vec<&str> = found.iter().map(|found| found.field.as_str()).collect();
            assert_eq!(fields, [field]);
        }
        let own = config("cluster = \"prod\"\nlocal_turns = 1\ninsecure = true\nunix = \"u\"");
        assert_eq!(ours.configuration(), own.configuration());
        let mut other = ours.clone();
        other.sites.reverse();
        let found = ours.configuration().differences(&other.configuration());
        assert_eq!(found[0].to_string(), "sites[1] differs: 127.0.0.1:1 here, 127.0.0.1:2 there");
    }

    #[test]
    fn sessions_depend_on_less() {
        let cluster_id = |text: &str| config(text).terms().unwrap().cluster_id;
        let ours = cluster_id("cluster = \"prod\"");
        assert_eq!(cluster_id("cluster = \"prod\"\nlease_ms = 500"), ours);
        for other in [
            "cluster = \"test\"",
            "cluster = \"prod\"\nquorum = \"tree\"",
            "cluster = \"prod\"\ndrift_permille = 5",
        ] {
            assert_ne!(cluster_id(other), ours, "{other}");
        }
    }

    #[test]
    fn an_invalid_setting_is_refused_with_the_valid_ones() {
        for (text, says) in [
            ("cluster = \"\"", "cluster = \"\": invalid name: it is empty"),
            ("cluster = \"p\"\nlease_ms = 1", "a lease of 1ms is out of range; take 200ms to 60s"),
            ("cluster = \"p\"\nquorum = \"circle\"", "quorum = \"circle\""),
            ("cluster = \"p\"\npool = \"units\"", "pool = \"units\": expected ledger or arbiters"),
            (
                "cluster = \"p\"\ngroup_choice = \"best\"",
                "group_choice = \"best\": expected arbitrary or most-waiting",
            ),
            (
                "cluster = \"p\"\nrole_overrun = \"kill\"",
                "role_overrun = \"kill\": expected tolerate or revoke",
            ),
        ] {
            let error = config(text).check().unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}

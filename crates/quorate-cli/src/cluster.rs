//! The cluster and its callers, as the command line describes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use quorate_quorum::{Kind, Listed, QuorumError, QuorumSystem, SiteId, SiteSet, build};
use quorate_sim::{Setting, Subject};

use crate::answer::Failure;
use crate::figures::counted;

/// The flags that describe a cluster and what its callers do.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterArgs {
    /// How many sites there are [default: 5 in `sim`, 3 in `check`]
    #[arg(long, value_name = "N")]
    pub(crate) sites: Option<usize>,
    /// The quorum system: a kind, or a file with lines like `quorum 1: 1 2 3`
    #[arg(long, value_name = "KIND|FILE", default_value = "majority")]
    pub(crate) quorum: String,
    /// Claims made at each site: one number for all, or one for each [default: 2 in `sim`, 1 in
    /// `check`]
    #[arg(long, value_name = "R|R,R,..")]
    pub(crate) requests: Option<Requests>,
    /// What callers claim, in turn, parted by semicolons and spelt as in scripts
    #[arg(long, value_name = "LIST")]
    pub(crate) claims: Option<String>,
    /// Sets a switch of the protocol; may be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub(crate) options: Vec<Setting>,
    /// How many waiting callers may give up
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) gives_up: u32,
    /// With sessions that can end, instead of the papers' channels that never fail; in `sim random`
    /// whole sites
    #[arg(long)]
    pub(crate) site: bool,
}

/// How many claims are made at each site, as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Requests(Vec<u32>);

impl FromStr for Requests {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| {
            let wrong = || format!("expected a number, or numbers parted by commas, not `{part}`");
            part.trim().parse().map_err(|_| wrong())
        };
        text.split(',').map(number).collect::<Result<_, _>>().map(Self)
    }
}

fn parse_setting(text: &str) -> Result<Setting, String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok(Setting { name: name.to_owned(), value: value.to_owned() })
}

/// A cluster and what its callers do.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// The sites and their quorums.
    pub(crate) quorums: Arc<dyn QuorumSystem>,
    /// How many claims are made at each site.
    pub(crate) requests: Vec<u32>,
    args: ClusterArgs,
}

impl ClusterArgs {
    /// The cluster that is meant, with this many sites and requests where nothing is said.
    pub(crate) fn resolve(&self, sites: usize, requests: u32) -> Result<Cluster, Failure> {
        let quorums = self.quorums(sites)?;
        let requests = self.requests(&*quorums, requests)?;
        Ok(Cluster { quorums, requests, args: self.clone() })
    }

    fn quorums(&self, default: usize) -> Result<Arc<dyn QuorumSystem>, Failure> {
        let unknown = match self.quorum.parse::<Kind>() {
            Ok(kind) => {
                let n = self.sites.unwrap_or(default);
                return build(kind, n).map_err(Failure::of);
            }
            Err(error) => error,
        };
        let listed = read_listed(&self.quorum, &unknown)?;
        match self.sites {
            Some(n) if n != listed.n() => {
                let (file, has) = (&self.quorum, listed.n());
                Err(format!("--sites {n}, but {file} has {has} sites; leave --sites out").into())
            }
            _ => Ok(Arc::new(listed)),
        }
    }

    /// One number for each site. A site without a quorum cannot ask.
    fn requests(&self, quorums: &dyn QuorumSystem, default: u32) -> Result<Vec<u32>, Failure> {
        let n = quorums.n();
        let all = SiteSet::full(n);
        let can_ask = |site| quorums.pick_for(site, &all).is_some();
        let one_for_all = |number: u32| {
            SiteId::all(n).map(|site| if can_ask(site) { number } else { 0 }).collect()
        };
        match self.requests.as_ref().map(|requests| &requests.0[..]) {
            None => Ok(one_for_all(default)),
            Some(&[number]) => Ok(one_for_all(number)),
            Some(numbers) if numbers.len() != n => {
                let given = numbers.len();
                Err(format!(
                    "--requests names {given} of {n} sites; expected one number for all, or {n}"
                )
                .into())
            }
            Some(numbers) => {
                let asks = SiteId::all(n).zip(numbers).filter(|(_, number)| **number > 0);
                match asks.map(|(site, _)| site).find(|site| !can_ask(*site)) {
                    Some(site) => {
                        Err(format!("site {site} has no quorum to ask; expected 0 as its requests")
                            .into())
                    }
                    None => Ok(numbers.to_vec()),
                }
            }
        }
    }
}

fn read_listed(file: &str, unknown: &QuorumError) -> Result<Listed, Failure> {
    let path = Path::new(file);
    if !path.exists() && path.components().count() == 1 && path.extension().is_none() {
        return Err(format!("{unknown}; nor is there a file of that name").into());
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
    text.parse().map_err(|error| in_file(file, &error))
}

/// What is wrong with a quorum file, and where.
pub(crate) fn in_file(file: &str, error: &QuorumError) -> Failure {
    match error {
        QuorumError::Line { line, message } => format!("{file}:{line}: {message}").into(),
        other => format!("{file}: {other}").into(),
    }
}

impl Cluster {
    /// How many sites there are.
    pub(crate) fn n(&self) -> usize {
        self.quorums.n()
    }

    /// The quorum system as it was asked for.
    pub(crate) fn quorum(&self) -> &str {
        &self.args.quorum
    }

    /// The switches that were set.
    pub(crate) fn settings(&self) -> &[Setting] {
        &self.args.options
    }

    /// The switches that were set, by name.
    pub(crate) fn options(&self) -> BTreeMap<&str, &str> {
        let pairs = self.settings().iter();
        pairs.map(|setting| (setting.name.as_str(), setting.value.as_str())).collect()
    }

    /// How many waiting callers may give up.
    pub(crate) fn gives_up(&self) -> u32 {
        self.args.gives_up
    }

    /// What callers claim, in turn.
    pub(crate) fn claims<P: Subject>(&self) -> Result<Vec<P::Claim>, Failure> {
        let list = self.args.claims.as_deref().unwrap_or_default();
        let parse = |claim: &str| {
            P::parse_claim(&claim.split_whitespace().collect::<Vec<_>>())
                .map_err(|why| Failure::Input(format!("--claims: {why}")))
        };
        list.split(';').map(parse).collect()
    }

    /// The size of the sites' quorums, if it is the same for all.
    pub(crate) fn quorum_size(&self) -> Option<usize> {
        let all = SiteSet::full(self.n());
        let quorums = SiteId::all(self.n()).filter_map(|site| self.quorums.pick_for(site, &all));
        let mut sizes = quorums.map(|quorum| quorum.len());
        let first = sizes.next()?;
        sizes.all(|size| size == first).then_some(first)
    }

    /// The cluster in a line, for people.
    pub(crate) fn describe(&self, protocol: &str) -> String {
        let (name, n) = (self.quorums.name(), counted(self.n() as u64, "site", "sites"));
        let options = self.settings().iter().map(|s| format!(", {}={}", s.name, s.value));
        format!("{protocol}, {n}, {name}{}", options.collect::<String>())
    }

    /// The flags that give this cluster again.
    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let mut add = |flag: &str, value: &str| flags.push(format!("{flag} {}", quoted(value)));
        if let Some(sites) = self.args.sites {
            add("--sites", &sites.to_string());
        }
        if self.quorum() != "majority" {
            add("--quorum", self.quorum());
        }
        if let Some(Requests(numbers)) = &self.args.requests {
            let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
            add("--requests", &numbers.join(","));
        }
        if let Some(claims) = &self.args.claims {
            add("--claims", claims);
        }
        for Setting { name, value } in self.settings() {
            add("--option", &format!("{name}={value}"));
        }
        if self.gives_up() > 0 {
            add("--gives-up", &self.gives_up().to_string());
        }
        flags
    }
}

/// `text` as one word of a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,/:+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

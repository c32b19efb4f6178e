//! The cluster and its callers, as the command line describes them.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use quorate_quorum::{Kind, Listed, QuorumError, QuorumSystem, SiteId, SiteSet};
use quorate_sim::{AnyProtocol, AnySetup, Claims, Facts, Setting, Shape};

use quorate_terminal::answer::Failure;
use quorate_terminal::figures::counted;

/// The flags that describe a cluster and what its callers do.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterArgs {
    /// How many sites there are [default: 5 in `sim`, 3 in `check`]
    #[arg(long, value_name = "N")]
    pub(crate) sites: Option<usize>,
    /// The quorum system: a kind, or a file with lines like `quorum 1: 1 2 3` [default: majority,
    /// or uniform for a pool]
    #[arg(long, value_name = "KIND|FILE")]
    pub(crate) quorum: Option<String>,
    /// Claims made at each site: one number for all, or one for each [default: 2 in `sim`, 1 in
    /// `check`]
    #[arg(long, value_name = "R|R,R,..")]
    pub(crate) requests: Option<Requests>,
    /// What callers claim, as in scripts: semicolons separate sites, commas the successive claims
    /// of a site; both lists start over when they are used up
    #[arg(long, value_name = "LIST")]
    pub(crate) claims: Option<String>,
    /// How many claims of a site may be under way at once, where the protocol allows several
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) at_once: NonZeroUsize,
    /// Set an option of the protocol; may be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub(crate) options: Vec<Setting>,
    /// How many waiting callers may give up
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) gives_up: u32,
    /// Use sessions that can end instead of the papers' reliable channels; in `sim random`, run
    /// whole sites
    #[arg(long)]
    pub(crate) site: bool,
}

/// The argument of `--requests`.
#[derive(Clone, Debug)]
pub(crate) struct Requests(Vec<u32>);

impl FromStr for Requests {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| {
            let wrong = || format!("expected a number, or comma-separated numbers, not `{part}`");
            part.trim().parse().map_err(|_| wrong())
        };
        text.split(',').map(number).collect::<Result<_, _>>().map(Self)
    }
}

fn parse_setting(text: &str) -> Result<Setting, String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok(Setting { name: name.to_owned(), value: value.to_owned() })
}

/// A cluster and its callers, for any protocol.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// How many claims are made at each site.
    pub(crate) requests: Vec<u32>,
    /// The quorum of each site when all are up, if it does not depend on the claim.
    pub(crate) own: Vec<Option<SiteSet>>,
    name: String,
    quorum: String,
    args: ClusterArgs,
}

/// A cluster as described, its setup for a world, and the claims of its callers.
pub(crate) type Resolved = (Cluster, Arc<dyn AnySetup>, Claims);

impl ClusterArgs {
    /// The described cluster, with defaults for the numbers of sites and requests.
    pub(crate) fn resolve(
        &self,
        protocol: &dyn AnyProtocol,
        sites: usize,
        requests: u32,
    ) -> Result<Resolved, Failure> {
        self.refuse_faults(protocol.facts())?;
        let claims = self.claims(protocol)?;
        let quorum = self.quorum.as_deref().unwrap_or(protocol.facts().quorum);
        let all: Vec<_> = claims.iter().cloned().collect();
        let setup = protocol.setup(&self.shape(quorum, sites)?, &all)?;
        let n = setup.n();
        if let Some(sites) = self.sites.filter(|&sites| sites != n) {
            let why = format!("--sites {sites}, but {quorum} has {n} sites; leave --sites out");
            return Err(why.into());
        }
        let cluster = Cluster {
            requests: self.requests(&*setup, requests)?,
            own: SiteId::all(n).map(|site| setup.own_quorum(site)).collect(),
            name: setup.quorum_name(),
            quorum: quorum.to_owned(),
            args: self.clone(),
        };
        Ok((cluster, setup, claims))
    }

    /// Refuses flags that a protocol without sessions cannot support.
    fn refuse_faults(&self, facts: Facts) -> Result<(), Failure> {
        let given = [("--site", self.site), ("--gives-up", self.gives_up > 0)];
        match given.into_iter().find(|(_, given)| facts.ideal && *given) {
            Some((flag, _)) => {
                let why = "its paper has no sessions, and no caller gives up; leave it out";
                Err(format!("{flag} {}: {why}", facts.name).into())
            }
            None => Ok(()),
        }
    }

    /// What callers claim.
    fn claims(&self, protocol: &dyn AnyProtocol) -> Result<Claims, Failure> {
        let Facts { name, several, .. } = protocol.facts();
        if self.at_once.get() > 1 && !several {
            let why = format!("--at-once: a {name} takes one claim of a site at a time");
            return Err(why.into());
        }
        let claims = Claims::read(protocol, self.claims.as_deref().unwrap_or_default())
            .map_err(|why| Failure::Input(format!("--claims: {why}")))?;
        Ok(claims.at_once(self.at_once.get()))
    }

    /// The quorum system; a name that is no file names a construction.
    fn shape(&self, quorum: &str, default: usize) -> Result<Shape, Failure> {
        let path = Path::new(quorum);
        let named = path.components().count() == 1 && path.extension().is_none();
        if named && (!path.exists() || quorum.parse::<Kind>().is_ok()) {
            return Ok(Shape::Kind(quorum.to_owned(), self.sites.unwrap_or(default)));
        }
        let text = fs::read_to_string(quorum).map_err(|error| format!("{quorum}: {error}"))?;
        if text.lines().any(|line| line.trim_start().starts_with("h=")) {
            return Ok(Shape::ByUnits(text));
        }
        let listed = read_listed(quorum, &text)?;
        let n = listed.n();
        let all = SiteSet::full(n);
        Ok(Shape::Listed(SiteId::all(n).map(|site| listed.pick_for(site, &all)).collect()))
    }

    /// One number for each site. A site without a quorum cannot ask.
    fn requests(&self, setup: &dyn AnySetup, default: u32) -> Result<Vec<u32>, Failure> {
        let n = setup.n();
        let one_for_all = |number: u32| {
            SiteId::all(n).map(|site| if setup.may_ask(site) { number } else { 0 }).collect()
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
                match asks.map(|(site, _)| site).find(|site| !setup.may_ask(*site)) {
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

fn read_listed(file: &str, text: &str) -> Result<Listed, Failure> {
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
        self.requests.len()
    }

    /// The quorum system, as given.
    pub(crate) fn quorum(&self) -> &str {
        &self.quorum
    }

    /// The options that were set.
    pub(crate) fn settings(&self) -> &[Setting] {
        &self.args.options
    }

    /// The options that were set, by name.
    pub(crate) fn options(&self) -> BTreeMap<&str, &str> {
        let pairs = self.settings().iter();
        pairs.map(|setting| (setting.name.as_str(), setting.value.as_str())).collect()
    }

    /// How many waiting callers may give up.
    pub(crate) fn gives_up(&self) -> u32 {
        self.args.gives_up
    }

    /// The size of the sites' quorums, if it is the same for all.
    pub(crate) fn quorum_size(&self) -> Option<usize> {
        let mut sizes = self.own.iter().flatten().map(SiteSet::len);
        let first = sizes.next()?;
        sizes.all(|size| size == first).then_some(first)
    }

    /// The cluster in a line, for people.
    pub(crate) fn describe(&self, protocol: &str) -> String {
        let (name, n) = (&self.name, counted(self.n() as u64, "site", "sites"));
        let options = self.settings().iter().map(|s| format!(", {}={}", s.name, s.value));
        format!("{protocol}, {n}, {name}{}", options.collect::<String>())
    }

    /// The flags that describe this cluster.
    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let mut add = |flag: &str, value: &str| flags.push(format!("{flag} {}", quoted(value)));
        if let Some(sites) = self.args.sites {
            add("--sites", &sites.to_string());
        }
        if let Some(quorum) = &self.args.quorum {
            add("--quorum", quorum);
        }
        if let Some(Requests(numbers)) = &self.args.requests {
            let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
            add("--requests", &numbers.join(","));
        }
        if let Some(claims) = &self.args.claims {
            add("--claims", claims);
        }
        if self.args.at_once.get() > 1 {
            add("--at-once", &self.args.at_once.to_string());
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

/// `text`, quoted as one word for a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,/:+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

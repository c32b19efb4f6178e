//! The settings at the top of a script, and the cluster they describe.

use std::sync::Arc;

use quorate_protocol::group::Group;
use quorate_quorum::{SiteId, SiteSet};

use super::error::{ErrorKind, ScriptError};
use super::parse::Statement;
use crate::{AnyProtocol, AnySetup, Catalogue, Claim, Contract, Facts, Order, Setting, Shape};

/// The cluster of a script: which protocol, with which switches, on which quorums.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The protocol's name.
    pub protocol: String,
    /// Its switches.
    pub settings: Vec<Setting>,
    /// How many sites it has.
    pub n: usize,
    /// Their quorums; `None` is the protocol's default.
    pub shape: Option<Shape>,
    /// The line that says so.
    pub(super) shape_line: usize,
    /// Its sessions; `None` in the papers' world, where channels never fail.
    pub sessions: Option<Contract>,
    /// In which order its channels deliver.
    pub order: Order,
    /// The hosts that were set for groups, with their lines.
    pub(super) hosts: Vec<(usize, Group, SiteId)>,
}

/// The settings as they come, each with its line.
#[derive(Debug, Default)]
pub(super) struct Settings {
    protocol: Option<(usize, String)>,
    sites: Option<(usize, usize)>,
    kind: Option<(usize, String)>,
    listed: Vec<(usize, SiteId, SiteSet)>,
    options: Vec<(usize, Setting)>,
    sessions: Option<(usize, Contract)>,
    order: Option<(usize, Order)>,
    hosts: Vec<(usize, Group, SiteId)>,
}

impl Cluster {
    /// The cluster itself, of `protocol`, for these claims.
    pub(super) fn setup(
        &self,
        protocol: &dyn AnyProtocol,
        claims: &[Claim],
    ) -> Result<Arc<dyn AnySetup>, ScriptError> {
        let default = || Shape::Kind(protocol.facts().quorum.to_owned(), self.n);
        let shape = self.shape.clone().unwrap_or_else(default);
        let refused = |why| ErrorKind::Refused(why).at(self.shape_line);
        protocol.setup(&shape, claims).map_err(refused)
    }
}

impl Settings {
    /// Takes one setting; a second one of the same thing is an error.
    pub(super) fn add(&mut self, line: usize, statement: Statement) -> Result<(), ScriptError> {
        let before = match statement {
            Statement::Protocol(name) => set(&mut self.protocol, line, name, "the protocol"),
            Statement::Sessions(contract) => set(&mut self.sessions, line, contract, "`sessions`"),
            Statement::Order(order) => set(&mut self.order, line, order, "the order"),
            Statement::Sites(n) => set(&mut self.sites, line, n, "the number of sites"),
            Statement::QuorumKind(kind) => match self.listed.first() {
                Some(&(before, ..)) => twice("a quorum", before),
                None => set(&mut self.kind, line, kind, "the kind of quorum"),
            },
            Statement::QuorumOf(owner, members) => {
                let same = self.listed.iter().find(|(_, other, _)| *other == owner);
                match (&self.kind, same) {
                    (Some((before, _)), _) => twice("the kind of quorum", *before),
                    (None, Some(&(before, ..))) => twice(&format!("the quorum of {owner}"), before),
                    (None, None) => {
                        self.listed.push((line, owner, members));
                        Ok(())
                    }
                }
            }
            Statement::Option(setting) => {
                let same = self.options.iter().find(|(_, other)| other.name == setting.name);
                match same {
                    Some(&(before, _)) => twice(&format!("option {}", setting.name), before),
                    None => {
                        self.options.push((line, setting));
                        Ok(())
                    }
                }
            }
            Statement::Host(group, site) => {
                let same = self.hosts.iter().find(|(_, other, _)| *other == group);
                match same {
                    Some(&(before, ..)) => twice(&format!("the host of {}", group.name()), before),
                    None => {
                        self.hosts.push((line, group, site));
                        Ok(())
                    }
                }
            }
            Statement::Do(_) => Ok(()),
        };
        before.map_err(|error| error.at(line))
    }

    /// The cluster that the settings describe, and its protocol; `end` is the line to blame for
    /// what is missing.
    pub(super) fn finish(
        self,
        catalogue: Catalogue,
        end: usize,
    ) -> Result<(Cluster, Arc<dyn AnyProtocol>), ScriptError> {
        let (n, shape, shape_line) = self.shape(end)?;
        let (line, protocol) = self.protocol.unwrap_or((end, "mutex".to_owned()));
        let find = |line: usize, settings: &[Setting]| {
            catalogue(&protocol, settings).map_err(|why| ErrorKind::Refused(why).at(line))
        };
        let mut found = find(line, &[])?;
        let mut settings = Vec::new();
        for (line, setting) in self.options {
            settings.push(setting);
            found = find(line, &settings)?;
        }
        check_order(self.order, self.sessions.is_some(), found.facts())?;
        let order = self.order.map_or(Order::Fifo, |(_, order)| order);
        let sessions = self.sessions.map(|(_, contract)| contract);
        let hosts = self.hosts;
        let cluster = Cluster { protocol, settings, n, shape, shape_line, sessions, order, hosts };
        Ok((cluster, found))
    }

    /// The number of sites, their quorums, and the line to blame for these.
    fn shape(&self, end: usize) -> Result<(usize, Option<Shape>, usize), ScriptError> {
        let named = |(_, owner, members): &(usize, SiteId, SiteSet)| {
            members.iter().last().map_or(*owner, |last| last.max(*owner)).index() + 1
        };
        let largest = self.listed.iter().map(named).max();
        let Some(n) = self.sites.map(|(_, n)| n).or(largest) else {
            return Err(ErrorKind::NoSites.at(end));
        };
        if self.listed.is_empty() {
            let shape = self.kind.as_ref().map(|(_, name)| Shape::Kind(name.clone(), n));
            let line = self.kind.as_ref().map(|(line, _)| *line);
            return Ok((n, shape, line.or(self.sites.map(|(line, _)| line)).unwrap_or(end)));
        }
        let mut own = vec![None; n];
        for (line, owner, members) in &self.listed {
            let sites = members.iter().chain([*owner]);
            if let Some(site) = sites.into_iter().find(|site| site.index() >= n) {
                return Err(ErrorKind::NoSuchSite { site, n }.at(*line));
            }
            own[owner.index()] = Some(members.clone());
        }
        let line = self.listed.last().map_or(end, |&(line, ..)| line);
        Ok((n, Some(Shape::Listed(own)), line))
    }
}

/// Whether the channels of a script may deliver in this order.
fn check_order(
    order: Option<(usize, Order)>,
    sessions: bool,
    facts: Facts,
) -> Result<(), ScriptError> {
    let Some((line, Order::Any { .. })) = order else { return Ok(()) };
    let name = facts.name;
    let why = match facts {
        Facts { any_order: false, .. } => format!("a {name} needs `order fifo`"),
        _ if sessions => "a session needs `order fifo`".to_owned(),
        Facts { unordered: false, .. } => {
            format!("`order any` of a {name} needs its switch; expected `option unordered on`")
        }
        _ => return Ok(()),
    };
    Err(ErrorKind::Refused(why).at(line))
}

fn set<T>(
    place: &mut Option<(usize, T)>,
    line: usize,
    value: T,
    what: &str,
) -> Result<(), ErrorKind> {
    match place {
        Some((before, _)) => twice(what, *before),
        None => {
            *place = Some((line, value));
            Ok(())
        }
    }
}

fn twice(what: &str, line: usize) -> Result<(), ErrorKind> {
    Err(ErrorKind::Twice { what: what.to_owned(), line })
}

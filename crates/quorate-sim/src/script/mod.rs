//! Scripts: commands, and below each the trace that it must leave.
//!
//! A script says who acts and which message arrives next; `docs/scenarios.md` has its syntax. The
//! files under `scenarios/` are scripts; [`bless`] writes their traces, and somebody reviews them.
//!
//! ```
//! use quorate_sim::script::Script;
//! let script = Script::parse("sites 3\n1 acquires\nsettle\nexpect 1 inside\n")?;
//! let report = script.run(|line| println!("{line}"))?;
//! assert_eq!((report.tally.served, report.tally.messages_total()), (1, 2));
//! # Ok::<(), quorate_sim::script::ScriptError>(())
//! ```

mod bless;
mod check;
mod cluster;
mod command;
mod error;
mod line;
mod parse;
mod run;
mod source;

use std::sync::Arc;

pub use self::bless::{bless, bless_with};
pub use self::cluster::Cluster;
pub use self::command::Command;
pub use self::error::{ErrorKind, ScriptError};
pub use self::line::{Line, Tally};
pub use self::run::Report;

use self::cluster::Settings;
use self::command::{Action, Body};
use self::parse::{Statement, statement};
use crate::{AnyProtocol, AnySetup, Catalogue, Claim, Facts, Observer, Unwatched, find};

/// A script that can be run: its settings and sites exist.
#[derive(Clone, Debug)]
pub struct Script {
    protocol: Arc<dyn AnyProtocol>,
    setup: Arc<dyn AnySetup>,
    cluster: Cluster,
    commands: Vec<Command>,
}

impl Script {
    /// Reads a script of one of our protocols.
    ///
    /// # Errors
    ///
    /// The first line that cannot be understood, what is wrong with it, and what was expected.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        Self::parse_with(find, text)
    }

    /// Reads a script of a protocol in `catalogue`.
    ///
    /// # Errors
    ///
    /// As in [`parse`](Script::parse).
    pub fn parse_with(catalogue: Catalogue, text: &str) -> Result<Self, ScriptError> {
        let (mut settings, mut commands) = (Settings::default(), Vec::new());
        let mut begun = false;
        for source in source::split(text)? {
            let line = source.line;
            let read = statement(source.text).map_err(|error| error.at(line))?;
            let acts = matches!(read, Statement::Do(Body::Act { .. }));
            if let (false, Some(&(trace, _))) = (acts, source.trace.first()) {
                return Err(ErrorKind::StrayTrace.at(trace));
            }
            match read {
                Statement::Do(body) => {
                    begun |= !body.is_clock();
                    let (text, trace) = (source.text.to_owned(), source.trace);
                    commands.push(Command { line, text, body, trace });
                }
                setting if begun => return Err(ErrorKind::Late(setting.word()).at(line)),
                setting => settings.add(line, setting)?,
            }
        }
        let first = commands.first().map_or(1, |command| command.line);
        let (cluster, protocol) = settings.finish(catalogue, first)?;
        check_sites(&cluster, &commands)?;
        check_kinds(&commands, protocol.facts())?;
        check_sessions(&cluster, &commands, protocol.facts())?;
        if protocol.facts().ideal {
            check_ideal(&cluster, &commands, protocol.facts().name)?;
        }
        let setup = cluster.setup(&*protocol, &claims(&*protocol, &commands)?)?;
        check_hosts(&cluster, &*setup)?;
        Ok(Self { protocol, setup, cluster, commands })
    }

    /// The cluster it runs in.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// What it does and checks, in order.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Runs it, showing every command and all that happens to `sink`.
    ///
    /// # Errors
    ///
    /// The first line that did not go as the script says; everything up to it has been shown.
    pub fn run(&self, mut sink: impl FnMut(&Line)) -> Result<Report, ScriptError> {
        self.run_with(true, &mut sink, &mut Unwatched)
    }

    /// The same, and `watch` sees every event, also of a command that is followed quietly.
    ///
    /// # Errors
    ///
    /// As in [`run`](Self::run); everything up to that line has been seen.
    pub fn watch(
        &self,
        mut sink: impl FnMut(&Line),
        watch: &mut dyn Observer,
    ) -> Result<Report, ScriptError> {
        self.run_with(true, &mut sink, watch)
    }

    fn run_with(
        &self,
        compare: bool,
        sink: &mut dyn FnMut(&Line),
        watch: &mut dyn Observer,
    ) -> Result<Report, ScriptError> {
        run::run(self, compare, sink, watch)
    }
}

fn check_sites(cluster: &Cluster, commands: &[Command]) -> Result<(), ScriptError> {
    let n = cluster.n;
    for command in commands {
        let stranger = command.body.sites().into_iter().find(|site| site.index() >= n);
        if let Some(site) = stranger {
            return Err(ErrorKind::NoSuchSite { site, n }.at(command.line));
        }
    }
    Ok(())
}

/// Whether the protocol has all kinds of messages that are named.
fn check_kinds(commands: &[Command], facts: Facts) -> Result<(), ScriptError> {
    let Facts { name, kinds, .. } = facts;
    for command in commands {
        let unknown = command.body.message_kind().filter(|kind| !kinds.contains(kind));
        if let Some(kind) = unknown.filter(|_| !kinds.is_empty()) {
            let kinds = kinds.join(", ");
            let why = format!("a {name} has no message `{kind}`; expected one of {kinds}");
            return Err(ErrorKind::Refused(why).at(command.line));
        }
    }
    Ok(())
}

/// Whether sessions end only where there are some, and messages are doubled only where there are
/// none.
fn check_sessions(
    cluster: &Cluster,
    commands: &[Command],
    facts: Facts,
) -> Result<(), ScriptError> {
    let needs_sessions = |body: &Body| body.is_fault() && !(facts.lossy && body.is_crash());
    let sessions = cluster.sessions.is_some();
    for Command { line, text, body, .. } in commands {
        if sessions && body.is_duplicate() {
            let why = format!("`{text}` is impossible with `sessions`: they deliver messages once");
            return Err(ErrorKind::Refused(why).at(*line));
        }
        if !sessions && needs_sessions(body) {
            return Err(ErrorKind::NoSessions(text.clone()).at(*line));
        }
    }
    Ok(())
}

/// Whether the sites that are to host groups exist, and can.
fn check_hosts(cluster: &Cluster, setup: &dyn AnySetup) -> Result<(), ScriptError> {
    let (n, facts) = (cluster.n, setup.facts());
    for &(line, _, site) in &cluster.hosts {
        let error = if !facts.hosts {
            let name = facts.name;
            ErrorKind::Refused(format!("a {name} has no hosts; expected `protocol role`"))
        } else if site.index() >= n {
            ErrorKind::NoSuchSite { site, n }
        } else if !setup.may_ask(site) {
            ErrorKind::Refused(format!("site {site} cannot host: it has no quorum to ask"))
        } else {
            continue;
        };
        return Err(error.at(line));
    }
    Ok(())
}

/// Whether a script stays in the world of its protocol's paper.
fn check_ideal(cluster: &Cluster, commands: &[Command], name: &str) -> Result<(), ScriptError> {
    let gives_up =
        |command: &&Command| matches!(&command.body, Body::Act { action: Action::GiveUp(_), .. });
    let refused = |what: &str, line| {
        Err(ErrorKind::Refused(format!("{name} knows no {what}; leave it out")).at(line))
    };
    match commands.iter().find(gives_up) {
        Some(command) => refused("giving up", command.line),
        None if cluster.sessions.is_some() => refused("`sessions`", 1),
        None => Ok(()),
    }
}

/// What the callers of a script claim.
fn claims(protocol: &dyn AnyProtocol, commands: &[Command]) -> Result<Vec<Claim>, ScriptError> {
    let mut claims = Vec::new();
    for command in commands {
        if let Body::Act { action: Action::Acquire(_, words), .. } = &command.body {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let claim = protocol.parse_claim(&words);
            claims.push(claim.map_err(|why| ErrorKind::Refused(why).at(command.line))?);
        }
    }
    Ok(claims)
}

//! Scripts: a story told line by line, with what must happen below every line.
//!
//! A script says who acts and which message arrives next; `docs/scenarios.md` has its syntax. The
//! files under `scenarios/` are scripts, and their traces are what [`bless`] made of them, read
//! by somebody.
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
pub use self::error::{Fault, ScriptError};
pub use self::line::{Line, Tally};
pub use self::run::Report;

use self::cluster::Settings;
use self::command::{Action, Deed};
use self::parse::{Statement, statement};
use self::run::Play;
use crate::{AnyProtocol, AnySetup, Catalogue, Claim, Facts, Observer, Unwatched, find};

/// A script that can be played: its settings exist, and its sites too.
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
            let read = statement(source.text).map_err(|fault| fault.at(line))?;
            let acts = matches!(read, Statement::Do(Deed::Act { .. }));
            if let (false, Some(&(trace, _))) = (acts, source.trace.first()) {
                return Err(Fault::StrayTrace.at(trace));
            }
            match read {
                Statement::Do(deed) => {
                    begun |= !deed.is_clock();
                    let (text, trace) = (source.text.to_owned(), source.trace);
                    commands.push(Command { line, text, deed, trace });
                }
                setting if begun => return Err(Fault::Late(setting.word()).at(line)),
                setting => settings.add(line, setting)?,
            }
        }
        let first = commands.first().map_or(1, |command| command.line);
        let (cluster, protocol) = settings.finish(catalogue, first)?;
        check_sites(&cluster, &commands)?;
        check_sessions(&cluster, &commands, protocol.facts())?;
        if protocol.facts().ideal {
            check_ideal(&cluster, &commands, protocol.facts().name)?;
        }
        let setup = cluster.setup(&*protocol, &claims(&*protocol, &commands)?)?;
        Ok(Self { protocol, setup, cluster, commands })
    }

    /// The cluster it plays in.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// What it does and checks, in order.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// Plays it, showing every command and all that happens to `sink`.
    ///
    /// # Errors
    ///
    /// The first line that did not go as the script says; everything up to it has been shown.
    pub fn run(&self, mut sink: impl FnMut(&Line)) -> Result<Report, ScriptError> {
        self.play(true, &mut sink, &mut Unwatched)
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
        self.play(true, &mut sink, watch)
    }

    fn play(
        &self,
        compare: bool,
        sink: &mut dyn FnMut(&Line),
        watch: &mut dyn Observer,
    ) -> Result<Report, ScriptError> {
        Play { script: self, watch, sink, compare }.run()
    }
}

fn check_sites(cluster: &Cluster, commands: &[Command]) -> Result<(), ScriptError> {
    let n = cluster.n;
    for command in commands {
        let stranger = command.deed.sites().into_iter().find(|site| site.index() >= n);
        if let Some(site) = stranger {
            return Err(Fault::NoSuchSite { site, n }.at(command.line));
        }
    }
    Ok(())
}

/// Whether nothing happens to sessions where there are none.
fn check_sessions(
    cluster: &Cluster,
    commands: &[Command],
    facts: Facts,
) -> Result<(), ScriptError> {
    let meant = |deed: &Deed| deed.is_fault() && !(facts.lossy && deed.is_crash());
    let fault = commands.iter().find(|command| meant(&command.deed));
    match fault.filter(|_| cluster.sessions.is_none()) {
        Some(command) => Err(Fault::NoSessions(command.text.clone()).at(command.line)),
        None => Ok(()),
    }
}

/// Whether a script stays in the world of its protocol's paper.
fn check_ideal(cluster: &Cluster, commands: &[Command], name: &str) -> Result<(), ScriptError> {
    let gives_up =
        |command: &&Command| matches!(&command.deed, Deed::Act { action: Action::GiveUp(_), .. });
    let refused = |what: &str, line| {
        Err(Fault::Refused(format!("{name} knows no {what}; leave it out")).at(line))
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
        if let Deed::Act { action: Action::Acquire(_, words), .. } = &command.deed {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let claim = protocol.parse_claim(&words);
            claims.push(claim.map_err(|why| Fault::Refused(why).at(command.line))?);
        }
    }
    Ok(claims)
}

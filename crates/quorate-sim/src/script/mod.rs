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

pub use self::bless::{bless, bless_with};
pub use self::cluster::Cluster;
pub use self::command::Command;
pub use self::error::{Fault, ScriptError};
pub use self::line::{Line, Spectator, Tally};
pub use self::run::Report;

use self::cluster::Settings;
use self::command::{Action, Deed};
use self::parse::{Statement, statement};
use self::run::Play;
use crate::{Catalogue, Ours, Subject, Unwatched, Visitor};

/// A script that can be played: its settings exist, and its sites too.
#[derive(Clone, Debug)]
pub struct Script<C = Ours> {
    catalogue: C,
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
        Self::parse_with(Ours, text)
    }
}

impl<C: Catalogue> Script<C> {
    /// Reads a script of a protocol in `catalogue`.
    ///
    /// # Errors
    ///
    /// As in [`parse`](Script::parse).
    pub fn parse_with(catalogue: C, text: &str) -> Result<Self, ScriptError> {
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
        let script = Self { catalogue, cluster: settings.finish(catalogue, first)?, commands };
        script.check_sites()?;
        script.check_sessions()?;
        script.check_protocol()?;
        Ok(script)
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

    /// The same, and `spectator` sees every event.
    ///
    /// # Errors
    ///
    /// As in [`run`](Self::run); everything up to that line has been seen.
    pub fn watch(
        &self,
        mut sink: impl FnMut(&Line),
        spectator: &mut impl Spectator,
    ) -> Result<Report, ScriptError> {
        self.play(true, &mut sink, spectator)
    }

    fn play(
        &self,
        compare: bool,
        sink: &mut dyn FnMut(&Line),
        spectator: &mut impl Spectator,
    ) -> Result<Report, ScriptError> {
        let play = Play { script: self, spectator, sink, compare };
        self.catalogue
            .visit(&self.cluster.protocol, &self.cluster.settings, play)
            .map_err(|why| Fault::Refused(why).at(1))?
    }

    fn check_sites(&self) -> Result<(), ScriptError> {
        let n = self.cluster.n;
        for command in &self.commands {
            let stranger = command.deed.sites().into_iter().find(|site| site.index() >= n);
            if let Some(site) = stranger {
                return Err(Fault::NoSuchSite { site, n }.at(command.line));
            }
        }
        Ok(())
    }

    fn check_sessions(&self) -> Result<(), ScriptError> {
        let Cluster { protocol, settings, .. } = &self.cluster;
        let lossy = self.catalogue.visit(protocol, settings, Lossy);
        let lossy = lossy.map_err(|why| Fault::Refused(why).at(1))?;
        let meant = |deed: &Deed| deed.is_fault() && !(lossy && deed.is_crash());
        let fault = self.commands.iter().find(|command| meant(&command.deed));
        match fault.filter(|_| self.cluster.sessions.is_none()) {
            Some(command) => Err(Fault::NoSessions(command.text.clone()).at(command.line)),
            None => Ok(()),
        }
    }

    fn check_protocol(&self) -> Result<(), ScriptError> {
        self.catalogue
            .visit(&self.cluster.protocol, &self.cluster.settings, Fitting(self))
            .map_err(|why| Fault::Refused(why).at(1))?
    }

    fn check_ideal(&self, name: &str) -> Result<(), ScriptError> {
        let gives_up = |command: &&Command| {
            matches!(&command.deed, Deed::Act { action: Action::GiveUp(_), .. })
        };
        let refused = |what: &str, line| {
            Err(Fault::Refused(format!("{name} knows no {what}; leave it out")).at(line))
        };
        match self.commands.iter().find(gives_up) {
            Some(command) => refused("giving up", command.line),
            None if self.cluster.sessions.is_some() => refused("`sessions`", 1),
            None => Ok(()),
        }
    }

    /// What its callers claim.
    fn claims<P: Subject>(&self) -> Result<Vec<P::Claim>, ScriptError> {
        let mut claims = Vec::new();
        for command in &self.commands {
            if let Deed::Act { action: Action::Acquire(_, words), .. } = &command.deed {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let claim = P::parse_claim(&words);
                claims.push(claim.map_err(|why| Fault::Refused(why).at(command.line))?);
            }
        }
        Ok(claims)
    }

    /// The quorums of the protocol that it is played with.
    fn quorums<P: Subject>(&self) -> Result<P::Quorums, ScriptError> {
        let claims = self.claims::<P>()?;
        let refused = |fault: Fault| fault.at(self.cluster.shape_line);
        self.cluster.quorums::<P>(&claims).map_err(refused)
    }
}

/// Asks whether sites of the protocol can crash where there are no sessions.
struct Lossy;

impl Visitor for Lossy {
    type Output = bool;

    fn visit<P: Subject>(self, _: P::Options) -> bool {
        P::LOSSY
    }
}

/// Asks whether the protocol knows all claims, and has such quorums.
struct Fitting<'a, C>(&'a Script<C>);

impl<C: Catalogue> Visitor for Fitting<'_, C> {
    type Output = Result<(), ScriptError>;

    fn visit<P: Subject>(self, _: P::Options) -> Self::Output {
        if P::IDEAL {
            self.0.check_ideal(P::NAME)?;
        }
        self.0.quorums::<P>().map(drop)
    }
}

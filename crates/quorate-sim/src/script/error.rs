//! Errors of scripts: in their text, or in what happened when they ran.

use quorate_quorum::SiteId;
use thiserror::Error;

use super::parse::COMMANDS;
use crate::Breach;

/// The first error of a script, and its line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {kind}")]
pub struct ScriptError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub kind: ErrorKind,
}

impl ScriptError {
    /// Whether the script cannot be read at all; otherwise it ran, and did not go as it says.
    pub fn is_bad_input(&self) -> bool {
        !matches!(
            self.kind,
            ErrorKind::Impossible(_)
                | ErrorKind::Unmet { .. }
                | ErrorKind::Unlike { .. }
                | ErrorKind::Broken(_)
                | ErrorKind::Endless(_)
        )
    }
}

/// What is wrong with a script. The last five are found when it runs, the others before.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No command begins like this.
    #[error("unknown command `{_0}`; expected one of {}", COMMANDS.join(", "))]
    UnknownCommand(String),
    /// A command of whole sites: a protocol alone cannot follow it.
    #[error(
        "`{_0}` needs whole sites, not yet driven by scripts; expected one of {}",
        COMMANDS.join(", ")
    )]
    NotYet(String),
    /// A fault where the settings name no sessions.
    #[error("`{_0}` needs sessions; expected `sessions` above the first command")]
    NoSessions(String),
    /// The command is known, but not in this form.
    #[error("`{found}` is not understood; expected `{expected}`")]
    Form {
        /// What was written.
        found: String,
        /// What can be written.
        expected: &'static str,
    },
    /// Something that should be the number of a site is not.
    #[error("`{_0}` is no site; expected a number from 1")]
    NotASite(String),
    /// The cluster is smaller than that.
    #[error("site {site} does not exist: this cluster has {n}")]
    NoSuchSite {
        /// The site that is not there.
        site: SiteId,
        /// How many there are.
        n: usize,
    },
    /// A site's messages to itself are never under way.
    #[error("what {_0} says to itself is handled at once, and never under way")]
    OwnChannel(SiteId),
    /// A setting below the first command.
    #[error("`{_0}` must stand above the first command")]
    Late(&'static str),
    /// A setting that was made above already.
    #[error("{what} was set in line {line} already")]
    Twice {
        /// What is set.
        what: String,
        /// The line above.
        line: usize,
    },
    /// Nothing says how many sites there are.
    #[error("how many sites are there? expected `sites N` or `quorum S: A B C`")]
    NoSites,
    /// A trace where nothing can happen.
    #[error("nothing happens here; expected a trace only below a command that acts")]
    StrayTrace,
    /// A setting, a claim or a name that does not exist, or quorums that do not meet: the text says
    /// what was expected.
    #[error("{_0}")]
    Refused(String),
    /// The command cannot be carried out in the present state.
    #[error("{_0}")]
    Impossible(String),
    /// An unmet `expect`.
    #[error("expected {expected}, but {actual}")]
    Unmet {
        /// What the script expects.
        expected: String,
        /// What is the case.
        actual: String,
    },
    /// The trace differs from the script's; `None` is its end.
    #[error("{}", unlike(expected.as_ref(), actual.as_ref()))]
    Unlike {
        /// The line of the script.
        expected: Option<String>,
        /// What happened.
        actual: Option<String>,
    },
    /// A property broke, and no `expect broken` below says that it would.
    #[error("a property is broken: {_0}")]
    Broken(Breach),
    /// So many messages were delivered, and there are still more.
    #[error(
        "still not quiet after {_0} messages were delivered; expected messages that come to an \
         end, or `hold A -> B` on a channel that carries them"
    )]
    Endless(usize),
}

impl ErrorKind {
    pub(super) fn at(self, line: usize) -> ScriptError {
        ScriptError { line, kind: self }
    }
}

fn unlike(expected: Option<&String>, actual: Option<&String>) -> String {
    let line = |line: Option<&String>| line.cloned().unwrap_or("  (the end of the trace)".into());
    let (expected, actual) = (line(expected), line(actual));
    format!("the trace goes otherwise\n  expected: {expected}\n  actual:   {actual}")
}

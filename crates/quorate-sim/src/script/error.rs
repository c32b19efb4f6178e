//! What can be wrong with a script, or with what happened when it ran.

use std::fmt;

use quorate_quorum::SiteId;

use super::parse::COMMANDS;
use crate::Breach;

/// The first thing that is wrong with a script, and the line where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub fault: Fault,
}

impl ScriptError {
    /// Whether the script cannot be read at all; otherwise it ran, and did not go as it says.
    pub fn is_bad_input(&self) -> bool {
        !matches!(
            self.fault,
            Fault::Impossible(_)
                | Fault::Unmet { .. }
                | Fault::Unlike { .. }
                | Fault::Broken(_)
                | Fault::Endless(_)
        )
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.fault)
    }
}

impl std::error::Error for ScriptError {}

/// What is wrong with a script. The last five are found when it runs, the others before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// No command begins like this.
    UnknownCommand(String),
    /// A command of whole sites: a protocol alone cannot follow it.
    NotYet(String),
    /// A fault where the settings name no sessions.
    NoSessions(String),
    /// The command is known, but not in this form.
    Form {
        /// What was written.
        found: String,
        /// What can be written.
        expected: &'static str,
    },
    /// Something that should be the number of a site is not.
    NotASite(String),
    /// The cluster is smaller than that.
    NoSuchSite {
        /// The site that is not there.
        site: SiteId,
        /// How many there are.
        n: usize,
    },
    /// What a site says to itself is never under way.
    OwnChannel(SiteId),
    /// A setting below the first command.
    Late(&'static str),
    /// A setting that was made above already.
    Twice {
        /// What is set.
        what: String,
        /// The line above.
        line: usize,
    },
    /// Nothing says how many sites there are.
    NoSites,
    /// A trace where nothing can happen.
    StrayTrace,
    /// A setting or a claim that does not exist, or quorums that do not meet: the text says what
    /// was expected.
    Refused(String),
    /// The command cannot be carried out as things stand.
    Impossible(String),
    /// An `expect` that is not so.
    Unmet {
        /// What the script expects.
        expected: String,
        /// What is the case.
        actual: String,
    },
    /// The trace went otherwise than the script says; `None` is its end.
    Unlike {
        /// The line of the script.
        expected: Option<String>,
        /// What happened.
        actual: Option<String>,
    },
    /// A property broke, and no `expect broken` below says that it would.
    Broken(Breach),
    /// So many messages were delivered, and there are still more.
    Endless(usize),
}

impl Fault {
    pub(super) fn at(self, line: usize) -> ScriptError {
        ScriptError { line, fault: self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commands = COMMANDS.join(", ");
        match self {
            Self::UnknownCommand(word) => {
                write!(f, "unknown command `{word}`; expected one of {commands}")
            }
            Self::NotYet(word) => {
                write!(f, "`{word}` needs whole sites, not yet driven by scripts; ")?;
                write!(f, "expected one of {commands}")
            }
            Self::NoSessions(text) => {
                write!(f, "`{text}` needs sessions; expected `sessions` above the first command")
            }
            Self::Form { found, expected } => {
                write!(f, "`{found}` is not understood; expected `{expected}`")
            }
            Self::NotASite(word) => {
                write!(f, "`{word}` is no site; expected a number from 1")
            }
            Self::NoSuchSite { site, n } => {
                write!(f, "site {site} does not exist: this cluster has {n}")
            }
            Self::OwnChannel(site) => {
                write!(f, "what {site} says to itself is handled at once, and never under way")
            }
            Self::Late(word) => write!(f, "`{word}` must stand above the first command"),
            Self::Twice { what, line } => write!(f, "{what} was set in line {line} already"),
            Self::NoSites => {
                f.write_str("how many sites are there? expected `sites N` or `quorum S: A B C`")
            }
            Self::StrayTrace => {
                f.write_str("nothing happens here; expected a trace only below a command that acts")
            }
            Self::Refused(why) | Self::Impossible(why) => f.write_str(why),
            Self::Unmet { expected, actual } => write!(f, "expected {expected}, but {actual}"),
            Self::Unlike { expected, actual } => {
                write_unlike(f, expected.as_ref(), actual.as_ref())
            }
            Self::Broken(breach) => write!(f, "a property is broken: {breach}"),
            Self::Endless(delivered) => {
                write!(f, "still not quiet after {delivered} messages were delivered")
            }
        }
    }
}

fn write_unlike(
    f: &mut fmt::Formatter<'_>,
    expected: Option<&String>,
    actual: Option<&String>,
) -> fmt::Result {
    let end = "  (the end of the trace)";
    f.write_str("the trace goes otherwise\n")?;
    writeln!(f, "  expected: {}", expected.map_or(end, String::as_str))?;
    write!(f, "  actual:   {}", actual.map_or(end, String::as_str))
}

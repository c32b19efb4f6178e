//! How a command ends, and the codes it exits with.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Nothing was found.
    Clean,
    /// A property broke, or something expected did not happen.
    Broken,
    /// Some of the input could not be understood; the rest was done.
    BadInput,
    /// Nothing was found, but not everything was looked at.
    Incomplete,
    /// As another command ended, or was asked to.
    Exit(u8),
}

impl Verdict {
    /// What the shell is told.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Verdict::Clean => 0,
            Verdict::Broken => 1,
            Verdict::BadInput => 2,
            Verdict::Incomplete => 3,
            Verdict::Exit(code) => code,
        })
    }
}

/// Why a command could not do its work; nothing was changed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The caller asked for something that does not exist; the text says what does.
    Input(String),
    /// The answer could not be written.
    Output(io::Error),
    /// The cluster cannot be reached, or a site does not run.
    Service(String),
}

impl Failure {
    /// Neither bad input nor any code of a command that runs under a lock, as `timeout` has it.
    pub(crate) const SERVICE: u8 = 125;

    /// What the shell is told.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Input(_) | Failure::Output(_) => Verdict::BadInput.exit_code(),
            Failure::Service(_) => ExitCode::from(Self::SERVICE),
        }
    }

    /// What does not work, in its own words.
    pub(crate) fn service(error: impl fmt::Display) -> Self {
        Failure::Service(error.to_string())
    }

    /// What somebody refused, in their words.
    pub(crate) fn of(error: impl fmt::Display) -> Self {
        Failure::Input(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(what) | Failure::Service(what) => f.write_str(what),
            Failure::Output(error) => write!(f, "the answer cannot be written: {error}"),
        }
    }
}

impl From<String> for Failure {
    fn from(what: String) -> Self {
        Failure::Input(what)
    }
}

/// What a command comes to.
pub(crate) type Answer = Result<Verdict, Failure>;

/// Writes `lines` to standard output.
pub(crate) fn say_lines(lines: &[String]) -> Result<(), Failure> {
    if lines.is_empty() { Ok(()) } else { say(&(lines.join("\n") + "\n")) }
}

/// Writes `text` to standard output. A reader that has seen enough is no failure.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

//! How a command ends, and the codes it exits with.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
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
    pub fn exit_code(self) -> ExitCode {
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
pub enum Failure {
    /// The caller asked for something that does not exist; the text says what does.
    Input(String),
    /// The answer could not be written.
    Output(io::Error),
    /// The cluster cannot be reached, or a site does not run.
    Service(String),
}

impl Failure {
    /// Neither bad input nor any code of a command that runs under a lock, as `timeout` has it.
    pub const SERVICE: u8 = 125;

    /// What the shell is told.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Input(_) | Failure::Output(_) => Verdict::BadInput.exit_code(),
            Failure::Service(_) => ExitCode::from(Self::SERVICE),
        }
    }

    /// What does not work, in its own words.
    pub fn service(error: impl fmt::Display) -> Self {
        Failure::Service(error.to_string())
    }

    /// What somebody refused, in their words.
    pub fn of(error: impl fmt::Display) -> Self {
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
pub type Answer = Result<Verdict, Failure>;

/// Writes `lines` to standard output.
///
/// # Errors
///
/// They cannot be written, for another reason than that nobody reads.
pub fn say_lines(lines: &[String]) -> Result<(), Failure> {
    if lines.is_empty() { Ok(()) } else { say(&(lines.join("\n") + "\n")) }
}

/// Writes `text` to standard output. A reader that has seen enough is no failure.
///
/// # Errors
///
/// It cannot be written, for another reason.
pub fn say(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Ends a program: says what did not work, if something did not, and gives the shell its code.
pub fn exit(program: &str, answer: Answer) -> ExitCode {
    match answer {
        Ok(verdict) => verdict.exit_code(),
        Err(failure) => {
            eprintln!("{program}: {failure}");
            failure.exit_code()
        }
    }
}

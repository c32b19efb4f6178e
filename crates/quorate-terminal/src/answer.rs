//! The result of a command, its exit status, and its output.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// The result of a command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No problem was found.
    Clean,
    /// A property broke, or something expected did not happen.
    Broken,
    /// Part of the input was invalid; the rest was processed.
    BadInput,
    /// No problem was found, but not everything was examined.
    Incomplete,
    /// The status of another command, or one chosen by the caller.
    Exit(u8),
}

impl Verdict {
    /// The exit status for the shell.
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
    /// The input is invalid; the text says what would be valid.
    Input(String),
    /// The output could not be written.
    Output(io::Error),
    /// The cluster cannot be reached, a site does not run, or a program cannot be started.
    Service(String),
}

impl Failure {
    /// The exit status of [`Failure::Service`]: like that of `timeout`, distinct from bad input and
    /// seldom used by the commands that run under a lock.
    pub const SERVICE: u8 = 125;

    /// The exit status for the shell.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Input(_) | Failure::Output(_) => Verdict::BadInput.exit_code(),
            Failure::Service(_) => ExitCode::from(Self::SERVICE),
        }
    }

    /// A [`Failure::Service`] with the text of `error`.
    pub fn service(error: impl fmt::Display) -> Self {
        Failure::Service(error.to_string())
    }

    /// A [`Failure::Input`] with the text of `error`.
    pub fn of(error: impl fmt::Display) -> Self {
        Failure::Input(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(what) | Failure::Service(what) => f.write_str(what),
            Failure::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl From<String> for Failure {
    fn from(what: String) -> Self {
        Failure::Input(what)
    }
}

/// The result of a command.
pub type Answer = Result<Verdict, Failure>;

/// Writes `lines` to standard output.
///
/// # Errors
///
/// Writing fails for another reason than that the reader is gone.
pub fn print_lines(lines: &[String]) -> Result<(), Failure> {
    if lines.is_empty() { Ok(()) } else { print(&(lines.join("\n") + "\n")) }
}

/// Writes `text` to standard output. A reader that closes the pipe early is no failure.
///
/// # Errors
///
/// Writing fails for another reason.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Ends a program: prints the failure, if any, and returns the exit status.
pub fn exit(program: &str, answer: Answer) -> ExitCode {
    match answer {
        Ok(verdict) => verdict.exit_code(),
        Err(failure) => {
            eprintln!("{program}: {failure}");
            failure.exit_code()
        }
    }
}

//! Commands of the laboratory, which is a program of its own.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use quorate_terminal::answer::{Answer, Failure};

/// The laboratory.
const PROGRAM: &str = "quorate-lab";

/// The words behind a command of the laboratory, passed on as they are.
#[derive(Args, Debug)]
pub(crate) struct Passed {
    /// Arguments of that command; `--help` lists them
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Passed {
    /// Becomes the laboratory, with `command` and the words behind it. Returns only if there is
    /// no laboratory, or it cannot be run.
    pub(crate) fn run(&self, command: &[&str]) -> Answer {
        let mut laboratory = Command::new(found());
        let error = laboratory.args(command).args(&self.words).exec();
        let command = command.join(" ");
        Err(Failure::Service(if error.kind() == ErrorKind::NotFound {
            format!(
                "`quorate {command}` needs the program {PROGRAM}, which is neither beside quorate \
                 nor on PATH; build it with `cargo build --release -p {PROGRAM}`, or install it \
                 with `cargo install --path crates/{PROGRAM}`"
            )
        } else {
            format!("the program {PROGRAM}, for `quorate {command}`, cannot be run: {error}")
        }))
    }
}

/// The laboratory beside this program; otherwise its bare name, which is looked for on PATH.
fn found() -> PathBuf {
    let beside = env::current_exe().ok().map(|quorate| quorate.with_file_name(PROGRAM));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM))
}

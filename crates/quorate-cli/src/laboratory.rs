//! Commands that the separate program `quorate-lab` carries out.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use quorate_terminal::answer::{Answer, Failure};

const PROGRAM: &str = "quorate-lab";

/// Arguments passed on to `quorate-lab` unchanged.
#[derive(Args, Debug)]
pub(crate) struct LabArgs {
    /// Arguments of the command; `--help` lists them
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

impl LabArgs {
    /// Replaces this process with `quorate-lab COMMAND ARGS`. Returns only if that fails.
    pub(crate) fn run(&self, command: &[&str]) -> Answer {
        let mut laboratory = Command::new(program_path());
        let error = laboratory.args(command).args(&self.args).exec();
        let command = command.join(" ");
        Err(Failure::Service(if error.kind() == ErrorKind::NotFound {
            format!(
                "`quorate {command}` needs the program {PROGRAM}, which is neither in the \
                 directory of quorate nor on PATH; build it with `cargo build --release -p \
                 {PROGRAM}`, or install it with `cargo install --path crates/{PROGRAM}`"
            )
        } else {
            format!("cannot run {PROGRAM} for `quorate {command}`: {error}")
        }))
    }
}

/// `quorate-lab` in the directory of this program; otherwise the bare name, to be found on PATH.
fn program_path() -> PathBuf {
    let beside = env::current_exe().ok().map(|quorate| quorate.with_file_name(PROGRAM));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM))
}

//! `cargo xtask torture`: real sites and real clients under faults.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::groups::SERVICE;
use crate::laboratory::program_built_by;
use crate::report::Outcome;
use crate::workspace::Workspace;

/// The text of `--help` without the options, which the program lists itself.
pub(crate) const HELP: &str = "
Builds `quorate` and `quorate-torture` for release, and runs the latter with the arguments that
follow: `cargo xtask torture --minutes 5 --seed 7 --lease 300`. Real sites and clients run in
namespaces of their own while faults come and go; then the history of what the clients believed is
judged. `cargo xtask torture --options` lists the options, docs/torture.md explains them. Exit 0
only if nothing was violated.
";

/// The exit status of a run that found violations.
const VIOLATED: i32 = 1;
/// The exit status of a strict run without namespaces.
const INCOMPLETE: i32 = 3;

/// The program, built.
#[derive(Debug)]
pub(crate) struct Torture {
    root: PathBuf,
    path: PathBuf,
}

impl Torture {
    /// Builds it together with the program that it tortures.
    pub(crate) fn build(workspace: &Workspace) -> io::Result<Self> {
        let line = format!("build --release {} --bins", SERVICE.packages());
        Self::built_by(workspace, Workspace::cargo, &line)
    }

    /// Takes it from what cargo builds with the arguments in `line`, with `quorate` beside it.
    pub(crate) fn built_by(
        workspace: &Workspace,
        cargo: impl Fn(&Workspace, &str) -> Command,
        line: &str,
    ) -> io::Result<Self> {
        let path = program_built_by(workspace, cargo, line, "quorate-torture")?;
        Ok(Self { root: workspace.root.clone(), path })
    }

    /// Runs it. Skipped if it is strict and the machine has no namespaces.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> io::Result<Outcome> {
        Ok(match self.status(arguments)? {
            Some(INCOMPLETE) => Outcome::Skipped("no namespaces, see above".into()),
            status => Outcome::of(status == Some(0)),
        })
    }

    /// Runs the positive control, which must find violations.
    pub(crate) fn control<S: AsRef<OsStr>>(&self, arguments: &[S]) -> io::Result<Outcome> {
        let status = self.status(arguments)?;
        if status == Some(0) {
            println!("the positive control found nothing: the judge is blind");
        }
        Ok(Outcome::of(status == Some(VIOLATED)))
    }

    fn status<S: AsRef<OsStr>>(&self, arguments: &[S]) -> io::Result<Option<i32>> {
        let mut command = Command::new(&self.path);
        Ok(command.current_dir(&self.root).args(arguments).status()?.code())
    }
}

/// Runs it with these arguments; false if something was violated.
pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> io::Result<bool> {
    let torture = Torture::build(workspace)?;
    let arguments = if arguments == ["--options"] { &["--help"] } else { arguments };
    Ok(torture.run(arguments)? == Outcome::Passed)
}

//! The workspace: where the repository is, and how a tool is run in it.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::paint::Paint;
use crate::report::Outcome;

/// The repository, and the terminal for reports.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The repository's root.
    pub(crate) root: PathBuf,
    /// The colours of the output.
    pub(crate) paint: Paint,
}

impl Workspace {
    /// The repository that holds this crate.
    pub(crate) fn new() -> Self {
        // At run time cargo names the checkout it was called in. The path at compile time may be
        // that of another checkout, if they share a target directory.
        let package = env::var_os("CARGO_MANIFEST_DIR")
            .unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
        let root = Path::new(&package).parent().expect("xtask lies in the repository").to_owned();
        Self { root, paint: Paint::new() }
    }

    /// Cargo, to be run at the root with the space-separated arguments in `line`.
    pub(crate) fn cargo(&self, line: &str) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).args(line.split_whitespace());
        // Cargo sets these for our own package. Build scripts that depend on such variables would
        // run again, and their dependents would be rebuilt.
        for (name, _) in env::vars_os() {
            let of_package =
                |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
            if name.to_str().is_some_and(of_package) {
                command.env_remove(name);
            }
        }
        if self.paint.is_on() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        command
    }

    /// Whether cargo has the subcommand `name`, which may be a component not installed.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut command = self.cargo(name);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

/// Runs `command` with its output shown.
pub(crate) fn streamed(mut command: Command) -> io::Result<Outcome> {
    Ok(Outcome::of(command.status()?.success()))
}

/// Runs `command`; shows its output only if it fails.
pub(crate) fn captured(command: Command) -> io::Result<Outcome> {
    let (passed, said) = merged_output(command)?;
    if !passed {
        io::stdout().write_all(&said)?;
    }
    Ok(Outcome::of(passed))
}

/// Runs `command`; returns whether it succeeded, and its merged output and errors.
fn merged_output(mut command: Command) -> io::Result<(bool, Vec<u8>)> {
    let (mut reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    drop(command); // it keeps our ends of the pipe, and we would wait for ourselves
    let mut said = Vec::new();
    reader.read_to_end(&mut said)?;
    Ok((child.wait()?.success(), said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_in_the_repository() {
        assert!(Workspace::new().root.join("xtask/src/workspace.rs").is_file());
    }

    #[test]
    fn output_and_errors_are_overheard() {
        let workspace = Workspace::new();
        let (passed, said) = merged_output(workspace.cargo("--version")).unwrap();
        assert!(passed);
        assert!(String::from_utf8_lossy(&said).starts_with("cargo "));
        let (passed, said) = merged_output(workspace.cargo("no-such-command")).unwrap();
        assert!(!passed);
        assert!(String::from_utf8_lossy(&said).contains("no-such-command"));
    }

    #[test]
    fn a_missing_subcommand_is_noticed() {
        assert!(!Workspace::new().has("no-such-command"));
    }
}

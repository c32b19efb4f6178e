//! The workshop: where the repository is, and how a tool is run in it.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::paint::Paint;
use crate::report::Outcome;

/// The repository, and the terminal we report to.
#[derive(Debug)]
pub(crate) struct Shop {
    /// The repository's root.
    pub(crate) root: PathBuf,
    /// How to colour what we print.
    pub(crate) paint: Paint,
}

impl Shop {
    /// The repository that holds this crate.
    pub(crate) fn new() -> Self {
        // At run time cargo names the checkout it was called in; the path known when this was
        // compiled may be another one's, if they share a target directory.
        let package = env::var_os("CARGO_MANIFEST_DIR")
            .unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
        let root = Path::new(&package).parent().expect("xtask lies in the repository").to_owned();
        Self { root, paint: Paint::new() }
    }

    /// Cargo, to be run at the root with the arguments in `line`, parted by spaces.
    pub(crate) fn cargo(&self, line: &str) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).args(line.split_whitespace());
        // With these, cargo tells us of our own package. Build scripts that look at variables of
        // such names would be run again, and what hangs on them built anew.
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

/// Runs `command` and lets it print as it goes.
pub(crate) fn streamed(mut command: Command) -> io::Result<Outcome> {
    Ok(Outcome::of(command.status()?.success()))
}

/// Runs `command` in silence; what it had to say is shown if it fails.
pub(crate) fn captured(command: Command) -> io::Result<Outcome> {
    let (passed, said) = overheard(command)?;
    if !passed {
        io::stdout().write_all(&said)?;
    }
    Ok(Outcome::of(passed))
}

/// Runs `command`; whether it succeeded, and its output and errors in the order written.
fn overheard(mut command: Command) -> io::Result<(bool, Vec<u8>)> {
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
    fn the_shop_stands_in_the_repository() {
        assert!(Shop::new().root.join("xtask/src/shop.rs").is_file());
    }

    #[test]
    fn output_and_errors_are_overheard() {
        let shop = Shop::new();
        let (passed, said) = overheard(shop.cargo("--version")).unwrap();
        assert!(passed);
        assert!(String::from_utf8_lossy(&said).starts_with("cargo "));
        let (passed, said) = overheard(shop.cargo("no-such-command")).unwrap();
        assert!(!passed);
        assert!(String::from_utf8_lossy(&said).contains("no-such-command"));
    }

    #[test]
    fn a_missing_subcommand_is_noticed() {
        assert!(!Shop::new().has("no-such-command"));
    }
}

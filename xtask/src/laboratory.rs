//! The laboratory as a program, `quorate-lab`, and the scenarios it runs.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace::Workspace;

/// The crate that makes the program, and the name of both.
const CRATE: &str = "quorate-lab";

/// The program, built.
#[derive(Debug)]
pub(crate) struct Laboratory {
    root: PathBuf,
    path: PathBuf,
}

impl Laboratory {
    /// Builds it for release, and shows cargo's output.
    ///
    /// # Errors
    ///
    /// The build failed, or made no program of that name.
    pub(crate) fn build(workspace: &Workspace) -> io::Result<Self> {
        Self::built_by(workspace, &format!("build --release -p {CRATE}"))
    }

    /// Runs cargo with the arguments in `line`, shows its output, and takes the program from what
    /// it built.
    ///
    /// # Errors
    ///
    /// The build failed, or made no program of that name.
    pub(crate) fn built_by(workspace: &Workspace, line: &str) -> io::Result<Self> {
        let path = program_built_by(workspace, Workspace::cargo, line, CRATE)?;
        Ok(Self { root: workspace.root.clone(), path })
    }

    /// The command with `args`, to be run at the repository's root.
    pub(crate) fn command<S: AsRef<str>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.root).args(args.iter().map(AsRef::as_ref));
        command
    }
}

/// Runs cargo with the arguments in `line`, shows its output, and finds the program of this name
/// in what it built.
///
/// # Errors
///
/// The build failed, or made no program of that name.
pub(crate) fn program_built_by(
    workspace: &Workspace,
    cargo: impl Fn(&Workspace, &str) -> Command,
    line: &str,
    name: &str,
) -> io::Result<PathBuf> {
    let line = format!("{line} --message-format=json-render-diagnostics");
    let mut child = cargo(workspace, &line).stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().expect("standard output was piped");
    let mut path = None;
    for line in BufReader::new(stdout).lines() {
        path = executable(&line?, name).or(path);
    }
    if !child.wait()?.success() {
        return Err(io::Error::other("the build failed"));
    }
    path.ok_or_else(|| io::Error::other(format!("the build made no program `{name}`")))
}

/// The path of the program of this name, if this line of cargo's messages reports it.
fn executable(message: &str, name: &str) -> Option<PathBuf> {
    let (_, rest) = message.split_once(r#""executable":""#)?;
    let (path, _) = rest.split_once('"')?;
    let path = PathBuf::from(path.replace(r"\\", r"\"));
    (path.file_stem()? == name).then_some(path)
}

/// Every `scenarios/*/*.txt`, as paths from the root, in order.
pub(crate) fn scenarios(root: &Path) -> io::Result<Vec<String>> {
    let top = root.join("scenarios");
    let mut found = Vec::new();
    if !top.is_dir() {
        return Ok(found);
    }
    for protocol in fs::read_dir(top)? {
        let protocol = protocol?.path();
        if !protocol.is_dir() {
            continue;
        }
        for file in fs::read_dir(protocol)? {
            let file = file?.path();
            if file.extension().is_some_and(|extension| extension == "txt") {
                let short = file.strip_prefix(root).expect("it was found under the root");
                found.push(short.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_read_from_cargos_messages() {
        let line =
            r#"{"reason":"compiler-artifact","executable":"/t/release/quorate-lab","fresh":true}"#;
        assert_eq!(executable(line, CRATE), Some(PathBuf::from("/t/release/quorate-lab")));
    }

    #[test]
    fn other_artifacts_are_no_program() {
        assert_eq!(executable(r#"{"reason":"compiler-artifact","executable":null}"#, CRATE), None);
        assert_eq!(executable(r#"{"executable":"/t/release/build-script-build"}"#, CRATE), None);
        assert_eq!(executable(r#"{"executable":"/t/debug/deps/quorate_lab-0f5d"}"#, CRATE), None);
    }

    #[test]
    fn scenarios_are_found_in_order_and_nothing_else() {
        let root = std::env::temp_dir().join(format!("xtask-scenarios-{}", std::process::id()));
        for file in ["mutex/b.txt", "mutex/a.txt", "group/c.txt", "group/notes.md", "stray.txt"] {
            let path = root.join("scenarios").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = scenarios(&root).unwrap();
        fs::remove_dir_all(&root).unwrap();
        let wanted = ["scenarios/group/c.txt", "scenarios/mutex/a.txt", "scenarios/mutex/b.txt"];
        assert_eq!(found, wanted);
    }

    #[test]
    fn no_directory_no_scenarios() {
        assert!(scenarios(Path::new("no/such/place")).unwrap().is_empty());
    }
}

//! `cargo xtask bless`: rewrites the traces of all scenarios.

use std::fs;
use std::io;
use std::path::Path;

use crate::laboratory::{self, Laboratory};
use crate::workspace::Workspace;

/// The text of `--help`.
pub(crate) const HELP: &str = "
Runs every scenarios/*/*.txt with `quorate sim script --bless`, which writes the trace below each
command, and names the files that changed. Review them like code: a changed trace means a
protocol that behaves differently.
";

/// Blesses every scenario; false if one could not be.
pub(crate) fn run(workspace: &Workspace) -> io::Result<bool> {
    let files = laboratory::scenarios(&workspace.root)?;
    if files.is_empty() {
        println!("there are no scenarios to bless");
        return Ok(true);
    }
    let laboratory = Laboratory::build(workspace)?;
    let before = contents(&workspace.root, &files)?;
    let mut args = vec!["sim", "script", "--bless"];
    args.extend(files.iter().map(String::as_str));
    let blessed = laboratory.command(&args).status()?.success();
    let after = contents(&workspace.root, &files)?;
    print!("{}", changes(&files, &before, &after));
    Ok(blessed)
}

fn contents(root: &Path, files: &[String]) -> io::Result<Vec<Vec<u8>>> {
    files.iter().map(|file| fs::read(root.join(file))).collect()
}

/// The changed files, one per line, and their number.
fn changes(files: &[String], before: &[Vec<u8>], after: &[Vec<u8>]) -> String {
    let pairs = files.iter().zip(before.iter().zip(after));
    let changed: Vec<_> =
        pairs.filter(|(_, (old, new))| old != new).map(|(file, _)| file).collect();
    let mut lines: Vec<_> = changed.iter().map(|file| format!("changed: {file}\n")).collect();
    lines.push(match changed.len() {
        0 => format!("no trace changed, of {}\n", files.len()),
        n => format!("{n} of {} traces changed; see `git diff scenarios`\n", files.len()),
    });
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_files_are_named() {
        let files = ["mutex/a.txt".to_owned(), "mutex/b.txt".to_owned()];
        let old = [b"1 acquires\n".to_vec(), b"2 acquires\n".to_vec()];
        let new = [b"1 acquires\n".to_vec(), b"2 acquires\n  2 -> 1  request\n".to_vec()];
        let text = changes(&files, &old, &new);
        assert_eq!(text, "changed: mutex/b.txt\n1 of 2 traces changed; see `git diff scenarios`\n");
        assert_eq!(changes(&files, &old, &old), "no trace changed, of 2\n");
    }
}

//! The files of the repository.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// A text file.
#[derive(Debug)]
pub(crate) struct File {
    /// From the root, with `/` between the parts.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
}

/// All files that git tracks or would track.
#[derive(Debug)]
pub(crate) struct Tree {
    paths: BTreeSet<String>,
    /// Those that are text.
    pub(crate) files: Vec<File>,
}

impl Tree {
    /// Reads the repository at `root`, as git lists it: a new file counts, an ignored one does not.
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let mut paths = BTreeSet::new();
        match listed(root) {
            Some(listed) => paths.extend(listed),
            // Without git, walk the directory.
            None => walk(root, "", &mut paths)?,
        }
        paths.retain(|path| root.join(path).is_file());
        let read = |path: &String| {
            let text = String::from_utf8(fs::read(root.join(path)).ok()?).ok()?;
            Some(File { path: path.clone(), text })
        };
        let files = paths.iter().filter_map(read).collect();
        Ok(Self { paths, files })
    }

    /// A tree of the given files, for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file =
            |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
        let paths = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        Self { paths, files: files.iter().map(file).collect() }
    }

    /// Whether it has a file, or a directory with files, at `path`.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let inside = format!("{path}/");
        path.is_empty()
            || self.paths.contains(path)
            || self
                .paths
                .range(inside.clone()..)
                .next()
                .is_some_and(|next| next.starts_with(&inside))
    }

    /// The paths of all files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Whether the path of a file ends in `end`.
    pub(crate) fn has_ending(&self, end: &str) -> bool {
        self.paths.iter().any(|path| path.ends_with(end))
    }

    /// Whether the path of a file contains `part`.
    pub(crate) fn has_part(&self, part: &str) -> bool {
        self.paths.iter().any(|path| path.contains(part))
    }

    /// The files whose names end in `end`.
    pub(crate) fn ending(&self, end: &str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.path.ends_with(end))
    }
}

/// The files that git lists, if it can.
fn listed(root: &Path) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = git.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.split_terminator('\0').map(str::to_owned).collect())
}

/// Adds all files under `root/below`, except those of git and cargo's output.
fn walk(root: &Path, below: &str, paths: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if !entry.file_type()?.is_dir() {
            paths.insert(path);
        } else if name != ".git" && name != "target" {
            walk(root, &path, paths)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn git_and_the_walk_agree_about_this_crate() {
        let root = Workspace::new().root;
        let mut walked = BTreeSet::new();
        walk(&root, "xtask", &mut walked).unwrap();
        let tree = Tree::read(&root).unwrap();
        assert!(walked.contains("xtask/src/tidy/tree.rs"));
        assert!(walked.iter().all(|path| tree.has(path)));
    }

    #[test]
    fn a_tree_has_files_and_their_directories() {
        let tree = Tree::of(&[("docs/a/b.md", ""), ("docs/z.md", "")]);
        assert!(tree.has("docs/a/b.md"));
        assert!(tree.has("docs/a"));
        assert!(tree.has("docs/"));
        assert!(!tree.has("docs/a/b"));
        assert!(!tree.has("doc"));
    }
}

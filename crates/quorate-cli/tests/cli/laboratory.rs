//! Commands of the laboratory: found beside the program or on PATH, or missed with a hint.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// A folder with a copy of the program, and no laboratory beside it.
fn alone() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for a test");
    fs::copy(crate::PROGRAM, folder.path().join("quorate")).expect("the program was built");
    folder
}

/// Something in place of the laboratory, which says how it was called, and exits with 3.
fn stand_in(folder: &Path) {
    let path = folder.join("quorate-lab");
    fs::write(&path, "#!/bin/sh\necho \"$0: $*\"\nexit 3\n").expect("the folder is a test's");
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("it is ours");
}

fn run(folder: &Path, path: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(folder.join("quorate"));
    command.env("PATH", format!("{}:/bin:/usr/bin", path.display()));
    command.args(words).output().expect("the program runs")
}

#[test]
fn a_missing_laboratory_is_named_with_the_command_that_builds_it() {
    let folder = alone();
    for words in
        [&["sim", "demo"][..], &["check", "mutex"], &["lab", "list"], &["quorum", "compare"]]
    {
        let output = run(folder.path(), folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{said}");
        assert!(said.contains("quorate-lab"), "{said}");
        assert!(said.contains("cargo build --release -p quorate-lab"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn the_laboratory_gets_every_word_and_its_exit_code_is_ours() {
    let folder = alone();
    stand_in(folder.path());
    let words = ["quorum", "suggest", "--n", "9", "--help"];
    let output = run(folder.path(), Path::new("/nowhere"), &words);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.ends_with("quorate-lab: quorum suggest --n 9 --help\n"), "{said}");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn the_laboratory_is_found_on_the_path() {
    let (folder, elsewhere) = (alone(), tempfile::tempdir().expect("a folder for a test"));
    stand_in(elsewhere.path());
    let output = run(folder.path(), elsewhere.path(), &["sim", "random", "--runs", "7"]);
    let said = String::from_utf8_lossy(&output.stdout);
    let there = elsewhere.path().join("quorate-lab");
    assert_eq!(said, format!("{}: sim random --runs 7\n", there.display()));
}

//! Commands that run `quorate-lab`: it is found beside the program or on PATH, or reported missing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// A directory with a copy of the program, and without `quorate-lab`.
fn without_lab() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for a test");
    fs::copy(crate::PROGRAM, folder.path().join("quorate")).expect("the program was built");
    folder
}

/// Writes a fake `quorate-lab`, which prints its arguments and exits with 3.
fn write_fake_lab(folder: &Path) {
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
fn a_missing_laboratory_is_reported_with_the_command_that_builds_it() {
    let folder = without_lab();
    for words in
        [&["sim", "demo"][..], &["check", "mutex"], &["lab", "list"], &["quorum", "compare"]]
    {
        let output = run(folder.path(), folder.path(), words);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{text}");
        assert!(text.contains("quorate-lab"), "{text}");
        assert!(text.contains("cargo build --release -p quorate-lab"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn all_arguments_and_the_exit_code_are_passed_through() {
    let folder = without_lab();
    write_fake_lab(folder.path());
    let words = ["quorum", "suggest", "--n", "9", "--help"];
    let output = run(folder.path(), Path::new("/nowhere"), &words);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.ends_with("quorate-lab: quorum suggest --n 9 --help\n"), "{text}");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn the_laboratory_is_found_on_the_path() {
    let (folder, elsewhere) = (without_lab(), tempfile::tempdir().expect("a folder for a test"));
    write_fake_lab(elsewhere.path());
    let output = run(folder.path(), elsewhere.path(), &["sim", "random", "--runs", "7"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let there = elsewhere.path().join("quorate-lab");
    assert_eq!(text, format!("{}: sim random --runs 7\n", there.display()));
}

//! The program and its page, docs/torture.md, name the same faults.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::collections::BTreeSet;
use std::process::Command;

/// The faults in the table of the page.
fn documented() -> BTreeSet<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/torture.md");
    let page = std::fs::read_to_string(page).unwrap();
    let faults = page.split("## Faults").nth(1).unwrap().split("\n## ").next().unwrap();
    let cells = faults.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    cells
        .flat_map(|cell| cell.split(',').map(|name| name.trim_matches([' ', '`']).to_owned()))
        .collect()
}

#[test]
fn the_page_lists_every_fault() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorate-torture"));
    let output = command.args(["--nemesis", "list"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let first_words = text.lines().filter_map(|line| line.split_whitespace().next());
    let listed: BTreeSet<String> = first_words.map(str::to_owned).collect();
    assert_eq!(listed, documented());
}

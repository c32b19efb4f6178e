//! `cargo xtask tidy`: the rules of style and layering that the compiler does not know.
//!
//! A rule is a function from a file to its findings. Rules for Rust see tokens, not text: a word
//! in a comment or a string breaks no rule about code.

mod citations;
mod docs;
mod features;
mod habits;
mod layers;
mod lex;
mod links;
mod manifests;
mod paths;
mod size;
mod source;
mod tree;

use std::collections::BTreeSet;
use std::fmt;
use std::io;

use crate::shop::Shop;
use source::Source;
use tree::Tree;

/// What `--help` says.
pub(crate) const HELP: &str = "
Reads every file that git tracks or would track, and prints `file:line: what is wrong; what would
be right`. The rules:

  sizes      a Rust file has at most 500 lines, a function 70, a line 100 columns
  docs       a public item has a sentence, and its first paragraph ends as one
  layers     the pure crates name no clock, thread, chance or unordered map; a crate uses only
             those below it
  features   the service is built without `mutations`, as far as `cargo tree` can run
  habits     no `unwrap` outside tests, no empty `expect`, no ignored test without a reason, no
             `todo!`, `unimplemented!` or `dbg!`, no `unsafe` that the file's `//!` does not
             explain, no sleeping test
  words      no path of one machine, no link to a missing file, no citation of a missing scenario
";

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// A rule for one Rust file.
type Rule = fn(&Source<'_>) -> Vec<Finding>;

const RULES: &[Rule] = &[
    size::files,
    size::lines,
    size::functions,
    layers::words,
    habits::unwraps,
    habits::expects,
    habits::ignores,
    habits::leftovers,
    habits::unsafes,
    habits::sleeps,
];

/// Checks the repository and prints what is wrong; false if anything is.
pub(crate) fn run(shop: &Shop) -> io::Result<bool> {
    let mut findings = check(&Tree::read(&shop.root)?);
    findings.extend(features::service(shop));
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: nothing to mend"),
        n => println!("tidy: {n} to mend"),
    }
    Ok(findings.is_empty())
}

/// All findings in `tree`, by file and line.
fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = manifests::uses(tree);
    for file in &tree.files {
        findings.extend(paths::machine_paths(file));
    }
    for file in tree.ending(".md") {
        findings.extend(links::links(file, tree));
    }
    for source in sources(tree) {
        findings.extend(RULES.iter().flat_map(|rule| rule(&source)));
        findings.extend(docs::sentences(&source, tree));
        findings.extend(citations::citations(&source, tree));
    }
    findings.sort();
    findings
}

/// The Rust files of `tree`, with those marked that are modules for tests only.
fn sources(tree: &Tree) -> Vec<Source<'_>> {
    let mut sources: Vec<_> =
        tree.ending(".rs").map(|file| Source::new(&file.path, &file.text)).collect();
    let tests: BTreeSet<String> = sources.iter().flat_map(Source::test_modules).collect();
    for source in &mut sources {
        let ends = source.path.match_indices('/').map(|(at, _)| at).chain([source.path.len()]);
        if ends.into_iter().any(|end| tests.contains(&source.path[..end])) {
            source.only_for_tests();
        }
    }
    sources
}

/// What `rule` says about a file, for tests.
#[cfg(test)]
fn said(rule: Rule, path: &str, text: &str) -> Vec<String> {
    rule(&Source::new(path, text)).iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_in_order_and_from_all_rules() {
        let tree = Tree::of(&[
            ("b.rs", "fn f() { a.unwrap() }\n\n// Scenario: mutex/gone"),
            ("a.md", "[x](gone.md)"),
        ]);
        let places: Vec<_> =
            check(&tree).into_iter().map(|found| (found.path, found.line)).collect();
        let place = |path: &str, line| (path.to_owned(), line);
        assert_eq!(places, [place("a.md", 1), place("b.rs", 1), place("b.rs", 3)]);
    }

    #[test]
    fn modules_declared_for_tests_are_tests_with_all_below_them() {
        let tree = Tree::of(&[
            ("src/lib.rs", "#[cfg(test)] mod laws;\nmod code;"),
            ("src/laws.rs", "mod deep; fn f() { a.unwrap() }"),
            ("src/laws/deep.rs", "fn f() { a.unwrap() }"),
            ("src/code.rs", "fn f() { a.unwrap() }"),
        ]);
        let paths: Vec<_> = check(&tree).into_iter().map(|found| found.path).collect();
        assert_eq!(paths, ["src/code.rs"]);
    }
}

//! `cargo xtask tidy`: the rules of style and layering that neither compiler nor clippy check.
//!
//! A rule is a function from a file to its findings. Rules for Rust see tokens, not text: a word
//! in a comment or a string breaks no rule about code.

mod citations;
mod definitions;
mod docs;
mod features;
mod habits;
mod layers;
mod lex;
mod links;
mod log_events;
mod manifests;
mod markdown;
mod mentions;
mod paths;
mod references;
mod size;
mod source;
mod tree;

use std::fmt;
use std::io;

use crate::workspace::Workspace;
use definitions::Definitions;
use references::Errata;
use source::Source;
use tree::Tree;

/// The text of `--help`.
pub(crate) const HELP: &str = "
Reads every file that git tracks or would track, and prints `file:line: what is wrong; what would
be right`. Clippy's lints come on top. The rules:

  sizes      a Rust file has at most 500 lines, a function 70, a line 100 columns
  docs       a public item has a doc comment whose first paragraph is a sentence
  layers     the pure crates name no clock, thread, random source or unordered map; a crate uses
             only those below it
  features   the service is built without `mutations`, if `cargo tree` can run
  habits     no empty `expect`
  references no path of one machine, no link to a missing file, no citation of a missing scenario
             or of an erratum that the protocol's page does not list; a name of code in a document
             about code exists, and a Rust file in backticks in any document or comment
  log        the events that a site logs are those of the table in docs/operating.md
";

/// A broken rule.
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

const RULES: &[Rule] = &[size::files, size::lines, size::functions, layers::words, habits::expects];

/// Checks the repository and prints all findings; false if there are any.
pub(crate) fn run(workspace: &Workspace) -> io::Result<bool> {
    let mut findings = check(&Tree::read(&workspace.root)?);
    findings.extend(features::service(workspace));
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: no findings"),
        n => println!("tidy: {n} findings"),
    }
    Ok(findings.is_empty())
}

/// All findings in `tree`, by file and line.
fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = manifests::uses(tree);
    for file in &tree.files {
        findings.extend(paths::machine_paths(file));
    }
    let sources = sources(tree);
    findings.extend(log_events::log_events(tree, &sources));
    let names = Definitions::collect(&sources);
    let errata = Errata::read(tree);
    for file in tree.ending(".txt").filter(|file| file.path.starts_with("scenarios/")) {
        findings.extend(references::in_document(file, &errata));
    }
    for file in tree.ending(".md") {
        findings.extend(references::in_document(file, &errata));
        findings.extend(links::links(file, tree));
        findings.extend(mentions::mentions(file, &names, tree));
    }
    for source in &sources {
        findings.extend(RULES.iter().flat_map(|rule| rule(source)));
        findings.extend(docs::sentences(source, tree));
        findings.extend(citations::citations(source, tree));
        findings.extend(references::in_source(source, &errata));
        findings.extend(mentions::in_comments(source, tree));
    }
    findings.sort();
    findings
}

/// The Rust files of `tree`.
fn sources(tree: &Tree) -> Vec<Source<'_>> {
    tree.ending(".rs").map(|file| Source::new(&file.path, &file.text)).collect()
}

/// What `rule` says about a file, for tests.
#[cfg(test)]
fn texts(rule: Rule, path: &str, text: &str) -> Vec<String> {
    rule(&Source::new(path, text)).iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_in_order_and_from_all_rules() {
        let tree = Tree::of(&[
            ("b.rs", "fn f() { a.expect(\"\") }\n\n// Scenario: mutex/gone"),
            ("a.md", "[x](gone.md)"),
        ]);
        let places: Vec<_> =
            check(&tree).into_iter().map(|found| (found.path, found.line)).collect();
        let place = |path: &str, line| (path.to_owned(), line);
        assert_eq!(places, [place("a.md", 1), place("b.rs", 1), place("b.rs", 3)]);
    }
}

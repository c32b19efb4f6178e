//! References: a reader can follow them inside the repository.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::citations::words;
use super::markdown::prose;
use super::source::Source;
use super::tree::{File, Tree};

/// The letters that errata of a paper are numbered with.
const LETTERS: &[char] = &['A', 'E', 'N', 'O'];

/// The errata that the page of each protocol lists.
#[derive(Debug)]
pub(crate) struct Errata(BTreeMap<String, BTreeSet<String>>);

impl Errata {
    /// Reads the pages in `docs/protocols/`. A page lists a number at the beginning of a table row,
    /// a list item or a heading.
    pub(crate) fn read(tree: &Tree) -> Self {
        let mut pages = BTreeMap::new();
        for file in tree.ending(".md") {
            let name = file.path.strip_prefix("docs/protocols/");
            let Some(name) = name.and_then(|name| name.strip_suffix(".md")) else { continue };
            let listed = prose(&file.text).into_iter().flat_map(|(_, line)| listed(line));
            pages.insert(name.to_owned(), listed.collect());
        }
        Self(pages)
    }

    /// Whether `number` is listed for the protocol that `path` is about, or for any protocol if it
    /// is about none.
    fn lists(&self, path: &str, number: &str) -> bool {
        let about = |protocol: &str| {
            path.split(['/', '.']).any(|part| {
                part.strip_prefix(protocol)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            })
        };
        let mut pages: Vec<_> = self.0.iter().filter(|(protocol, _)| about(protocol)).collect();
        if pages.is_empty() {
            pages = self.0.iter().collect();
        }
        pages.into_iter().any(|(_, listed)| listed.contains(number))
    }
}

/// Finds references in comments that cannot be followed.
pub(crate) fn in_source(source: &Source<'_>, errata: &Errata) -> Vec<Finding> {
    check(source.path, &words(&source.comments), errata)
}

/// Finds references in a document, or in the comments of a scenario, that cannot be followed.
pub(crate) fn in_document(file: &File, errata: &Errata) -> Vec<Finding> {
    let lines = if file.path.starts_with("scenarios/") {
        let numbered = (1..).zip(file.text.lines());
        numbered.filter(|(_, line)| line.starts_with('#')).collect()
    } else {
        prose(&file.text)
    };
    let words = lines.into_iter().flat_map(|(number, line)| {
        line.split_whitespace().filter(|word| *word != "#").map(move |word| (number, word))
    });
    check(&file.path, &words.collect::<Vec<_>>(), errata)
}

/// The findings in `words`, which stand in the file at `path`.
fn check(path: &str, words: &[(usize, &str)], errata: &Errata) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |line, what| findings.push(Finding { path: path.to_owned(), line, what });
    let mut before = "";
    for (line, word) in words {
        if before.eq_ignore_ascii_case("the") && first_part(word) == "note" {
            add(*line, "`the note` cannot be followed; cite a page in docs/ or a paper".to_owned());
        }
        before = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        if word.contains("E-own") {
            add(
                *line,
                "`E-own` is listed nowhere; cite a number of the protocol's page".to_owned(),
            );
        }
        for number in numbers(word).filter(|number| !errata.lists(path, number)) {
            let what = format!("no page of the protocol lists `{number}`; cite what it lists");
            add(*line, what);
        }
    }
    findings
}

/// The first part of a word that consists of letters and digits.
fn first_part(word: &str) -> &str {
    word.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// The errata numbers in a word: `E5`, also in `E5/E6`, `(E5)` and `E5-late`.
fn numbers(word: &str) -> impl Iterator<Item = &str> {
    let is_number = |part: &&str| {
        let digits = part.strip_prefix(LETTERS).unwrap_or_default();
        (1..=2).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_digit())
    };
    word.split(|c: char| c != '_' && !c.is_alphanumeric()).filter(is_number)
}

/// The errata numbers that a line of a page lists.
fn listed(line: &str) -> Vec<String> {
    let line = line.trim_start();
    let start = if let Some(row) = line.strip_prefix('|') {
        row.split('|').next().unwrap_or_default()
    } else if line.starts_with(|c: char| "#-*".contains(c) || c.is_ascii_digit()) {
        let numbered = line.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
        let text = numbered.trim_start_matches(['#', '-', '*', ' ', '`']);
        text.split_whitespace().next().unwrap_or_default()
    } else {
        ""
    };
    start.split_whitespace().flat_map(numbers).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUTEX: &str =
        "| E5, E6 | printed |\n- **E7** is a slip\n1. *E10*\n## E8: a queue\nE9 is missing.";

    fn found(path: &str, text: &str) -> Vec<String> {
        let tree =
            Tree::of(&[("docs/protocols/mutex.md", MUTEX), ("docs/protocols/role.md", "| A7 |")]);
        let errata = Errata::read(&tree);
        let found = if path.split('.').next_back() == Some("rs") {
            in_source(&Source::new(path, text), &errata)
        } else {
            in_document(&File { path: path.to_owned(), text: text.to_owned() }, &errata)
        };
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn listed_errata_may_be_cited() {
        for (path, text) in [
            ("src/mutex/arbiter.rs", "/// Undoes E5 (E6, E7/E8), as E5-late."),
            ("tests/mutex_faults.rs", "// E5 and E10"),
            ("scenarios/mutex/a.txt", "# E5 shows.\n1 acquires E99"),
            ("docs/protocols/role.md", "As A7 says."),
            ("docs/lab.md", "E5 and A7."),
            ("src/lib.rs", "// E5 and A7\nfn f() { \"E99\" }"),
        ] {
            assert!(found(path, text).is_empty(), "{path}");
        }
    }

    #[test]
    fn other_errata_may_not() {
        let what = "no page of the protocol lists `E9`; cite what it lists";
        assert_eq!(
            found("src/mutex/arbiter.rs", "\n/// E9."),
            [format!("src/mutex/arbiter.rs:2: {what}")]
        );
        assert_eq!(found("scenarios/mutex/a.txt", "# (E9)").len(), 1);
        assert_eq!(found("docs/protocols/role.md", "`undo=E5`").len(), 1);
        assert_eq!(found("docs/lab.md", "E1 to E5").len(), 1);
        assert_eq!(found("src/token.rs", "// E-own-3").len(), 1);
    }

    #[test]
    fn the_note_is_no_source() {
        assert_eq!(found("a.rs", "/// When it ends; the\n/// note's D.").len(), 1);
        assert_eq!(found("a.md", "The note says so.").len(), 1);
        assert!(found("a.rs", "/// The notes of a run; a note; the noted.").is_empty());
    }

    #[test]
    fn other_words_are_no_numbers() {
        for text in ["I8 and S1", "E and E123", "A.2", "e5_next", "E5_LIMIT", "Ex", "1E5", "NaN"] {
            assert!(found("src/mutex/a.rs", &format!("// {text}")).is_empty(), "{text}");
        }
    }
}

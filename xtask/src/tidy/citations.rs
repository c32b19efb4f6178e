//! Citations: a scenario that a comment cites exists.

use super::Finding;
use super::lex::Token;
use super::source::Source;
use super::tree::Tree;

/// Finds scenarios that comments cite and that do not exist.
///
/// A citation is `scenario` and what follows in backticks, `Scenario: x/y`, or a path under
/// `scenarios`; a path with a placeholder is none.
pub(crate) fn citations(source: &Source<'_>, tree: &Tree) -> Vec<Finding> {
    let words = words(&source.comments);
    let mut findings = Vec::new();
    let mut cited = false; // the words before lead to a citation
    for (line, word) in words {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        if let Some(path) = path_under_scenarios(word) {
            let file = format!("{}.txt", path.trim_end_matches(".txt").trim_end_matches('/'));
            if !tree.has(path) && !tree.has(&file) {
                findings.push(source.finding(line, unknown(path)));
            }
            cited = false;
        } else if is_heading(word) {
            cited = true;
        } else if cited && (bare == "and" || bare == "or") {
            // `scenarios a/b and a/c`
        } else {
            if cited && is_story(word, bare) && !tree.has(&format!("scenarios/{bare}.txt")) {
                findings.push(source.finding(line, unknown(bare)));
            }
            cited &= is_story(word, bare);
        }
    }
    findings
}

fn unknown(cited: &str) -> String {
    format!("there is no scenario `{cited}`; cite one that exists, as `protocol/story`")
}

/// The words of comments, each with its line.
pub(crate) fn words<'a>(comments: &[Token<'a>]) -> Vec<(usize, &'a str)> {
    let lines = comments.iter().flat_map(|comment| comment.text.lines().zip(comment.line..));
    let words =
        lines.flat_map(|(text, line)| text.split_whitespace().map(move |word| (line, word)));
    words.filter(|(_, word)| !matches!(*word, "//" | "///" | "//!" | "/*" | "*/" | "*")).collect()
}

/// Whether `word` announces the scenarios that follow it.
fn is_heading(word: &str) -> bool {
    let word = word.trim_start_matches('(').trim_end_matches(':').to_lowercase();
    word == "scenario" || word == "scenarios"
}

/// Whether `word` can name a story: a protocol and a title, both in small letters.
fn is_story(word: &str, bare: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))
    };
    let parts: Vec<&str> = bare.split('/').collect();
    !word.contains("//") && parts.len() == 2 && parts.into_iter().all(plain)
}

/// The path in `word`, if it leads to something under the scenarios.
fn path_under_scenarios(word: &str) -> Option<&str> {
    let start = word.find("scenarios/")?;
    let path = &word[start..];
    let end = path.find(|c: char| !c.is_alphanumeric() && !"/_-.*<{".contains(c));
    let path = path[..end.unwrap_or(path.len())].trim_end_matches('.');
    let named = path.len() > "scenarios/".len() && !path.contains(['*', '<', '{']);
    (named && !path.contains("...")).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cited(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("scenarios/mutex/elder.txt", ""), ("scenarios/mutex/own.txt", "")]);
        let found = citations(&Source::new("a.rs", text), &tree);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn scenarios_that_exist_may_be_cited() {
        for text in [
            "/// Scenario: `mutex/elder`.",
            "/// Scenario: mutex/elder",
            "// wait for each other (E5, scenario `mutex/elder`).",
            "/// Scenarios: `mutex/elder`, `mutex/own`.",
            "/// See `scenarios/mutex/elder.txt` and scenarios/mutex/own.",
            "/// All of `scenarios/mutex/`.",
        ] {
            assert!(cited(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn scenarios_that_do_not_exist_may_not() {
        let what = "cite one that exists, as `protocol/story`";
        let first = format!("a.rs:1: there is no scenario `mutex/gone`; {what}");
        assert_eq!(cited("/// Scenario: `mutex/gone`."), [first.as_str()]);
        assert_eq!(cited("// as scenario mutex/gone shows"), [first.as_str()]);
        assert_eq!(cited("/// Scenarios `mutex/own` and\n/// `mutex/gone`.").len(), 1);
        assert_eq!(cited("/// Scenario:\n/// `mutex/gone`.").len(), 1);
        assert_eq!(cited("//! See scenarios/mutex/gone.txt.").len(), 1);
        assert_eq!(cited("//! See scenarios/pool/.").len(), 1);
    }

    #[test]
    fn what_is_no_citation_is_left_alone() {
        for text in [
            "/// Runs every `scenarios/*/*.txt`, as `scenarios/<protocol>/*.txt` or scenarios/...",
            "/// A scenario is a story and/or a test. Every scenario counts.",
            "fn f() { \"Scenario: mutex/gone\" }",
            "/// The scenario https://example.org/a",
        ] {
            assert!(cited(text).is_empty(), "{text}");
        }
    }
}

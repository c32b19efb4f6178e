//! Layers in code: pure crates do not name what they must not use.

use super::Finding;
use super::lex::Token;
use super::source::{Source, reads};

/// Forbidden names by crate: clocks, threads, random sources, and unordered maps.
const FORBIDDEN: &[(&[&str], &[&str])] = &[
    (
        &["quorate-quorum", "quorate-session", "quorate-protocol", "quorate-site"],
        &[
            "Instant",
            "SystemTime",
            "std::thread",
            "tokio",
            "rand::rng",
            "OsRng",
            "getrandom",
            "HashMap",
            "HashSet",
        ],
    ),
    (&["quorate-sim"], &["Instant", "SystemTime", "tokio"]),
];

/// Finds forbidden names in the crates that must stay pure, their tests included.
pub(crate) fn words(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (crates, words) in FORBIDDEN {
        let Some(name) = crates.iter().find(|name| is_under(source.path, name)) else { continue };
        for word in *words {
            let found = (0..source.code.len()).filter(|index| names(&source.code, *index, word));
            findings.extend(found.map(|index| {
                let what = format!("{name} must not name `{word}`; {}", instead(word));
                source.finding(source.code[index].line, what)
            }));
        }
    }
    findings
}

fn is_under(path: &str, name: &str) -> bool {
    path.strip_prefix("crates/")
        .and_then(|rest| rest.strip_prefix(name))
        .is_some_and(|rest| rest.starts_with("/src/"))
}

fn instead(word: &str) -> &'static str {
    match word {
        "Instant" | "SystemTime" => "time is an argument",
        "HashMap" | "HashSet" => "ordered maps and sets give equal histories equal bytes",
        "std::thread" | "tokio" => "the driver runs things",
        _ => "what is drawn at random comes in from outside",
    }
}

/// Whether the token at `index` names `word`, a name or a path of two.
fn names(code: &[Token<'_>], index: usize, word: &str) -> bool {
    let Some((outer, inner)) = word.split_once("::") else { return code[index].is_word(word) };
    code[index].is_word(outer) && reads(code, index + 1, ": :") && reads(code, index + 3, inner)
        || code[index].is_word(inner) && is_imported_from(code, index, outer)
}

/// Whether the token at `index` stands in the braces of a `use` that names `outer` before it.
fn is_imported_from(code: &[Token<'_>], index: usize, outer: &str) -> bool {
    let before = code[..index].iter().rposition(|token| token.is_mark(";") || token.is_word("use"));
    let Some(start) = before.filter(|start| code[*start].is_word("use")) else { return false };
    let path = &code[start..index];
    path.iter().any(|token| token.is_mark("{")) && path.iter().any(|token| token.is_word(outer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::texts;

    const PURE: &str = "crates/quorate-protocol/src/mutex/mod.rs";

    #[test]
    fn pure_crates_name_no_clock() {
        let found = texts(words, PURE, "\nfn f() { std::time::Instant::now() }");
        let what = "quorate-protocol must not name `Instant`; time is an argument";
        assert_eq!(found, [format!("{PURE}:2: {what}")]);
    }

    #[test]
    fn tests_of_pure_crates_are_pure_too() {
        let text = "#[cfg(test)] mod tests { use std::collections::HashMap; }";
        assert_eq!(texts(words, PURE, text).len(), 1);
    }

    #[test]
    fn paths_are_found_whole_or_imported() {
        assert_eq!(texts(words, PURE, "std::thread::spawn(f)").len(), 1);
        assert_eq!(texts(words, PURE, "use std::{fmt, thread};").len(), 1);
        assert_eq!(texts(words, PURE, "let x = rand::rng();").len(), 1);
        assert!(
            texts(words, PURE, "use std::fmt; fn f(thread: u8, rng: Rng) { thread }").is_empty()
        );
    }

    #[test]
    fn comments_strings_and_longer_names_are_free() {
        let text = "/// A HashMap. \nfn f() { /* tokio */ \"Instant\"; Instantly } // HashSet";
        assert!(texts(words, PURE, text).is_empty());
    }

    #[test]
    fn each_layer_has_its_own_list() {
        let simulator = "crates/quorate-sim/src/world.rs";
        assert_eq!(texts(words, simulator, "tokio::spawn").len(), 1);
        assert!(texts(words, simulator, "HashMap").is_empty());
        assert!(texts(words, "crates/quorate-server/src/lib.rs", "tokio, Instant").is_empty());
        assert!(texts(words, "crates/quorate-simple/src/lib.rs", "tokio").is_empty());
        assert!(texts(words, "crates/quorate-quorum/benches/a.rs", "Instant").is_empty());
    }
}

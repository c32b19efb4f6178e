//! Mentions: a name of code in a document about code exists.

use super::Finding;
use super::citations::words;
use super::definitions::Definitions;
use super::markdown::{code_spans, prose};
use super::source::Source;
use super::tree::{File, Tree};

/// The documents that describe code.
const PAGES: &[&str] = &["ARCHITECTURE.md", "docs/site.md", "docs/lab.md", "docs/quorums.md"];

/// Folders of such documents.
const FOLDERS: &[&str] = &["docs/protocols/", "docs/design/"];

/// Files that users write.
const OF_USERS: &[&str] = &["site.toml"];

/// A document about the past, whose files need not exist any more.
const HISTORY: &str = "CHANGELOG.md";

/// The endings of files that are looked up.
const ENDINGS: &[&str] = &[RUST, ".md", ".toml", ".txt"];

/// The ending of Rust files, which are looked up in every document.
const RUST: &str = ".rs";

/// Folders of a crate that a path must name, because their files are often called like a source.
const BESIDE_SOURCES: &[&str] = &["tests/", "benches/", "examples/"];

/// Finds names in code spans that nothing has, in the documents that describe code. In other
/// documents only Rust files are checked.
///
/// Checked are `Type::member`, `Type`, `some_name`, `name()`, `CONSTANT_NAME`, files, `dir/` and
/// `protocol/scenario`. Command lines, expressions and single small words are not: too much of
/// them is no Rust.
pub(crate) fn mentions(file: &File, names: &Definitions<'_>, tree: &Tree) -> Vec<Finding> {
    let path = file.path.as_str();
    if path == HISTORY {
        return Vec::new();
    }
    let about_code = PAGES.contains(&path) || FOLDERS.iter().any(|folder| path.starts_with(folder));
    let is_checked = |span: &&(usize, String)| about_code || span.1.ends_with(RUST);
    let spans = code_spans(&file.text);
    let in_spans = spans.iter().filter(is_checked).filter_map(|(line, span)| {
        is_missing(span, names, tree).map(|name| unknown(path, *line, name))
    });
    let in_diagrams = fenced_files(&file.text).into_iter().filter(|(_, name)| {
        about_code && !has_file(name, tree) && !tree.has(&with_crate_name(name))
    });
    in_spans.chain(in_diagrams.map(|(line, name)| unknown(path, line, name))).collect()
}

/// Finds Rust files in backticks, in the comments of a source, that do not exist.
pub(crate) fn in_comments(source: &Source<'_>, tree: &Tree) -> Vec<Finding> {
    let spans = words(&source.comments).into_iter().filter_map(|(line, word)| {
        let (_, rest) = word.split_once('`')?;
        Some((line, rest.split_once('`')?.0))
    });
    spans
        .filter(|(_, span)| span.ends_with(RUST) && !has_file(span, tree))
        .map(|(line, span)| unknown(source.path, line, span))
        .collect()
}

fn unknown(path: &str, line: usize, name: &str) -> Finding {
    let what = format!("nothing is named `{name}`; name what exists");
    Finding { path: path.to_owned(), line, what }
}

/// The Rust files that fenced blocks name, as diagrams do, each with its line.
fn fenced_files(text: &str) -> Vec<(usize, &str)> {
    let prose: Vec<usize> = prose(text).into_iter().map(|(number, _)| number).collect();
    let fenced = (1..).zip(text.lines()).filter(|(number, _)| !prose.contains(number));
    let words =
        fenced.flat_map(|(number, line)| line.split_whitespace().map(move |word| (number, word)));
    words.filter(|(_, word)| word.ends_with(RUST)).collect()
}

/// The part of `span` that does not exist, if one does not.
fn is_missing<'a>(span: &'a str, names: &Definitions<'_>, tree: &Tree) -> Option<&'a str> {
    let (first, rest) = span.split_once(char::is_whitespace).unwrap_or((span, ""));
    let called = first.contains('(');
    let name = &first[..first.find(['(', '<']).unwrap_or(first.len())];
    let known = if let Some((owner, member)) = name.rsplit_once("::") {
        let owner = owner.rsplit("::").next().unwrap_or(owner);
        let plain = is_identifier(owner) && is_identifier(member);
        !plain || names.has_member(owner, member)
    } else if !rest.is_empty() {
        true // a command line, or an expression
    } else if first.contains('/') || ENDINGS.iter().any(|ending| first.ends_with(ending)) {
        has_file(first, tree)
    } else if !is_identifier(name) {
        true
    } else if is_camel_case(name) {
        names.has_item(name) || names.has_identifier(name)
    } else if has_mixed_case(name) {
        true // a placeholder, as in `eN_undone`
    } else if name.contains('_') || called {
        names.has_item(name)
            || names.has_spelled(name)
            || tree.has_ending(&format!("/{name}.txt"))
            || tree.has_ending(&format!("/{name}"))
    } else {
        true
    };
    (!known).then_some(name)
}

/// Whether a file or directory matches a path that may leave out where it begins; true if it is no
/// path of ours.
fn has_file(path: &str, tree: &Tree) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
    if path.starts_with(['/', '-']) || !path.chars().all(plain) || OF_USERS.contains(&path) {
        return true; // an absolute path, a pattern, another's file
    }
    let is_placeholder = |part: &str| part.chars().all(|c| c.is_ascii_uppercase());
    if path.trim_end_matches('/').split('/').any(is_placeholder) {
        return true;
    }
    if ENDINGS.iter().any(|ending| path.ends_with(ending)) {
        let end = format!("/{path}");
        let is_named = |found: &&str| {
            let mut beside = BESIDE_SOURCES.iter().filter(|beside| found.contains(*beside));
            found.ends_with(&end) && beside.all(|beside| path.contains(beside))
        };
        return tree.has(path) || tree.paths().any(|found| is_named(&found));
    }
    if let Some(directory) = path.strip_suffix('/') {
        return tree.has(directory) || tree.has_part(&format!("/{directory}/"));
    }
    let folder = path.split('/').next().unwrap_or_default();
    let is_story = path.matches('/').count() == 1 && tree.has(&format!("scenarios/{folder}"));
    !is_story || tree.has(&format!("scenarios/{path}.txt")) || tree.has_part(&format!("/{path}/"))
}

/// The path that stands for `path` in a diagram: `client/guard` is `guard` of `quorate-client`.
fn with_crate_name(path: &str) -> String {
    let (short, below) = path.split_once('/').unwrap_or_default();
    format!("crates/quorate-{short}/src/{below}")
}

/// Whether `name` begins small and has capitals, as no name of ours does.
fn has_mixed_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.contains(|c: char| c.is_ascii_uppercase())
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// Whether `name` looks like a type or a variant: capital first, and not all capitals.
fn is_camel_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.contains(|c: char| c.is_ascii_lowercase())
        && !name.contains('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = r#"
        struct Arbiter { lock: u8, early_release: BTreeMap<u8, u8> }
        impl Arbiter { fn on_request(&self) { option("yield_pass") } }
        enum Input { Silent(u8) }
    "#;

    fn found(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("scenarios/mutex/e5_elder.txt", ""),
            ("crates/quorate-client/src/guard.rs", ""),
            ("crates/a/src/mutex/arbiter.rs", CODE),
            ("crates/a/tests/all/mutex/server.rs", ""),
        ]);
        if path.ends_with(RUST) {
            return texts(&in_comments(&Source::new(path, text), &tree));
        }
        let sources = [Source::new("crates/a/src/mutex/arbiter.rs", CODE)];
        let names = Definitions::collect(&sources);
        let file = File { path: path.to_owned(), text: text.to_owned() };
        texts(&mentions(&file, &names, &tree))
    }

    fn texts(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_that_exist_may_be_mentioned() {
        for span in [
            "Arbiter::on_request",
            "Arbiter::on_request()",
            "Input::Silent { site: 1 }",
            "Silent(a)",
            "on_request",
            "early_release",
            "yield_pass",
            "BTreeMap<u8, u8>",
            "e5_elder",
            "mutex/e5_elder",
            "arbiter.rs",
            "mutex/arbiter.rs",
            "tests/all/mutex/server.rs",
            "crates/a/src/mutex/",
        ] {
            assert!(found("docs/protocols/mutex.md", &format!("`{span}`")).is_empty(), "{span}");
        }
    }

    #[test]
    fn names_that_do_not_exist_may_not() {
        for (span, name) in [
            ("Arbiter::gone", "Arbiter::gone"),
            ("Arbiter::Silent", "Arbiter::Silent"),
            ("Gone::on_request", "Gone::on_request"),
            ("Arbiter::gone { a: 1 }", "Arbiter::gone"),
            ("Gone(a)", "Gone"),
            ("on_gone", "on_gone"),
            ("gone()", "gone"),
            ("e5_gone", "e5_gone"),
            ("mutex/e5_gone", "mutex/e5_gone"),
            ("gone.rs", "gone.rs"),
            ("group/arbiter.rs", "group/arbiter.rs"),
            ("src/gone/", "src/gone/"),
        ] {
            let what = format!("nothing is named `{name}`; name what exists");
            let text = format!("a\n`{span}`");
            assert_eq!(
                found("docs/protocols/mutex.md", &text),
                [format!("docs/protocols/mutex.md:2: {what}")]
            );
            let elsewhere = usize::from(span.ends_with(RUST));
            assert_eq!(found("docs/operating.md", &text).len(), elsewhere, "{span}");
            assert_eq!(found("CHANGELOG.md", &text), [""; 0], "{span}");
        }
    }

    #[test]
    fn a_file_of_tests_or_of_another_crate_is_no_source() {
        for file in ["mutex/server.rs", "server.rs", "client/guard.rs"] {
            assert_eq!(found("docs/site.md", &format!("`{file}`")).len(), 1, "{file}");
        }
    }

    #[test]
    fn files_in_comments_exist() {
        assert!(
            found("a.rs", "//! See `arbiter.rs`, and gone.rs.\nfn f() { \"`gone.rs`\" }")
                .is_empty()
        );
        let what = "nothing is named `gone.rs`; name what exists";
        assert_eq!(found("a.rs", "\n/// As (`gone.rs`) says."), [format!("a.rs:2: {what}")]);
    }

    #[test]
    fn files_in_diagrams_exist() {
        let diagram = |file: &str| format!("```text\n1  {file}   on_gone\n```");
        for file in ["mutex/arbiter.rs", "client/guard.rs"] {
            assert!(found("ARCHITECTURE.md", &diagram(file)).is_empty(), "{file}");
        }
        assert_eq!(found("ARCHITECTURE.md", &diagram("mutex/gone.rs")).len(), 1);
    }

    #[test]
    fn what_is_no_name_of_code_is_left_alone() {
        for span in [
            "cargo test -p gone_gone",
            "quorate check mutex --option gone_gone=off",
            "lose=1,silent=1",
            "gone",
            "E5",
            "early-unused",
            "eN_undone",
            "scenarios/*/*.txt",
            "scenarios/NAME/",
            "site.toml",
            "/etc/gone.txt",
            "and/or",
        ] {
            assert!(found("docs/site.md", &format!("`{span}`")).is_empty(), "{span}");
        }
    }
}

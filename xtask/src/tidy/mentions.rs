//! Mentions: a name of code in a document about code exists.

use super::Finding;
use super::definitions::Definitions;
use super::markdown::{code_spans, prose};
use super::tree::{File, Tree};

/// The documents that describe code.
const PAGES: &[&str] = &["ARCHITECTURE.md", "docs/site.md", "docs/lab.md", "docs/quorums.md"];

/// Folders of such documents.
const FOLDERS: &[&str] = &["docs/protocols/", "docs/design/"];

/// Files that users write.
const OF_USERS: &[&str] = &["site.toml"];

/// The endings of files that are looked up.
const ENDINGS: &[&str] = &[".rs", ".md", ".toml", ".txt"];

/// Finds names in code spans that nothing has, in the documents that describe code.
///
/// Checked are `Type::member`, `Type`, `some_name`, `name()`, `CONSTANT_NAME`, `dir/file.rs`,
/// `dir/` and `protocol/scenario`. Command lines, expressions and single small words are not: too
/// much of them is no Rust.
pub(crate) fn mentions(file: &File, names: &Definitions<'_>, tree: &Tree) -> Vec<Finding> {
    let path = file.path.as_str();
    if !PAGES.contains(&path) && !FOLDERS.iter().any(|folder| path.starts_with(folder)) {
        return Vec::new();
    }
    let missing = |(line, span): (usize, String)| {
        let what =
            format!("nothing is named `{}`; name what exists", is_missing(&span, names, tree)?);
        Some(Finding { path: file.path.clone(), line, what })
    };
    let spans = code_spans(&file.text).into_iter();
    spans.chain(fenced_files(&file.text)).filter_map(missing).collect()
}

/// The Rust files that fenced blocks name, as diagrams do, each with its line.
fn fenced_files(text: &str) -> Vec<(usize, String)> {
    let prose: Vec<usize> = prose(text).into_iter().map(|(number, _)| number).collect();
    let fenced = (1..).zip(text.lines()).filter(|(number, _)| !prose.contains(number));
    let words =
        fenced.flat_map(|(number, line)| line.split_whitespace().map(move |word| (number, word)));
    words
        .filter(|(_, word)| word.ends_with(ENDINGS[0]))
        .map(|(number, word)| (number, word.to_owned()))
        .collect()
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
        // `client/guard.rs` may stand for crates/quorate-client/src/guard.rs.
        let (short, below) = path.split_once('/').unwrap_or_default();
        return tree.has(path)
            || tree.has_ending(&format!("/{path}"))
            || tree.has(&format!("crates/quorate-{short}/src/{below}"));
    }
    if let Some(directory) = path.strip_suffix('/') {
        return tree.has(directory) || tree.has_part(&format!("/{directory}/"));
    }
    let folder = path.split('/').next().unwrap_or_default();
    let is_story = path.matches('/').count() == 1 && tree.has(&format!("scenarios/{folder}"));
    !is_story || tree.has(&format!("scenarios/{path}.txt")) || tree.has_part(&format!("/{path}/"))
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
    use crate::tidy::source::Source;

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
        ]);
        let sources = [Source::new("crates/a/src/mutex/arbiter.rs", CODE)];
        let names = Definitions::collect(&sources);
        let file = File { path: path.to_owned(), text: text.to_owned() };
        mentions(&file, &names, &tree).iter().map(ToString::to_string).collect()
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
            "client/guard.rs",
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
            assert_eq!(found("docs/operating.md", &text), [""; 0], "{span}");
        }
    }

    #[test]
    fn files_in_diagrams_exist() {
        let diagram = |file: &str| format!("```text\n1  {file}   on_gone\n```");
        assert!(found("ARCHITECTURE.md", &diagram("mutex/arbiter.rs")).is_empty());
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

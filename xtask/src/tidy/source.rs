//! A Rust file as the rules see it: its tokens, its attributes, and which lines are tests.

use std::ops::Range;

use super::Finding;
use super::lex::{Kind, Token, lex};

/// A Rust file.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// From the root, with `/` between the parts.
    pub(crate) path: &'a str,
    /// All of it.
    pub(crate) text: &'a str,
    /// Its tokens without any comment.
    pub(crate) code: Vec<Token<'a>>,
    /// Its comments, documentation among them.
    pub(crate) comments: Vec<Token<'a>>,
    /// Code and documentation, but no other comment.
    pub(crate) documented: Vec<Token<'a>>,
    /// Parts of `code` that are compiled for tests only.
    tests: Vec<Range<usize>>,
    all_test: bool,
}

impl<'a> Source<'a> {
    /// Reads the file at `path`, which contains `text`.
    pub(crate) fn new(path: &'a str, text: &'a str) -> Self {
        let tokens = lex(text);
        let select = |keep: fn(&Token<'a>) -> bool| {
            tokens.iter().copied().filter(keep).collect::<Vec<Token<'a>>>()
        };
        let code = select(|token| !token.is_comment());
        let comments = select(Token::is_comment);
        let documented = select(|token| token.kind != Kind::Comment);
        let attributes = attributes(&code);
        let tests = attributes.iter().filter(|attribute| is_test(&code[(*attribute).clone()]));
        let tests: Vec<_> = tests.map(|found| found.start..item_end(&code, found.end)).collect();
        let inner = |found: &Range<usize>| {
            code[found.start + 1].is_mark("!") && is_test(&code[found.clone()])
        };
        let all_test = path.split('/').any(|part| part == "tests" || part == "tests.rs")
            || attributes.iter().any(inner);
        Self { path, text, code, comments, documented, tests, all_test }
    }

    /// Marks the whole file as a test: its module is declared so elsewhere.
    pub(crate) fn only_for_tests(&mut self) {
        self.all_test = true;
    }

    /// Whether the token of `code` at `index` is compiled for tests only.
    pub(crate) fn in_test(&self, index: usize) -> bool {
        self.all_test || self.tests.iter().any(|range| range.contains(&index))
    }

    /// The attributes in `code`, each from `#` to behind its `]`.
    pub(crate) fn attributes(&self) -> Vec<Range<usize>> {
        attributes(&self.code)
    }

    /// The directory that holds the files of the modules declared here.
    pub(crate) fn home(&self) -> &'a str {
        match self.path.rsplit_once('/') {
            Some((home, "lib.rs" | "main.rs" | "mod.rs")) => home,
            _ => self.path.trim_end_matches(".rs"),
        }
    }

    /// The files and directories of modules that are declared here for tests only.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        let home = self.home();
        let declared = self.code.windows(3).enumerate().filter(|(index, window)| {
            window[0].is_word("mod") && window[2].is_mark(";") && self.in_test(*index)
        });
        declared
            .flat_map(|(_, window)| {
                ["", ".rs"].map(|end| format!("{home}/{}{end}", window[1].text))
            })
            .collect()
    }

    /// A finding in this file.
    pub(crate) fn finding(&self, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: self.path.to_owned(), line, what: what.into() }
    }
}

/// The index of the bracket that closes the one at `open`; the last token if none does.
pub(crate) fn close(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.kind != Kind::Mark {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len().saturating_sub(1)
}

/// Where the body of the item at `from` opens, if it has one before its `;`.
///
/// A block in the signature (`Foo<{ N }>`) would be taken for the body; we have none.
pub(crate) fn body(tokens: &[Token<'_>], from: usize) -> Option<usize> {
    let mut index = from;
    while let Some(token) = tokens.get(index) {
        if token.kind == Kind::Mark {
            match token.text {
                "{" => return Some(index),
                ";" | "}" => return None,
                "(" | "[" => index = close(tokens, index),
                _ => {}
            }
        }
        index += 1;
    }
    None
}

/// Whether `tokens` at `index` read `words`, which are words and marks parted by spaces.
pub(crate) fn reads(tokens: &[Token<'_>], index: usize, words: &str) -> bool {
    let mut found = tokens.get(index..).unwrap_or_default().iter();
    words
        .split(' ')
        .all(|word| found.next().is_some_and(|token| token.is_word(word) || token.is_mark(word)))
}

/// Behind the end of the item that begins at `from`, which may have more attributes.
fn item_end(code: &[Token<'_>], from: usize) -> usize {
    let mut start = from;
    while reads(code, start, "# [") {
        start = close(code, start + 1) + 1;
    }
    if let Some(open) = body(code, start) {
        return close(code, open) + 1;
    }
    let rest = &code[start..];
    start + rest.iter().position(|token| token.is_mark(";")).map_or(rest.len(), |at| at + 1)
}

fn attributes(code: &[Token<'_>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for index in 0..code.len() {
        for (start, open) in [("# [", 1), ("# ! [", 2)] {
            if reads(code, index, start) {
                found.push(index..close(code, index + open) + 1);
            }
        }
    }
    found
}

/// Whether an attribute makes its item a test, or makes it exist in tests only.
fn is_test(attribute: &[Token<'_>]) -> bool {
    let has = |word: &str| attribute.iter().any(|token| token.is_word(word));
    if has("cfg") {
        return has("test") && !has("not") && !has("any");
    }
    let words: Vec<_> = attribute.iter().take_while(|token| !token.is_mark("(")).collect();
    let last = words.iter().rfind(|token| token.kind == Kind::Word);
    last.is_some_and(|token| token.is_word("test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words `here` and `there` of `text`, with whether they stand in a test.
    fn marks(path: &str, text: &str) -> Vec<bool> {
        let source = Source::new(path, text);
        let words = source.code.iter().enumerate();
        let chosen = words.filter(|(_, token)| token.is_word("here") || token.is_word("there"));
        chosen.map(|(index, _)| source.in_test(index)).collect()
    }

    #[test]
    fn tests_are_told_from_code() {
        let text = "fn a() { here } #[cfg(test)] mod tests { fn b() { here } } fn c() { there }";
        assert_eq!(marks("src/a.rs", text), [false, true, false]);
        let text = "#[test] #[should_panic] fn a() { here } fn b() { there }";
        assert_eq!(marks("src/a.rs", text), [true, false]);
        let text = "#[tokio::test(flavor = \"x\")] fn a(_: [u8; 2]) { here } fn b() { there }";
        assert_eq!(marks("src/a.rs", text), [true, false]);
    }

    #[test]
    fn code_for_more_than_tests_is_code() {
        assert_eq!(marks("src/a.rs", "#[cfg(not(test))] fn a() { here }"), [false]);
        assert_eq!(marks("src/a.rs", "#[cfg(any(test, unix))] fn a() { here }"), [false]);
        assert_eq!(marks("src/a.rs", "#[cfg(test)] use a::b; fn a() { here }"), [false]);
    }

    #[test]
    fn whole_files_can_be_tests() {
        assert_eq!(marks("crates/a/tests/b.rs", "here"), [true]);
        assert_eq!(marks("crates/a/src/b/tests.rs", "here"), [true]);
        assert_eq!(marks("src/a.rs", "#![cfg(test)] here"), [true]);
    }

    #[test]
    fn modules_for_tests_are_named_by_their_files() {
        let text = "mod a; #[cfg(test)] mod laws;";
        assert_eq!(Source::new("src/lib.rs", text).test_modules(), ["src/laws", "src/laws.rs"]);
        assert_eq!(Source::new("src/b.rs", text).test_modules(), ["src/b/laws", "src/b/laws.rs"]);
    }

    #[test]
    fn bodies_are_found_behind_the_signature() {
        let body_of = |text: &str| body(&lex(text), 0);
        assert_eq!(body_of("fn f(a: [u8; 2]) {}"), Some(11));
        assert_eq!(body_of("fn f();  fn g() {}"), None);
    }
}

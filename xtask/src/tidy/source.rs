//! A Rust file as the rules see it: its tokens, with and without comments.

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
        Self { path, text, code, comments, documented }
    }

    /// The directory that holds the files of the modules declared here.
    pub(crate) fn home(&self) -> &'a str {
        match self.path.rsplit_once('/') {
            Some((home, "lib.rs" | "main.rs" | "mod.rs")) => home,
            _ => self.path.trim_end_matches(".rs"),
        }
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

/// Whether `tokens` at `index` read `words`, words and marks separated by spaces.
pub(crate) fn reads(tokens: &[Token<'_>], index: usize, words: &str) -> bool {
    let mut found = tokens.get(index..).unwrap_or_default().iter();
    words
        .split(' ')
        .all(|word| found.next().is_some_and(|token| token.is_word(word) || token.is_mark(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_found_behind_the_signature() {
        let body_of = |text: &str| body(&lex(text), 0);
        assert_eq!(body_of("fn f(a: [u8; 2]) {}"), Some(11));
        assert_eq!(body_of("fn f();  fn g() {}"), None);
    }
}

//! Just enough of Rust's lexical rules to distinguish code, comments and strings.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or keyword; a raw one keeps its `r#`.
    Word,
    /// One character of punctuation.
    Mark,
    /// A string of any sort, with its quotes.
    Text,
    /// A character, a number or a lifetime.
    Other,
    /// A comment that documents what follows.
    Doc,
    /// A comment that documents what it stands in.
    InnerDoc,
    /// Any other comment.
    Comment,
    /// Space between tokens; never in the result.
    Space,
}

/// One token, and the line it begins on, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

impl Token<'_> {
    /// Whether it is the identifier or keyword `word`.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    /// Whether it is the punctuation `mark`.
    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    /// Whether it is a comment, documenting or not.
    pub(crate) fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::Doc | Kind::InnerDoc | Kind::Comment)
    }
}

/// The tokens of `text`, comments among them.
pub(crate) fn lex(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (kind, length) = first_token(rest, first);
        let (text, after) = rest.split_at(length);
        if kind != Kind::Space {
            tokens.push(Token { kind, text, line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    tokens
}

/// The kind and the length of the token that `rest` begins with.
fn first_token(rest: &str, first: char) -> (Kind, usize) {
    if first.is_whitespace() {
        return (Kind::Space, run(rest, char::is_whitespace));
    }
    if rest.starts_with("//") {
        return (comment_kind(rest, "///", "//!", &["////"]), run(rest, |c| c != '\n'));
    }
    if rest.starts_with("/*") {
        return (comment_kind(rest, "/**", "/*!", &["/***", "/**/"]), block_comment(rest));
    }
    if let Some(length) = string(rest) {
        return (Kind::Text, length);
    }
    if let Some(length) = character(rest) {
        return (Kind::Other, length);
    }
    if first == '\'' {
        return (Kind::Other, 1 + run(&rest[1..], is_word)); // a lifetime
    }
    if first.is_ascii_digit() {
        return (Kind::Other, number(rest));
    }
    if is_word(first) {
        let prefix = if rest.starts_with("r#") { 2 } else { 0 };
        return (Kind::Word, prefix + run(&rest[prefix..], is_word));
    }
    (Kind::Mark, first.len_utf8())
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The length in bytes of the longest start of `text` whose characters are all `wanted`.
fn run(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    text.find(|c| !wanted(c)).unwrap_or(text.len())
}

fn comment_kind(rest: &str, outer: &str, inner: &str, neither: &[&str]) -> Kind {
    if neither.iter().any(|start| rest.starts_with(start)) {
        Kind::Comment
    } else if rest.starts_with(outer) {
        Kind::Doc
    } else if rest.starts_with(inner) {
        Kind::InnerDoc
    } else {
        Kind::Comment
    }
}

/// The length of a block comment; they nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of the string at the start: plain, byte, C, or raw with any number of hashes.
fn string(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|p| rest.starts_with(p))?;
    let body = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = run(body, |c| c == '#');
        let inside = body[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", &body[..hashes]);
        let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
        return Some(prefix.len() + hashes + 1 + length);
    }
    let inside = body.strip_prefix('"')?;
    Some(prefix.len() + 1 + until(inside, '"'))
}

/// The length of the character at the start, `'x'` or `b'x'`; none if it is a lifetime.
fn character(rest: &str) -> Option<usize> {
    let prefix = if rest.starts_with("b'") { 2 } else { 1 };
    let inside = rest.strip_prefix('b').unwrap_or(rest).strip_prefix('\'')?;
    let first = inside.chars().next()?;
    let closed = inside[first.len_utf8()..].starts_with('\'');
    (first == '\\' || closed).then(|| prefix + until(inside, '\''))
}

/// The length up to and including the first unescaped `quote`.
fn until(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return at + 1;
        }
        if c == '\\' {
            chars.next();
        }
    }
    text.len()
}

/// The length of a number; in `0..9` and `1.max(2)` it ends before the dot.
fn number(rest: &str) -> usize {
    let whole = run(rest, is_word);
    match rest[whole..].strip_prefix('.') {
        Some(more) if more.starts_with(|c: char| c.is_ascii_digit()) => {
            whole + 1 + run(more, is_word)
        }
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        lex(text).into_iter().map(|token| token.text).collect()
    }

    fn kinds(text: &str) -> Vec<Kind> {
        lex(text).into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn code_falls_into_words_and_marks() {
        assert_eq!(texts("a.unwrap()?"), ["a", ".", "unwrap", "(", ")", "?"]);
        assert_eq!(texts("r#type + brave - c"), ["r#type", "+", "brave", "-", "c"]);
        assert_eq!(
            texts("0..9 1.5e3 1.max(2)"),
            ["0", ".", ".", "9", "1.5e3", "1", ".", "max", "(", "2", ")"]
        );
    }

    #[test]
    fn strings_are_whole() {
        assert_eq!(texts(r#"f("a \" // b", x)"#), ["f", "(", r#""a \" // b""#, ",", "x", ")"]);
        assert_eq!(
            texts(r##"r#"a " b"# b"c" br"\" c"d" "" e"##),
            [r##"r#"a " b"#"##, r#"b"c""#, r#"br"\""#, r#"c"d""#, r#""""#, "e"]
        );
    }

    #[test]
    fn characters_are_no_lifetimes() {
        assert_eq!(
            texts(r"'a' 'b 'static '\'' '\\' b'x' '\u{1F600}' 'ä'"),
            ["'a'", "'b", "'static", r"'\''", r"'\\'", "b'x'", r"'\u{1F600}'", "'ä'"]
        );
        assert_eq!(texts("<'a, 'b>('\"')"), ["<", "'a", ",", "'b", ">", "(", "'\"'", ")"]);
    }

    #[test]
    fn comments_are_told_apart() {
        use Kind::{Comment, Doc, InnerDoc};
        let text =
            "//! in\n/// out\n// plain\n//// rule\n/** out */ /*! in */ /* a /* b */ c */ /**/";
        assert_eq!(kinds(text), [InnerDoc, Doc, Comment, Comment, Doc, InnerDoc, Comment, Comment]);
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let lines: Vec<_> = lex("a\n\"x\ny\" b /* \n\n */ c").iter().map(|t| t.line).collect();
        assert_eq!(lines, [1, 2, 3, 3, 5]);
    }

    #[test]
    fn what_is_left_open_ends_with_the_file() {
        assert_eq!(texts("\"open"), ["\"open"]);
        assert_eq!(texts("/* open"), ["/* open"]);
        assert_eq!(texts("r#\"open"), ["r#\"open"]);
    }
}

//! Habits that clippy has no lint for.

use super::Finding;
use super::lex::{Kind, Token};
use super::source::{Source, reads};

/// Finds `expect` without a message.
pub(crate) fn expects(source: &Source<'_>) -> Vec<Finding> {
    let empty = (0..source.code.len()).filter(|index| {
        reads(&source.code, *index, ". expect (")
            && source.code.get(index + 3).is_some_and(is_blank)
    });
    let what = "an empty `expect` says nothing; say what must hold";
    empty.map(|index| source.finding(source.code[index].line, what)).collect()
}

fn is_blank(token: &Token<'_>) -> bool {
    let inside = token.text.trim_start_matches('r').trim_matches('#').trim_matches('"');
    token.kind == Kind::Text && inside.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::texts;

    #[test]
    fn empty_expects_are_found_everywhere() {
        let count = |text: &str| texts(expects, "crates/a/src/a.rs", text).len();
        assert_eq!(count(r#"a.expect("")"#), 1);
        assert_eq!(count(r#"#[test] fn f() { a.expect(" ") }"#), 1);
        assert_eq!(count(r#"a.expect("it was checked above"); b.expect(why)"#), 0);
    }
}

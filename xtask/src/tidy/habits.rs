//! Habits: what code of ours does not do.

use super::Finding;
use super::layers::names;
use super::lex::{Kind, Token};
use super::source::{Source, reads};

/// Finds `unwrap` outside tests.
pub(crate) fn unwraps(source: &Source<'_>) -> Vec<Finding> {
    let code = &source.code;
    let what = "`unwrap` says nothing when it fails; use `expect` with what must hold, or an error";
    each(source, what, |index| {
        let called = reads(code, index, ". unwrap") || reads(code, index, ": unwrap");
        called && !source.in_test(index)
    })
}

/// Finds `expect` with nothing to say.
pub(crate) fn expects(source: &Source<'_>) -> Vec<Finding> {
    each(source, "an empty `expect` says nothing; say what must hold", |index| {
        reads(&source.code, index, ". expect (") && source.code.get(index + 3).is_some_and(is_blank)
    })
}

/// Finds tests that are ignored without a reason.
pub(crate) fn ignores(source: &Source<'_>) -> Vec<Finding> {
    let code = &source.code;
    let mut findings = Vec::new();
    for attribute in source.attributes() {
        let first = &code[(attribute.start + 2).min(attribute.end - 1)];
        if !first.is_word("ignore") && !first.is_word("cfg_attr") {
            continue;
        }
        for index in attribute.filter(|index| code[*index].is_word("ignore")) {
            if !reads(code, index + 1, "=") || code.get(index + 2).is_none_or(is_blank) {
                let what = "the test is ignored without a reason; write `#[ignore = \"why\"]`";
                findings.push(source.finding(code[index].line, what));
            }
        }
    }
    findings
}

/// Finds what was left for later.
pub(crate) fn leftovers(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in ["todo", "unimplemented", "dbg"] {
        let what = format!("`{name}!` is left over; finish the work or take it out");
        let code = &source.code;
        findings.extend(each(source, &what, |index| {
            code[index].is_word(name)
                && ["! (", "! [", "! {"].iter().any(|open| reads(code, index + 1, open))
        }));
    }
    findings
}

/// Finds `unsafe` in a file whose module documentation does not speak of it.
pub(crate) fn unsafes(source: &Source<'_>) -> Vec<Finding> {
    let explained = source.comments.iter().any(|comment| {
        comment.kind == Kind::InnerDoc && comment.text.to_lowercase().contains("unsafe")
    });
    if explained {
        return Vec::new();
    }
    let what = "`unsafe` without a reason; let the file's `//!` say why it is needed and sound";
    each(source, what, |index| source.code[index].is_word("unsafe"))
}

/// Finds tests that sleep.
pub(crate) fn sleeps(source: &Source<'_>) -> Vec<Finding> {
    each(source, "a test must not sleep; wait for what should happen, or move time on", |index| {
        source.in_test(index) && names(&source.code, index, "thread::sleep")
    })
}

/// A finding that says `what` at each token that is `wrong`.
fn each(source: &Source<'_>, what: &str, wrong: impl Fn(usize) -> bool) -> Vec<Finding> {
    let found = (0..source.code.len()).filter(|index| wrong(*index));
    found.map(|index| source.finding(source.code[index].line, what)).collect()
}

fn is_blank(token: &Token<'_>) -> bool {
    let inside = token.text.trim_start_matches('r').trim_matches('#').trim_matches('"');
    token.kind == Kind::Text && inside.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{Rule, said};

    fn count(rule: Rule, text: &str) -> usize {
        said(rule, "crates/a/src/a.rs", text).len()
    }

    #[test]
    fn unwraps_are_found_outside_tests() {
        assert_eq!(count(unwraps, "fn f() { a\n.unwrap(); }"), 1);
        assert_eq!(count(unwraps, "a.map(Option::unwrap)"), 1);
        assert_eq!(count(unwraps, "a.unwrap_or(0) // .unwrap()"), 0);
        assert_eq!(count(unwraps, "#[test] fn f() { a.unwrap() }"), 0);
        assert!(said(unwraps, "crates/a/tests/a.rs", "a.unwrap()").is_empty());
    }

    #[test]
    fn empty_expects_are_found_everywhere() {
        assert_eq!(count(expects, r#"a.expect("")"#), 1);
        assert_eq!(count(expects, r#"#[test] fn f() { a.expect(" ") }"#), 1);
        assert_eq!(count(expects, r#"a.expect("it was checked above"); b.expect(why)"#), 0);
    }

    #[test]
    fn ignored_tests_need_a_reason() {
        assert_eq!(count(ignores, "#[test] #[ignore] fn f() {}"), 1);
        assert_eq!(count(ignores, r#"#[ignore = ""] fn f() {}"#), 1);
        assert_eq!(count(ignores, "#[cfg_attr(windows, ignore)] fn f() {}"), 1);
        assert_eq!(count(ignores, r#"#[ignore = "takes an hour"] fn f() {}"#), 0);
        assert_eq!(count(ignores, "#[serde(ignore)] fn ignore() {} // #[ignore]"), 0);
    }

    #[test]
    fn leftovers_are_found() {
        assert_eq!(count(leftovers, "todo!(); unimplemented!(\"x\"); dbg!(a);"), 3);
        assert_eq!(count(leftovers, "if todo != 0 { \"todo!()\" } // dbg!(a)"), 0);
    }

    #[test]
    fn unsafe_needs_a_word_in_the_module_documentation() {
        assert_eq!(count(unsafes, "//! A file.\nfn f() { unsafe { g() } }"), 1);
        assert_eq!(count(unsafes, "//! Unsafe, because.\nfn f() { unsafe { g() } }"), 0);
        assert_eq!(count(unsafes, "#![forbid(unsafe_code)] // unsafe"), 0);
    }

    #[test]
    fn tests_do_not_sleep() {
        assert_eq!(count(sleeps, "#[test] fn f() { std::thread::sleep(d) }"), 1);
        assert_eq!(count(sleeps, "#[cfg(test)] mod t { use std::thread::{self, sleep}; }"), 1);
        assert_eq!(count(sleeps, "fn f() { std::thread::sleep(d) }"), 0);
        assert_eq!(count(sleeps, "#[test] fn f() { lock.sleep(d) }"), 0);
    }
}

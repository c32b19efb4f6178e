//! Sizes: of files, of lines, of functions.

use super::Finding;
use super::lex::Kind;
use super::source::{Source, body, close};

/// The most lines of a file.
const FILE_LINES_MAX: usize = 500;
/// The most lines of a function, from its `fn` to its last brace.
const FUNCTION_LINES_MAX: usize = 70;
/// The most columns of a line.
const COLUMNS_MAX: usize = 100;

/// Finds a file that is too long.
pub(crate) fn files(source: &Source<'_>) -> Vec<Finding> {
    let lines = source.text.lines().count();
    if lines <= FILE_LINES_MAX {
        return Vec::new();
    }
    let what = format!("the file has {lines} lines; split it, {FILE_LINES_MAX} are the limit");
    vec![source.finding(FILE_LINES_MAX + 1, what)]
}

/// Finds lines that are too wide. A comment with an address may be as wide as the address.
pub(crate) fn lines(source: &Source<'_>) -> Vec<Finding> {
    let wide = source.text.lines().zip(1..).filter_map(|(line, number)| {
        let columns = line.chars().count();
        let address = line.trim_start().starts_with("//") && line.contains("://");
        (columns > COLUMNS_MAX && !address).then(|| {
            let what = format!("the line has {columns} columns; break it before {COLUMNS_MAX}");
            source.finding(number, what)
        })
    });
    wide.collect()
}

/// Finds functions that are too long; documentation and attributes above them do not count.
///
/// Clippy's `too_many_lines` leaves out comments and empty lines, which take up a screen too.
pub(crate) fn functions(source: &Source<'_>) -> Vec<Finding> {
    let code = &source.code;
    let mut findings = Vec::new();
    for (index, pair) in code.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        if !keyword.is_word("fn") || name.kind != Kind::Word {
            continue;
        }
        let Some(open) = body(code, index) else { continue };
        let lines = code[close(code, open)].line - keyword.line + 1;
        if lines > FUNCTION_LINES_MAX {
            let what = format!(
                "`{}` has {lines} lines; split it, {FUNCTION_LINES_MAX} are the limit",
                name.text
            );
            findings.push(source.finding(keyword.line, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::texts;

    #[test]
    fn long_files_are_found() {
        assert!(texts(files, "a.rs", &"x\n".repeat(500)).is_empty());
        let found = texts(files, "a.rs", &"x\n".repeat(501));
        assert_eq!(found, ["a.rs:501: the file has 501 lines; split it, 500 are the limit"]);
    }

    #[test]
    fn wide_lines_are_found() {
        assert!(texts(lines, "a.rs", &"ä".repeat(100)).is_empty());
        let found = texts(lines, "a.rs", &format!("x\n{}", "y".repeat(101)));
        assert_eq!(found, ["a.rs:2: the line has 101 columns; break it before 100"]);
    }

    #[test]
    fn addresses_may_be_wide() {
        let address = format!("https://example.org/{}", "y".repeat(100));
        assert!(texts(lines, "a.rs", &format!("    // {address}")).is_empty());
        assert_eq!(texts(lines, "a.rs", &format!("let a = \"{address}\";")).len(), 1);
    }

    #[test]
    fn long_functions_are_found() {
        let function =
            |lines: usize| format!("/// Doc.\n#[x]\nfn f() {{\n{}}}\n", "x;\n".repeat(lines));
        assert!(texts(functions, "a.rs", &function(68)).is_empty());
        let found = texts(functions, "a.rs", &function(69));
        assert_eq!(found, ["a.rs:3: `f` has 71 lines; split it, 70 are the limit"]);
    }

    #[test]
    fn what_only_looks_like_a_function_is_left_alone() {
        let lines = "x;\n".repeat(80);
        assert!(
            texts(functions, "a.rs", &format!("type F = fn(u8); mod m {{\n{lines}}}")).is_empty()
        );
        assert!(texts(functions, "a.rs", &format!("fn f(); mod m {{\n{lines}}}")).is_empty());
        assert!(texts(functions, "a.rs", &format!("// fn f() {{\n{lines}")).is_empty());
    }
}

//! The events in the log of a site are those of the table in `docs/operating.md`.

use super::Finding;
use super::lex::{Kind, Token};
use super::source::{Source, close, reads};
use super::tree::{File, Tree};

/// Where the table is.
const PAGE: &str = "docs/operating.md";

/// The files whose events operators see.
const LOGGED: [&str; 2] = ["crates/quorate-server/src/", "crates/quorate-cli/src/"];

/// One event, in the code or in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Event {
    line: usize,
    text: String,
    level: String,
    fields: Vec<String>,
}

impl Event {
    fn row(&self) -> String {
        let fields: Vec<String> = self.fields.iter().map(|field| format!("`{field}`")).collect();
        format!("| `{}` | {} | {} |", self.text, self.level, fields.join(" "))
    }

    fn is_same(&self, other: &Event) -> bool {
        (&self.text, &self.level, &self.fields) == (&other.text, &other.level, &other.fields)
    }
}

/// Finds events that are only in the code or only in the table, or differ.
pub(crate) fn log_events(tree: &Tree, sources: &[Source<'_>]) -> Vec<Finding> {
    let page = tree.files.iter().find(|file| file.path == PAGE);
    let rows = page.map(table).unwrap_or_default();
    let mut findings = Vec::new();
    let mut logged = Vec::new();
    for source in
        sources.iter().filter(|source| LOGGED.iter().any(|at| source.path.starts_with(at)))
    {
        for event in events(source) {
            if !rows.iter().any(|row| row.is_same(&event)) {
                let what = format!("the table in {PAGE} needs the row {}", event.row());
                findings.push(source.finding(event.line, what));
            }
            logged.push(event);
        }
    }
    for row in rows.iter().filter(|row| !logged.iter().any(|event| event.is_same(row))) {
        let what = format!("nothing logs {}; remove it or mend it", row.row());
        findings.push(Finding { path: PAGE.to_owned(), line: row.line, what });
    }
    findings
}

/// The rows of the table: those that begin with a text in backticks and have a level.
fn table(file: &File) -> Vec<Event> {
    let row = |(text, line): (&str, usize)| {
        let mut cells = text.strip_prefix('|')?.split('|').map(str::trim);
        let text = cells.next()?.strip_prefix('`')?.strip_suffix('`')?.to_owned();
        let level = cells.next().filter(|level| ["ERROR", "WARN", "INFO"].contains(level))?;
        let fields = cells.next()?.split('`').map(str::trim).filter(|field| !field.is_empty());
        Some(event(line, text, level, fields.map(str::to_owned).collect()))
    };
    file.text.lines().zip(1..).filter_map(row).collect()
}

/// The events that a file logs for operators.
fn events(source: &Source<'_>) -> Vec<Event> {
    let levels = [("error", "ERROR"), ("warn", "WARN"), ("info", "INFO")];
    let mut found = Vec::new();
    for index in 0..source.code.len() {
        for (macro_name, level) in levels {
            if reads(&source.code, index, &format!("tracing : : {macro_name} ! (")) {
                let open = index + 5;
                let arguments = arguments(&source.code[open + 1..close(&source.code, open)]);
                found.extend(arguments.split_last().map(|(text, fields)| {
                    let text: String = text.iter().map(|token| token.text).collect();
                    let fields = fields.iter().filter_map(|tokens| name(tokens)).collect();
                    event(source.code[index].line, text.trim_matches('"').to_owned(), level, fields)
                }));
            }
        }
    }
    found
}

fn event(line: usize, text: String, level: &str, mut fields: Vec<String>) -> Event {
    fields.sort();
    Event { line, text, level: level.to_owned(), fields }
}

/// The arguments of a macro, without an empty one at the end.
fn arguments<'a, 'b>(tokens: &'a [Token<'b>]) -> Vec<&'a [Token<'b>]> {
    let mut all = Vec::new();
    let (mut start, mut index) = (0, 0);
    while index < tokens.len() {
        if ["(", "[", "{"].iter().any(|mark| tokens[index].is_mark(mark)) {
            index = close(tokens, index);
        } else if tokens[index].is_mark(",") {
            all.push(&tokens[start..index]);
            start = index + 1;
        }
        index += 1;
    }
    all.push(&tokens[start..]);
    all.retain(|argument| !argument.is_empty());
    all
}

/// The name of a field: `%name`, `?name`, `name` or `name = value`.
fn name(tokens: &[Token<'_>]) -> Option<String> {
    tokens.iter().find(|token| token.kind == Kind::Word).map(|token| token.text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = r#"fn f() {
        tracing::warn!(%site, why = of(a, b), address, "no connection",);
        tracing::debug!("whatever");
    }"#;

    fn findings(code: &str, page: &str) -> Vec<String> {
        let tree = Tree::of(&[("crates/quorate-server/src/a.rs", code), (PAGE, page)]);
        let sources = crate::tidy::sources(&tree);
        log_events(&tree, &sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn equal_events_are_fine() {
        let page = "| `no connection` | WARN | `address` `site` `why` | meaning |";
        assert_eq!(findings(CODE, page), [""; 0]);
    }

    #[test]
    fn each_difference_is_found_on_both_sides() {
        for page in [
            "| `no connection` | INFO | `address` `site` `why` | meaning |",
            "| `no connection` | WARN | `address` `site` | meaning |",
            "| `no connections` | WARN | `address` `site` `why` | meaning |",
        ] {
            let found = findings(CODE, page);
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found[0].starts_with("crates/quorate-server/src/a.rs:2: "), "{found:?}");
            assert!(found[0].ends_with("| `no connection` | WARN | `address` `site` `why` |"));
            assert!(found[1].starts_with("docs/operating.md:1: nothing logs"), "{found:?}");
        }
    }

    #[test]
    fn other_tables_are_left_alone() {
        assert_eq!(findings("", "| `a` | b |\n| c | WARN | d |"), [""; 0]);
    }
}

//! The rows of experiments, for people and machines.

use quorate_laboratory::Row;
use serde_json::json;

use super::outcome::{Outcome, rows};
use quorate_terminal::paint::Paint;
use quorate_terminal::table::{aligned, row};

/// The names of the columns, the same in JSON and CSV.
const COLUMNS: [&str; 8] =
    ["experiment", "name", "claim", "condition", "measured", "unit", "verdict", "note"];

/// A table for each experiment, with a heading if there are several.
pub(super) fn text(outcomes: &[Outcome], paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for outcome in outcomes {
        if outcomes.len() > 1 {
            let gap = if lines.is_empty() { "" } else { "\n" };
            let name = paint.strong(outcome.experiment.name);
            lines.push(format!("{gap}{name}  {}\n", outcome.experiment.about));
        }
        lines.extend(table(&outcome.rows));
        lines.extend(outcome.headlines.iter().map(|headline| format!("\n{headline}")));
    }
    lines
}

fn table(rows: &[Row]) -> Vec<String> {
    let head = row(["", "CLAIM", "MEASURED", "", "VERDICT", "NOTE"]);
    let cells = rows.iter().map(|Row { name, claim, measured, unit, verdict, note, .. }| {
        row([name, claim, &measured.to_string(), unit, &verdict.to_string(), note])
    });
    let mut lines = aligned(&[head].into_iter().chain(cells).collect::<Vec<_>>());
    let mut conditions: Vec<&str> = rows.iter().map(|row| row.condition.as_str()).collect();
    conditions.sort_unstable();
    conditions.dedup();
    lines.push(String::new());
    lines.extend(conditions.into_iter().map(|condition| format!("measured with {condition}")));
    lines
}

/// One object per line.
pub(super) fn json(outcomes: &[Outcome]) -> Vec<String> {
    let object = |(experiment, row): (&str, &Row)| {
        json!({
            "experiment": experiment,
            "name": row.name,
            "claim": row.claim,
            "condition": row.condition,
            "measured": row.measured,
            "unit": row.unit,
            "verdict": row.verdict.to_string(),
            "note": row.note,
        })
    };
    rows(outcomes).map(|row| object(row).to_string()).collect()
}

/// Comma-separated values, with the names of the columns first.
pub(super) fn csv(outcomes: &[Outcome]) -> Vec<String> {
    let line = |cells: [&str; 8]| cells.map(quoted).join(",");
    let of = |(experiment, row): (&str, &Row)| {
        let Row { name, claim, condition, measured, unit, verdict, note } = row;
        let (measured, verdict) = (measured.to_string(), verdict.to_string());
        line([experiment, name, claim, condition, &measured, unit, &verdict, note])
    };
    [line(COLUMNS)].into_iter().chain(rows(outcomes).map(of)).collect()
}

/// A cell, in quotes if it needs them.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

//! The rows of an experiment, for people and machines.

use quorate_lab::Row;
use serde_json::json;

use crate::table::{aligned, row};

/// The names of the columns, the same in JSON and CSV.
const COLUMNS: [&str; 7] = ["name", "claim", "condition", "measured", "unit", "verdict", "note"];

/// A table.
pub(super) fn text(rows: &[Row]) -> Vec<String> {
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

/// One object a line.
pub(super) fn json(rows: &[Row]) -> Vec<String> {
    let object = |row: &Row| {
        json!({
            "name": row.name,
            "claim": row.claim,
            "condition": row.condition,
            "measured": row.measured,
            "unit": row.unit,
            "verdict": row.verdict.to_string(),
            "note": row.note,
        })
    };
    rows.iter().map(|row| object(row).to_string()).collect()
}

/// Comma-separated values, with the names of the columns first.
pub(super) fn csv(rows: &[Row]) -> Vec<String> {
    let line = |cells: [&str; 7]| cells.map(quoted).join(",");
    let of = |Row { name, claim, condition, measured, unit, verdict, note }: &Row| {
        line([name, claim, condition, &measured.to_string(), unit, &verdict.to_string(), note])
    };
    [line(COLUMNS)].into_iter().chain(rows.iter().map(of)).collect()
}

/// A cell, in quotes if it needs them.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

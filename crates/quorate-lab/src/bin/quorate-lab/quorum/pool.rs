//! `quorate quorum measure --k`: the quorums of a pool, for each number of units.

use quorate_quorum::ArbiterKind;
use serde_json::json;

use super::figures::{Figures, fails_text, load_text};
use quorate_terminal::answer::{Answer, Failure, Verdict, print, print_lines};
use quorate_terminal::paint::Paint;
use quorate_terminal::quorums::{parse_units, sizes_text};
use quorate_terminal::table::aligned;

/// Shows the quorums for 1, 2, … of `units` units.
pub(super) fn show(kind: &str, n: usize, units: &str, down: &[f64], as_json: bool) -> Answer {
    let kind: ArbiterKind = kind.parse().map_err(Failure::of)?;
    let k = parse_units(units)?;
    let pool = kind.build(n, k).map_err(Failure::of)?;
    let mut figures = Vec::new();
    for units in 1..=k {
        let system = pool.of(units).map_err(Failure::of)?;
        figures.push(Figures::exact(&**system, down).map_err(Failure::of)?);
    }
    if as_json {
        let units = |(place, figures): (usize, &Figures)| {
            let mut value = figures.json();
            value["units"] = json!(place + 1);
            value
        };
        let units: Vec<_> = figures.iter().enumerate().map(units).collect();
        print(&format!("{}\n", json!({"name": pool.name(), "n": n, "k": k, "of": units})))?;
        return Ok(Verdict::Clean);
    }
    let paint = Paint::for_stdout();
    let mut lines = vec![paint.strong(&pool.name()), String::new()];
    let mut rows = vec![vec!["UNITS".into(), "SITES".into(), "SURVIVES".into(), "LOAD".into()]];
    rows[0].extend(down.iter().map(|p| format!("FAILS AT {p}")));
    for (place, figures) in figures.iter().enumerate() {
        let survived = figures.resilience.as_ref().map_or("?".into(), ToString::to_string);
        let mut row = vec![
            (place + 1).to_string(),
            sizes_text(figures.sizes),
            survived,
            load_text(&figures.load),
        ];
        row.extend(figures.fails.iter().map(|(_, fails)| fails_text(*fails)));
        rows.push(row);
    }
    lines.extend(aligned(&rows));
    let other = format!("quorate quorum suggest --n {n} --k {k}");
    lines.extend([
        String::new(),
        "A claim of more units asks fewer sites: fewer such claims fit beside each other.".into(),
        paint.faint(&format!("A ledger asks the same quorum for any number of units: {other}")),
    ]);
    print_lines(&lines)?;
    Ok(Verdict::Clean)
}

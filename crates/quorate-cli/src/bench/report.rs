//! The report: a table of the figures, and the targets.

use serde_json::{Value, json};

use super::row::Row;
use quorate_terminal::figures::grouped;
use quorate_terminal::paint::Paint;
use quorate_terminal::table::aligned;

/// The report for programs.
pub(super) fn json(rows: &[Row]) -> Value {
    json!({ "rows": rows.iter().map(Row::json).collect::<Vec<_>>() })
}

/// The report for people.
pub(super) fn lines(rows: &[Row], paint: Paint) -> Vec<String> {
    let head = [
        "WORKLOAD",
        "SITES",
        "CALLERS",
        "VIA",
        "P50 us",
        "P99 us",
        "PAIRS/s",
        "CPU us/pair",
        "MSGS/pair",
        "JAIN",
        "x RAW",
        "",
    ];
    let mut cells = vec![head.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(line));
    let mut lines = aligned(&cells);
    lines[0] = paint.strong(&lines[0]);
    let targets = targets(rows);
    if !targets.is_empty() {
        lines.push(String::new());
        lines.extend(aligned(&targets.iter().map(Target::line).collect::<Vec<_>>()));
    }
    lines
}

fn line(row: &Row) -> Vec<String> {
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let callers = if row.callers == 0 { "-".to_owned() } else { row.callers.to_string() };
    let leases = row.leases.map(|leases| format!("{leases:.2} leases"));
    let share = row.cpu_percent.map(|percent| format!("{percent:.2} % of a processor"));
    vec![
        row.workload.to_owned(),
        row.sites.to_string(),
        callers,
        row.via.to_owned(),
        number(row.p50_us, 1),
        number(row.p99_us, 1),
        row.pairs_per_s.map_or_else(|| "-".to_owned(), whole),
        number(row.cpu_us_per_pair, 1),
        number(row.messages_per_pair, 2),
        number(row.jain, 3),
        number(row.ratio_to_raw, 2),
        leases.or(share).unwrap_or_default(),
    ]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
fn whole(rate: f64) -> String {
    grouped(rate.round() as u64)
}

/// A figure that should stay below a limit, or above it.
struct Target {
    what: String,
    limit: String,
    measured: String,
    reached: bool,
}

impl Target {
    fn at_most(what: String, measured: f64, limit: f64) -> Self {
        let limit_text = format!("at most {limit}");
        Self {
            what,
            limit: limit_text,
            measured: format!("{measured:.2}"),
            reached: measured <= limit,
        }
    }

    fn at_least(what: String, measured: f64, limit: f64) -> Self {
        let limit_text = format!("at least {limit}");
        let digits = if limit < 10.0 { 3 } else { 0 };
        Self {
            what,
            limit: limit_text,
            measured: format!("{measured:.digits$}"),
            reached: measured >= limit,
        }
    }

    fn line(&self) -> Vec<String> {
        let verdict = if self.reached { "reached" } else { "not reached" };
        vec![self.what.clone(), self.limit.clone(), self.measured.clone(), verdict.to_owned()]
    }
}

/// The targets that were measured.
fn targets(rows: &[Row]) -> Vec<Target> {
    let mut targets = Vec::new();
    for row in rows {
        let what = |figure: &str| {
            let callers =
                if row.callers > 1 { format!(", {}", row.callers) } else { String::new() };
            format!("{figure}: {}{callers}, {} sites, {}", row.workload, row.sites, row.via)
        };
        let mut most = |figure: &str, measured: Option<f64>, limit: f64| {
            targets.extend(measured.map(|measured| Target::at_most(what(figure), measured, limit)));
        };
        match (row.workload, row.callers, row.via) {
            ("uncontended", _, "embedded") => {
                most("times the raw fan-out", row.ratio_to_raw, 1.3);
                most("CPU us per pair", row.cpu_us_per_pair, 150.0);
            }
            ("uncontended", _, "socket") => {
                most("raw round trips more than embedded", added(rows, row), 1.0);
            }
            ("hand-over", 32, "embedded") => {
                most("times the raw round trip", row.ratio_to_raw, 1.2);
                let fair = row.jain.map(|jain| Target::at_least(what("Jain's index"), jain, 0.99));
                targets.extend(fair);
            }
            ("hand-over, kept 10 ms", _, "embedded") => {
                most("times the raw round trip", row.ratio_to_raw, 2.5);
            }
            ("independent names", 64, "embedded") if row.sites == 3 => {
                most("CPU us per pair", row.cpu_us_per_pair, 90.0);
                let fast = row.pairs_per_s;
                targets.extend(
                    fast.map(|rate| Target::at_least(what("pairs a second"), rate, 20_000.0)),
                );
            }
            ("idle", _, "embedded") => most("% of a processor", row.cpu_percent, 1.0),
            _ => {}
        }
    }
    targets
}

/// How much longer a caller over a socket waits than an embedded one, in raw round trips.
fn added(rows: &[Row], socket: &Row) -> Option<f64> {
    let find = |workload: &str, via: &str| {
        let mut same = rows.iter().filter(|row| row.sites == socket.sites);
        same.find(|row| row.workload == workload && row.via == via)?.p50_us
    };
    let (embedded, raw) = (find(socket.workload, "embedded")?, find("raw round trip", "raw")?);
    Some((socket.p50_us? - embedded) / raw)
}

//! The results of random runs, as text and JSON.

use std::time::Duration;

use quorate_sim::random::Tally;
use serde_json::{Value, json};

use super::events::as_t;
use super::random::Random;
use super::sweep::Sum;
use crate::cluster::Cluster;
use quorate_terminal::figures::{counted, grouped, per_second, ratio};
use quorate_terminal::paint::Paint;

/// The results of random runs.
pub(super) struct Report<'a> {
    /// The plan of the runs.
    pub(super) args: &'a Random,
    /// The cluster.
    pub(super) cluster: &'a Cluster,
    /// The results.
    pub(super) sum: &'a Sum<Tally>,
}

impl Report<'_> {
    /// As JSON; `trace` is that of the first failed run.
    pub(super) fn json(&self, trace: &[String]) -> Value {
        let tally = &self.sum.tally;
        json!({
            "protocol": self.args.protocol,
            "sites": self.cluster.n(),
            "quorum": self.cluster.quorum(),
            "requests": self.cluster.requests,
            "options": self.cluster.options(),
            "runs": self.args.runs(),
            "seed": self.args.seed,
            "entries": tally.entries,
            "given_up": tally.given_up,
            "budget": self.args.budget.json(),
            "faults": tally.faults,
            "lost": tally.lost,
            "crashed": tally.crashed,
            "unserved": tally.unserved,
            "failed_runs": self.sum.failed,
            "violations": self.sum.violations(trace),
            "messages_per_entry": ratio(tally.messages, tally.entries),
            "messages_by_kind": tally.by_kind,
            "handovers": tally.handovers,
            "handover_mean_T": ratio(tally.handover_ticks, tally.handovers).map(mean_t),
            "wait_mean_T": ratio(tally.wait_ticks, tally.entries).map(mean_t),
            "elapsed_T": as_t(tally.elapsed_ticks),
        })
    }

    /// As text.
    pub(super) fn text(&self, taken: Duration) -> String {
        let paint = Paint::for_stdout();
        let tally = &self.sum.tally;
        let mut lines = vec![self.title(paint), String::new()];
        for (name, value, remark) in self.rows() {
            let line = format!("  {name:<20}{value:>11}  {}", paint.faint(&remark));
            lines.push(line.trim_end().to_owned());
        }
        let rates = [(self.args.runs(), "runs"), (tally.messages, "messages")];
        lines.extend([String::new(), self.verdict(paint)]);
        lines.push(paint.faint(&per_second(taken, &rates)));
        lines.join("\n") + "\n"
    }

    /// A line about the runs.
    pub(super) fn title(&self, paint: Paint) -> String {
        let what = paint.strong(&self.cluster.describe(&self.args.protocol));
        let seed = self.args.seed;
        match self.args.runs() {
            1 => format!("{what}, seed {seed}"),
            runs => format!("{what}, {} runs from seed {seed}", grouped(runs)),
        }
    }

    /// The results of a single run, in a few lines.
    pub(super) fn counts(&self, paint: Paint) -> String {
        let tally = &self.sum.tally;
        let entries = counted(tally.entries, "entry", "entries");
        let messages = counted(tally.messages, "message", "messages");
        let each = two(ratio(tally.messages, tally.entries));
        let kinds: Vec<_> =
            tally.by_kind.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let remark = match self.per_member() {
            remark if remark.is_empty() => remark,
            remark => format!(" = {remark}"),
        };
        let mut lines = vec![format!("{entries}, {messages}: {each} an entry{remark}")];
        if !kinds.is_empty() {
            lines.push(kinds.join(", "));
        }
        lines.push(self.verdict(paint));
        lines.join("\n") + "\n"
    }

    /// The figures: a name, a value, a remark.
    fn rows(&self) -> Vec<(String, String, String)> {
        let tally = &self.sum.tally;
        let row = |name: &str, value: String, remark: String| (name.to_owned(), value, remark);
        let mut rows = vec![
            row("entries", grouped(tally.entries), String::new()),
            row("given up", grouped(tally.given_up), String::new()),
            row("unserved", grouped(tally.unserved), String::new()),
        ];
        if self.args.budget.given().is_some() {
            let counts = tally.faults.iter().map(|(fault, count)| format!("{fault} {count}"));
            rows.extend([
                row("lost", grouped(tally.lost), "grants, with the sessions they rest on".into()),
                row("crashed", grouped(tally.crashed), "claims, with the site they wait at".into()),
                row(
                    "faults",
                    grouped(tally.faults.values().sum()),
                    counts.collect::<Vec<_>>().join(", "),
                ),
            ]);
        }
        rows.extend([row(
            "messages per entry",
            two(ratio(tally.messages, tally.entries)),
            self.per_member(),
        )]);
        for (kind, count) in &tally.by_kind {
            rows.push(row(&format!("  {kind}"), two(ratio(*count, tally.entries)), String::new()));
        }
        let handover = ratio(tally.handover_ticks, tally.handovers).map(mean_t);
        let handovers = format!("T, over {} hand-overs", grouped(tally.handovers));
        rows.push(row("hand-over", two(handover), handovers));
        let wait = ratio(tally.wait_ticks, tally.entries).map(mean_t);
        rows.push(row("wait for the lock", two(wait), "T".to_owned()));
        let elapsed = Some(as_t(tally.elapsed_ticks) / ratio(self.args.runs(), 1).unwrap_or(1.0));
        rows.push(row("length of a run", two(elapsed), "T".to_owned()));
        rows
    }

    /// The papers count in units of K - 1, where K is the size of a quorum.
    fn per_member(&self) -> String {
        let tally = &self.sum.tally;
        let Some(size) = self.cluster.quorum_size().filter(|size| *size > 1) else {
            return String::new();
        };
        let units = ratio(tally.messages, tally.entries * (size as u64 - 1));
        units.map_or(String::new(), |units| format!("{units:.2} (K - 1), K = {size}"))
    }

    /// Whether all runs passed, or the failure and how to see it.
    pub(super) fn verdict(&self, paint: Paint) -> String {
        let well = "every property held, and no claim was left waiting";
        self.sum.verdict(self.args, self.cluster, well, paint)
    }
}

/// Ticks that are a mean, as a number of T.
fn mean_t(ticks: f64) -> f64 {
    ticks * as_t(1)
}

fn two(figure: Option<f64>) -> String {
    figure.map_or("-".to_owned(), |figure| format!("{figure:.2}"))
}

//! What runs of whole sites came to, for people and for machines.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_sim::cluster::Fault;
use serde_json::{Value, json};

use super::random::Random;
use super::whole::WholeSum;
use crate::cluster::Cluster;
use quorate_terminal::figures::{grouped, per_second, ratio};
use quorate_terminal::paint::Paint;

/// Nanoseconds in a second, and in an hour.
const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;

/// What runs of whole sites came to.
pub(super) struct WholeReport<'a> {
    /// The plan of the runs.
    pub(super) args: &'a Random,
    /// The cluster.
    pub(super) cluster: &'a Cluster,
    /// The results.
    pub(super) sum: &'a WholeSum,
}

impl WholeReport<'_> {
    /// As JSON; `trace` is that of the first failed run, or of the only run.
    pub(super) fn json(&self, trace: &[String]) -> Value {
        let tally = &self.sum.tally;
        let mut value = json!({
            "protocol": self.args.protocol,
            "site": true,
            "sites": self.cluster.n(),
            "quorum": self.cluster.quorum(),
            "options": self.cluster.options(),
            "faults": self.args.faults,
            "runs": self.args.runs(),
            "seed": self.args.seed,
            "failed_runs": self.sum.failed,
            "violations": self.sum.violations(trace),
            "claims": tally.claims,
            "grants": tally.grants,
            "denied": tally.denied,
            "given_up": tally.given_up,
            "orphaned": tally.orphaned,
            "lost": tally.lost,
            "broken": tally.broken,
            "breaks": tally.breaks,
            "lapsed": tally.lapsed,
            "writes": tally.writes,
            "late_writes_refused": tally.late_refused,
            "late_writes_accepted": tally.late_accepted,
            "packets": tally.packets,
            "disk_writes": tally.disk_writes,
            "faults_injected": self.injected(),
            "simulated_ns": tally.elapsed_ns,
            "unjudged": tally.unjudged,
            "gap_ns_max": tally.gap_ns_max,
            "settled_ns_max": tally.settled_ns_max,
        });
        if self.args.trace && self.sum.first.is_none() {
            value["trace"] = json!(trace);
        }
        value
    }

    fn injected(&self) -> BTreeMap<&'static str, u64> {
        Fault::KINDS.into_iter().zip(self.sum.tally.faults).collect()
    }

    /// As text.
    pub(super) fn text(&self, taken: Duration) -> String {
        let paint = Paint::for_stdout();
        let mut lines = vec![self.title(paint), String::new()];
        for (name, value, remark) in self.rows() {
            let line = format!("  {name:<24}{value:>13}  {}", paint.faint(&remark));
            lines.push(line.trim_end().to_owned());
        }
        let rates = [(self.args.runs(), "runs"), (self.sum.tally.packets, "packets")];
        lines.extend([String::new(), self.verdict(paint)]);
        lines.push(paint.faint(&per_second(taken, &rates)));
        lines.join("\n") + "\n"
    }

    /// A line about the runs.
    pub(super) fn title(&self, paint: Paint) -> String {
        let what = paint.strong(&self.cluster.describe(&self.args.protocol));
        let (seed, faults) = (self.args.seed, &self.args.faults);
        match self.args.runs() {
            1 => format!("{what}, whole sites, faults: {faults}, seed {seed}"),
            runs => {
                let last = seed + (runs - 1);
                format!("{what}, whole sites, faults: {faults}, seeds {seed} to {last}")
            }
        }
    }

    /// The figures: a name, a value, a remark.
    fn rows(&self) -> Vec<(String, String, String)> {
        let tally = &self.sum.tally;
        let hours = ratio(tally.elapsed_ns, HOUR).unwrap_or_default();
        let denied = tally.denied.iter().map(|(why, count)| format!("{why} {}", grouped(*count)));
        let mut rows: Vec<(&str, String, String)> = vec![
            ("runs", grouped(self.args.runs()), String::new()),
            ("simulated hours", format!("{hours:.1}"), String::new()),
            ("claims", grouped(tally.claims), String::new()),
            ("grants", grouped(tally.grants), String::new()),
            ("denied", grouped(tally.denied.values().sum()), denied.collect::<Vec<_>>().join(", ")),
            ("given up", grouped(tally.given_up), String::new()),
            ("grants lost", grouped(tally.lost), "leases ended".to_owned()),
            ("grants broken", grouped(tally.broken), "a caller asked for it".to_owned()),
            ("writes of holders", grouped(tally.writes), "none may be refused".to_owned()),
            ("late writes refused", grouped(tally.late_refused), "a higher fence was seen".into()),
            (
                "late writes accepted",
                grouped(tally.late_accepted),
                "no later holder had followed".into(),
            ),
            ("unjudged", grouped(tally.unjudged), "runs with leases too short for tokens".into()),
            ("longest gap", seconds(tally.gap_ns_max), "s, with a waiter and no holder".into()),
            ("longest settling", seconds(tally.settled_ns_max), "s after the last fault".into()),
        ];
        for (kind, count) in Fault::KINDS.into_iter().zip(tally.faults) {
            rows.push((kind, grouped(count), if kind == "reset" { "faults" } else { "" }.into()));
        }
        rows.into_iter().map(|(name, value, remark)| (name.to_owned(), value, remark)).collect()
    }

    /// Whether all runs passed, or the failure and how to see it.
    pub(super) fn verdict(&self, paint: Paint) -> String {
        let well = "every property held, and nothing was left of any claim";
        self.sum.verdict(self.args, self.cluster, well, paint)
    }
}

fn seconds(nanos: u64) -> String {
    format!("{:.1}", ratio(nanos, SECOND).unwrap_or_default())
}

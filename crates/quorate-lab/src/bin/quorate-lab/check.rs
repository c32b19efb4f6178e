//! `quorate check`: every schedule of a small cluster.

use std::net::{TcpListener, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use quorate_check::{Limits, Report, Space, Trace, check, explore};
use quorate_laboratory::find;
use quorate_quorum::{SiteId, SiteSet};
use quorate_sim::{Breach, Facts, properties};
use serde_json::{Value, json};

use crate::cluster::{Cluster, ClusterArgs};
use crate::faults::FaultArgs;
use crate::panics::with_quiet_panics;
use quorate_terminal::answer::{Answer, Failure, Verdict, print};
use quorate_terminal::figures::{grouped, per_second};
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, with_progress};

/// Check every schedule of a small cluster
///
/// A complete search without a violation is a proof for this cluster and this number of claims.
/// For a violation, the shortest schedule that leads to it is shown, unless that takes too many
/// states to find.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The protocol, such as `mutex`
    protocol: String,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Stop the search, incomplete, after so many states
    #[arg(long, value_name = "M")]
    max_states: Option<usize>,
    /// The number of threads
    #[arg(long, value_name = "N", default_value = "2")]
    threads: NonZeroUsize,
    /// The order in which a channel delivers: `fifo`, or `any` with --option unordered=on
    #[arg(long, default_value = "fifo")]
    order: String,
    #[command(flatten)]
    faults: FaultArgs,
    /// The sites that may crash, such as 4,5 [default: all]
    #[arg(long, value_name = "SITES", value_delimiter = ',')]
    mortal: Vec<NonZeroUsize>,
    /// The sites whose sessions at others may be lost or fall silent, such as 1,2 [default: all]
    #[arg(long, value_name = "SITES", value_delimiter = ',')]
    fragile: Vec<NonZeroUsize>,
    /// Show the states in a browser instead, until interrupted
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "localhost:3000")]
    #[arg(conflicts_with = "json")]
    explore: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate check mutex
  quorate check mutex --sites 3 --requests 2,1,0 --gives-up 1
  quorate check mutex --option undo=E1    the paper as printed: see it break
  quorate check mutex --site --budget lose=1    any one session may be lost
  quorate check pool --claims '2 of 2; 1 of 2'    sites 1 and 3 claim both units, site 2 one
  quorate check maekawa --sites 4    a baseline of the literature; docs/lab.md lists them

Exit status: 0 clean and complete, 1 a property broke, 2 bad input, 3 not complete.";

impl Check {
    /// Runs the search and prints the result.
    pub(crate) fn run(&self) -> Answer {
        let protocol = find(&self.protocol, &self.cluster.options)?;
        let (facts, site) = (protocol.facts(), self.cluster.site);
        if !site && self.faults.needs_sessions(facts) {
            let flag = self.faults.given().unwrap_or("--budget");
            return Err(format!("{flag}: only sessions can end; expected --site too").into());
        }
        let (cluster, setup, claims) = self.cluster.resolve(&*protocol, 3, 1)?;
        let space = Space {
            setup,
            claims,
            requests: cluster.requests.clone(),
            gives_up: cluster.gives_up(),
            faults: site.then(|| self.faults.faults()),
            sessionless: self.faults.sessionless(facts, site)?,
            order: self.faults.order(facts, &self.order, site)?,
            mortal: some_of(&self.mortal, "--mortal", cluster.requests.len())?,
            fragile: some_of(&self.fragile, "--fragile", cluster.requests.len())?,
        };
        Search { args: self, cluster: &cluster, facts }.run(&space)
    }

    fn limits(&self) -> Limits {
        let max_states = self.max_states.unwrap_or(usize::MAX);
        Limits { max_states, threads: self.threads.get(), ..Limits::default() }
    }
}

/// The sites that a flag lists; `None` if it was not given, so that all are meant.
fn some_of(listed: &[NonZeroUsize], flag: &str, sites: usize) -> Result<Option<SiteSet>, String> {
    if let Some(site) = listed.iter().find(|site| site.get() > sites) {
        return Err(format!("{flag}: there is no site {site}; expected 1 to {sites}"));
    }
    let set = listed.iter().map(|site| SiteId::new(site.get() - 1));
    Ok((!listed.is_empty()).then(|| set.collect()))
}

/// A search of one space.
struct Search<'a> {
    args: &'a Check,
    cluster: &'a Cluster,
    facts: Facts,
}

impl Search<'_> {
    fn run(&self, space: &Space) -> Answer {
        if let Some(address) = &self.args.explore {
            return serve(space, address);
        }
        let limits = self.args.limits();
        let visited = limits.visited.clone();
        let start = Instant::now();
        let states = move || visited.load(Ordering::Relaxed) as u64;
        let search = || with_quiet_panics(|| check(space, &limits));
        let report = with_progress(Goal::Unknown, "states", states, search);
        if self.args.json {
            print(&format!("{}\n", self.json(&report)))?;
        } else {
            print(&self.text(&report, start.elapsed()))?;
        }
        Ok(match report {
            Report { violation: Some(_), .. } => Verdict::Broken,
            Report { complete: true, .. } => Verdict::Clean,
            Report { complete: false, .. } => Verdict::Incomplete,
        })
    }

    fn json(&self, report: &Report) -> Value {
        let violation = |(breach, trace): &(Breach, Trace)| {
            json!({
                "property": breach.property,
                "what": breach.what,
                "steps": trace.actions.len(),
                "shortest": trace.is_shortest,
                "trace": lines(trace).collect::<Vec<_>>(),
            })
        };
        json!({
            "protocol": self.args.protocol,
            "sites": self.cluster.n(),
            "quorum": self.cluster.quorum(),
            "requests": self.cluster.requests,
            "options": self.cluster.options(),
            "gives_up": self.cluster.gives_up(),
            "site": self.args.cluster.site,
            "budget": self.args.faults.json(),
            "order": self.args.order,
            "states": report.states,
            "depth": report.depth,
            "complete": report.complete,
            "violations": report.violation.iter().map(violation).collect::<Vec<_>>(),
        })
    }

    fn text(&self, report: &Report, taken: Duration) -> String {
        let paint = Paint::for_stdout();
        let what = paint.strong(&self.cluster.describe(&self.args.protocol));
        let requests: Vec<_> = self.cluster.requests.iter().map(ToString::to_string).collect();
        let mut text = vec![format!("{what}, requests {}", requests.join(",")), String::new()];
        match &report.violation {
            Some((breach, trace)) => text.extend(violation(paint, breach, trace)),
            None => {
                let held = |property| format!("  {property:<13}{}", paint.good("holds"));
                text.extend(properties(self.facts).map(held));
            }
        }
        let found = match (&report.violation, report.complete) {
            (Some(_), _) => "stopped at the first violation",
            (None, true) => "complete: these are all there are",
            (None, false) => "not complete: stopped at --max-states",
        };
        let (states, depth) = (report.states as u64, report.depth);
        text.push(format!("\n{} states, {depth} deep, {found}", grouped(states)));
        text.push(paint.faint(&per_second(taken, &[(states, "states")])));
        text.join("\n") + "\n"
    }
}

/// How many lines are shown of a schedule that is not the shortest and may be very long.
const LAST: usize = 40;

fn violation(paint: Paint, breach: &Breach, trace: &Trace) -> Vec<String> {
    let steps = trace.actions.len();
    let skipped = if trace.is_shortest { 0 } else { trace.lines.len().saturating_sub(LAST) };
    let which = if trace.is_shortest { "The shortest" } else { "A" };
    let end = if skipped > 0 { "; it ends so, and --json has all of it" } else { "" };
    let mut text = vec![
        format!("{} {breach}", paint.bad("broken:")),
        format!("{which} schedule that breaks it, {steps} steps{end}:\n"),
    ];
    text.extend(lines(trace).skip(skipped).map(|line| format!("  {line}")));
    text
}

/// The lines of a trace, indented as in scripts.
fn lines(trace: &Trace) -> impl Iterator<Item = String> + '_ {
    trace.lines.iter().map(|(depth, line)| format!("{:width$}{line}", "", width = 2 * depth))
}

fn serve(space: &Space, address: &str) -> Answer {
    let refused = |error: std::io::Error| Failure::Input(format!("--explore {address}: {error}"));
    let found: Vec<_> = address.to_socket_addrs().map_err(refused)?.collect();
    // Tried here, because the explorer itself panics if it cannot listen.
    TcpListener::bind(&found[..]).map_err(refused)?;
    print(&format!("open http://{address}/ in a browser; Ctrl-C ends it\n"))?;
    with_quiet_panics(|| explore(space, address));
    Ok(Verdict::Clean)
}

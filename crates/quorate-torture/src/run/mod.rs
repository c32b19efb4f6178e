//! A run: namespaces, processes, the schedule, the judge, the report.

mod namespaces;
mod world;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;

use self::world::World;
use crate::clock::Clock;
use crate::faults::{Needs, Nemesis};
use crate::history::{self, Recorder, What};
use crate::network::Isolation;
use crate::options::Options;
use crate::schedule::{Schedule, Step};
use crate::{judge, report};

/// The longest time that a cluster has for its first grant.
const START: Duration = Duration::from_secs(30);
/// How often the torturer looks at the time.
const TICK: Duration = Duration::from_millis(5);
/// Options are parsed again, from the folder of an earlier run.
#[derive(Debug, Parser)]
struct Replayed {
    #[command(flatten)]
    options: Options,
}

/// Runs, or judges an earlier run.
pub(crate) fn main(options: Options) -> ExitCode {
    match execute(options) {
        Ok(verdict) => ExitCode::from(verdict as u8),
        Err(error) => {
            eprintln!("quorate-torture: {error}");
            ExitCode::from(2)
        }
    }
}

/// How a run ended; the numbers are exit statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Nothing was violated.
    Clean = 0,
    Violated = 1,
    /// A strict run has not begun: there are no namespaces.
    Incomplete = 3,
}

fn execute(options: Options) -> Result<Verdict, String> {
    if options.nemesis == ["list"] {
        for nemesis in Nemesis::ALL {
            println!("{:<14} {}", nemesis.name(), nemesis.about());
        }
        return Ok(Verdict::Clean);
    }
    let problem = |error: io::Error| error.to_string();
    if let Some(folder) = &options.judge {
        let replayed = earlier(folder, &options)?;
        return conclude(folder, &replayed, &[]).map_err(problem);
    }
    let options = match &options.replay {
        Some(folder) => earlier(folder, &options)?,
        None => options,
    };
    options.nemeses()?;
    if !options.inside {
        match namespaces::enter(&options) {
            Ok(ended) => return ended,
            Err(why) if options.strict => {
                eprintln!("no namespaces: {why}");
                return Ok(Verdict::Incomplete);
            }
            Err(why) => eprintln!("no namespaces: {why}\nall sites run on loopback addresses"),
        }
    }
    let folder = folder(&options).map_err(problem)?;
    let mut missing = Vec::new();
    let isolation = namespaces::isolation(&options, &mut missing);
    if options.strict && !isolation.network {
        eprintln!("no namespaces: {}", missing.join("; "));
        return Ok(Verdict::Incomplete);
    }
    torture(&folder, &options, isolation, &mut missing).map_err(problem)?;
    conclude(&folder, &options, &missing).map_err(problem)
}

/// The options of an earlier run.
fn earlier(folder: &Path, options: &Options) -> Result<Options, String> {
    let path = folder.join("arguments");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let words = std::iter::once("quorate-torture").chain(text.split_whitespace());
    let replayed = Replayed::try_parse_from(words).map_err(|error| error.to_string())?.options;
    let Options { out, quorate, strict, inside, .. } = options.clone();
    let out = out.join("again"); // the earlier run stays as it is
    Ok(Options { out, quorate, strict, inside, ..replayed })
}

/// An empty folder for this run.
fn folder(options: &Options) -> io::Result<PathBuf> {
    let control = if options.control { "-control" } else { "" };
    let name =
        format!("seed-{}-lease-{}-sites-{}{control}", options.seed, options.lease, options.sites);
    fs::create_dir_all(&options.out)?;
    let folder = options.out.canonicalize()?.join(name);
    if folder.join("arguments").exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("logs"))?;
    fs::write(folder.join("arguments"), options.arguments().join(" "))?;
    Ok(folder)
}

/// Runs the whole schedule.
fn torture(
    folder: &Path,
    options: &Options,
    isolation: Isolation,
    missing: &mut Vec<String>,
) -> io::Result<()> {
    let recorder = Recorder::new(&folder.join("history.jsonl"))?;
    let mut world = World::new(folder, options, isolation, recorder.clone())?;
    let possible = possible(options, &world, missing);
    let schedule = Schedule::draw(&possible, &options.setting(), options.time(), options.seed);
    println!(
        "{} for {:.1} minutes, {} sites, leases of {} ms, seed {}",
        if options.control { "positive control" } else { "torture" },
        schedule.end.as_secs_f64() / 60.0,
        options.sites,
        options.lease,
        options.seed
    );
    for what in missing.iter() {
        println!("missing: {what}");
    }
    watch_lateness(recorder.clone())?;
    world.start()?;
    wait_for_first_grant(&recorder);
    follow(&schedule, &mut world);
    world.stop();
    recorder.flush()?;
    world.remove_disks()
}

/// The faults that the machine allows; says which it does not.
fn possible(options: &Options, world: &World, missing: &mut Vec<String>) -> Vec<Nemesis> {
    let chosen = options.nemeses().unwrap_or_default();
    let (possible, not): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|nemesis| world.allows(nemesis.needs()));
    for (needs, what) in [
        (Needs::Network, "networks of their own"),
        (Needs::SmallDisk, "small disks"),
        (Needs::Throttle, "slow disks (root, loop devices, the control group blkio)"),
    ] {
        let without = not.iter().filter(|nemesis| nemesis.needs() == needs);
        let names: Vec<&str> = without.map(|nemesis| nemesis.name()).collect();
        if !names.is_empty() {
            missing.push(format!("{what}: without {}", names.join(", ")));
        }
    }
    possible
}

fn wait_for_first_grant(recorder: &Recorder) {
    let began = Instant::now();
    while recorder.grants() == 0 && began.elapsed() < START {
        thread::park_timeout(TICK);
    }
}

/// Does every step at its time.
fn follow(schedule: &Schedule, world: &mut World) {
    let began = Instant::now();
    let mut steps = schedule.steps.iter().peekable();
    while began.elapsed() < schedule.end {
        while let Some((at, step)) = steps.peek()
            && *at <= began.elapsed()
        {
            if let Step::Begin { nemesis, text, .. } = step {
                println!("{:7.1} s  {nemesis}: {text}", at.as_secs_f64());
            }
            world.perform(step);
            steps.next();
        }
        world.tend();
        thread::park_timeout(TICK);
    }
}

/// Records how late the machine wakes a thread that waits.
fn watch_lateness(recorder: Recorder) -> io::Result<()> {
    let recorder = Arc::new(recorder);
    thread::Builder::new().name("lateness".into()).spawn(move || {
        loop {
            let before = Clock::of_machine().now();
            thread::park_timeout(TICK);
            let late = Clock::of_machine().now().saturating_sub(before) / 1_000_000;
            let late = late.saturating_sub(u64::try_from(TICK.as_millis()).unwrap_or(0));
            if late > 5 {
                recorder.record("torture", What::Late { ms: late });
            }
        }
    })?;
    Ok(())
}

/// Judges the history in a folder, and writes the report there.
fn conclude(folder: &Path, options: &Options, missing: &[String]) -> io::Result<Verdict> {
    let (events, broken) = history::read(&folder.join("history.jsonl"))?;
    let mut judgement = judge::judge(&events, options.setting().lease);
    judgement.violations.extend(judge::panics(&folder.join("logs"))?);
    judgement.notes.push(format!("{broken} half lines of processes that were killed"));
    let text = report::text(&judgement, options, missing);
    fs::write(folder.join("report.txt"), &text)?;
    fs::write(folder.join("report.html"), report::page(&judgement, options, missing, folder)?)?;
    println!("{text}\nreport: {}", folder.join("report.html").display());
    Ok(if judgement.violations.is_empty() { Verdict::Clean } else { Verdict::Violated })
}

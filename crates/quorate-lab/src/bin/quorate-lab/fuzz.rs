//! `quorate-lab fuzz`: changed frames and packets, until the count or the time is over.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use quorate_laboratory::fuzz::{Case, Frames, Locks, Plan, Report, frames, run};
use quorate_terminal::answer::{Answer, Failure, Verdict, print};
use quorate_terminal::figures::grouped;
use strum::VariantArray;

/// Change frames and packets at random, and see whether sites survive them
#[derive(Debug, Subcommand)]
pub(crate) enum Fuzz {
    /// Decode changed frames
    Frames(FramesArgs),
    /// Send changed packets that decode to whole sites, as a peer and as a client
    Sites(SitesArgs),
    /// Repeat kept cases
    Replay {
        /// The files of the cases
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct FramesArgs {
    /// How many frames
    #[arg(long, default_value_t = 1_000_000)]
    count: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of threads
    #[arg(long, default_value_t = 2)]
    threads: u64,
}

#[derive(Args, Debug)]
pub(crate) struct SitesArgs {
    /// The locks of the callers [default: each in turn]
    #[arg(long)]
    locks: Option<Locks>,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many runs, if the time does not end them
    #[arg(long, default_value_t = 70)]
    runs: u64,
    /// Go on with further runs for this many minutes
    #[arg(long)]
    minutes: Option<u64>,
    /// How many things happen in the true part of a run
    #[arg(long, default_value_t = 1_500)]
    steps: u64,
    /// How many copies of a site are lied to, at each packet that arrives
    #[arg(long, default_value_t = 8)]
    copies: u64,
    /// Stop a run before this event, and write the history so far: for a step that does not end
    #[arg(long)]
    stop_before: Option<u64>,
    /// The number of threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Write what is found into this folder, each as short as possible
    #[arg(long)]
    cases: Option<PathBuf>,
}

impl Fuzz {
    /// Does it, and prints what was found.
    pub(crate) fn run(&self) -> Answer {
        match self {
            Fuzz::Frames(args) => args.run(),
            Fuzz::Sites(args) => args.run(),
            Fuzz::Replay { files } => replay(files),
        }
    }
}

fn replay(files: &[PathBuf]) -> Answer {
    let mut verdict = Verdict::Clean;
    for file in files {
        let text = fs::read_to_string(file).map_err(Failure::of)?;
        let case = Case::from_text(&text).map_err(Failure::of)?;
        match case.replay() {
            Ok(()) => print(&format!("{}: clean\n", file.display()))?,
            Err(what) => {
                print(&format!("{}: {what}\n", file.display()))?;
                verdict = Verdict::Broken;
            }
        }
    }
    Ok(verdict)
}

/// How many frames one seed gives.
const FRAMES: u64 = 500_000;

impl FramesArgs {
    fn run(&self) -> Answer {
        let (started, next) = (Instant::now(), AtomicU64::new(0));
        let total = Mutex::new((Frames::default(), None));
        let batches = self.count.div_ceil(FRAMES);
        thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    loop {
                        let batch = next.fetch_add(1, Ordering::Relaxed);
                        if batch >= batches {
                            return;
                        }
                        let count = FRAMES.min(self.count - batch * FRAMES);
                        let seed = self.seed + batch;
                        let done = frames(seed, count);
                        let mut total = total.lock().expect("no thread panics with it");
                        match done {
                            Ok(Frames { accepted, refused }) => {
                                total.0.accepted += accepted;
                                total.0.refused += refused;
                            }
                            Err(what) => total.1 = Some(format!("seed {seed}: {what}")),
                        }
                    }
                });
            }
        });
        let (done, failure) = total.into_inner().expect("no thread panics with it");
        let seconds = started.elapsed().as_secs();
        let (accepted, refused) = (grouped(done.accepted), grouped(done.refused));
        print(&format!("{accepted} changed frames decoded, {refused} refused, {seconds} s\n"))?;
        match failure {
            None => Ok(Verdict::Clean),
            Some(what) => {
                print(&format!("{what}\n"))?;
                Ok(Verdict::Broken)
            }
        }
    }
}

/// A run that takes longer than this has a step that does not end.
const RUN_MAX: Duration = Duration::from_secs(30);

/// What a thread is doing.
struct Worker {
    /// Its run, and when that began.
    current: Mutex<Option<(Plan, Instant)>>,
    /// How many events the run has had.
    events: AtomicU64,
}

impl SitesArgs {
    fn run(&self) -> Answer {
        let (started, next) = (Instant::now(), AtomicU64::new(0));
        let (report, over) = (Mutex::new(Report::default()), AtomicBool::new(false));
        let idle = || Worker { current: Mutex::new(None), events: AtomicU64::new(0) };
        let workers: Vec<Worker> = (0..self.threads.max(1)).map(|_| idle()).collect();
        thread::scope(|scope| {
            let threads: Vec<_> = workers
                .iter()
                .map(|worker| scope.spawn(|| self.work(worker, started, &next, &report)))
                .collect();
            scope.spawn(|| watch(&workers, &over));
            for thread in threads {
                thread.join().expect("panics are caught");
            }
            over.store(true, Ordering::Relaxed);
        });
        let report = report.into_inner().expect("no thread panics with it");
        self.show(&report, started.elapsed(), next.load(Ordering::Relaxed))
    }

    fn work(&self, worker: &Worker, started: Instant, next: &AtomicU64, all: &Mutex<Report>) {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let time = self.minutes.map(|minutes| Duration::from_secs(60 * minutes));
            let ends = time.map_or(number >= self.runs, |time| started.elapsed() >= time);
            if ends {
                next.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            let plan = self.plan(number);
            let now = Instant::now();
            *worker.current.lock().expect("no thread panics with it") = Some((plan, now));
            let done = run(plan, &worker.events);
            *worker.current.lock().expect("no thread panics with it") = None;
            all.lock().expect("no thread panics with it").add(done);
        }
    }

    fn plan(&self, number: u64) -> Plan {
        let kinds = Locks::VARIANTS;
        let kind = usize::try_from(number).unwrap_or_default() % kinds.len();
        let &Self { steps, copies, stop_before, .. } = self;
        let locks = self.locks.unwrap_or(kinds[kind]);
        Plan { locks, seed: self.seed + number, steps, copies, undone: None, stop_before }
    }

    fn show(&self, report: &Report, time: Duration, runs: u64) -> Answer {
        let mut text = format!(
            "{runs} runs: {} changed packets of peers, {} of clients, {} of them rejected; \
             {} more did not decode; {} s\n",
            grouped(report.of_peers),
            grouped(report.of_clients),
            grouped(report.rejected),
            grouped(report.undecodable),
            time.as_secs()
        );
        for (count, failure) in report.failures.values() {
            let _ = writeln!(text, "{count} times: {}", failure.what);
            let short = failure.case.shortened(&failure.what);
            let _ = writeln!(text, "  {} events", short.events.len());
            if let Some(folder) = &self.cases {
                let file = write_case(folder, &failure.what, &short).map_err(Failure::of)?;
                let _ = writeln!(text, "  {}", file.display());
            }
        }
        print(&text)?;
        Ok(if report.failures.is_empty() { Verdict::Clean } else { Verdict::Broken })
    }
}

/// Ends the program if a run does not end.
fn watch(workers: &[Worker], over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        thread::park_timeout(Duration::from_millis(200));
        for worker in workers {
            let current = *worker.current.lock().expect("no thread panics with it");
            if let Some((Plan { seed, locks, .. }, since)) = current
                && since.elapsed() > RUN_MAX
            {
                let event = worker.events.load(Ordering::Relaxed);
                println!(
                    "a step does not end: --locks {locks} --seed {seed} --stop-before {event}"
                );
                std::process::exit(1);
            }
        }
    }
}

fn write_case(folder: &Path, what: &str, case: &Case) -> std::io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = what.chars().take(120).map(letter).collect();
    let file = folder.join(format!("{name}.txt"));
    fs::write(&file, format!("# {what}\n{}", case.to_text()))?;
    Ok(file)
}

//! The program `quorate`: sites that share locks, and the commands that use them.

mod bench;
mod laboratory;
mod quorum;
mod run;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use quorate_terminal::shell;

use self::laboratory::LabArgs;

/// A leaderless lock service: a quorum of the sites decides every grant
#[derive(Debug, Parser)]
#[command(name = "quorate", version, max_term_width = 100, after_help = EXAMPLES)]
struct Quorate {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Up(run::up::Up),
    Lock(run::lock::Lock),
    Ls(run::ls::Ls),
    Show(run::show::Show),
    Explain(run::explain::Explain),
    Watch(run::watch::Watch),
    Break(run::break_::Break),
    /// Elect a leader, or show the current one
    #[command(subcommand)]
    Elect(run::elect::Elect),
    Sites(run::sites::Sites),
    Serve(run::serve::Serve),
    Cert(run::cert::Cert),
    /// Inspect quorum systems: which sites decide together, how many failures they survive
    #[command(subcommand)]
    Quorum(quorum::Quorum),
    Bench(bench::Bench),
    /// Simulate a cluster in virtual time (runs quorate-lab)
    #[command(disable_help_flag = true)]
    Sim(LabArgs),
    /// Check every schedule of a small cluster (runs quorate-lab)
    #[command(disable_help_flag = true)]
    Check(LabArgs),
    /// Run experiments that compare papers' claims with measurements (runs quorate-lab)
    #[command(disable_help_flag = true)]
    Lab(LabArgs),
    Completions(shell::Completions),
    Man(shell::Man),
    #[command(name = run::lock::RUN_UNDER_LOCK, hide = true)]
    RunUnderLock(run::lock::RunUnderLock),
    #[command(name = bench::worker::WORKER, hide = true)]
    BenchWorker(bench::worker::Worker),
}

const EXAMPLES: &str = "\
Examples:
  quorate up                         run five sites in this terminal, to try things out
  quorate lock deploy -- ./deploy    in another terminal: run ./deploy while holding the lock
  quorate show deploy                show the holder and the queue
  quorate sim demo                   watch three of five simulated sites share a lock

`sim`, `check`, `lab`, and `quorum measure`, `compare`, `check` and `suggest` run the program
quorate-lab, which must be in the same directory as quorate or on PATH.

Exit status: 0 success, 2 bad input, 125 the cluster or quorate-lab cannot be reached, or too few
sites answer. `quorate lock` exits with the status of its command; see `quorate lock --help`.";

fn main() -> ExitCode {
    let answer = match Quorate::parse().command {
        Command::Quorum(quorum) => quorum.run(),
        Command::Sim(args) => args.run(&["sim"]),
        Command::Check(args) => args.run(&["check"]),
        Command::Lab(args) => args.run(&["lab"]),
        Command::Up(up) => up.run(),
        Command::Lock(lock) => lock.run(),
        Command::Ls(ls) => ls.run(),
        Command::Show(show) => show.run(),
        Command::Explain(explain) => explain.run(),
        Command::Watch(watch) => watch.run(),
        Command::Break(command) => command.run(),
        Command::Elect(elect) => elect.run(),
        Command::Sites(sites) => sites.run(),
        Command::Serve(serve) => serve.run(),
        Command::Cert(cert) => cert.run(),
        Command::Completions(completions) => completions.run(Quorate::command()),
        Command::Man(man) => man.run(Quorate::command()),
        Command::RunUnderLock(command) => command.run(),
        Command::Bench(bench) => bench.run(),
        Command::BenchWorker(worker) => worker.run(),
    };
    quorate_terminal::answer::exit("quorate", answer)
}

//! The program `quorate`: sites that share locks, and the commands that use them.

mod bench;
mod laboratory;
mod quorum;
mod run;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use quorate_terminal::shell;

use self::laboratory::Passed;

/// Locks without a leader: every grant is decided by a quorum of the sites.
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
    /// Elect a leader, or show who leads
    #[command(subcommand)]
    Elect(run::elect::Elect),
    Sites(run::sites::Sites),
    Serve(run::serve::Serve),
    Cert(run::cert::Cert),
    /// Show which sites decide together, and how many failures that survives
    #[command(subcommand)]
    Quorum(quorum::Quorum),
    Bench(bench::Bench),
    /// Run a cluster in virtual time, with the program quorate-lab
    #[command(disable_help_flag = true)]
    Sim(Passed),
    /// Try every schedule of a small cluster, with the program quorate-lab
    #[command(disable_help_flag = true)]
    Check(Passed),
    /// Run experiments: what papers claim, and what was measured, with the program quorate-lab
    #[command(disable_help_flag = true)]
    Lab(Passed),
    Completions(shell::Completions),
    Man(shell::Man),
    #[command(name = run::lock::CHILD, hide = true)]
    Child(run::lock::Child),
    #[command(name = bench::worker::WORKER, hide = true)]
    BenchWorker(bench::worker::Worker),
}

const EXAMPLES: &str = "\
Examples:
  quorate up                         five sites in this terminal, to play with
  quorate lock deploy -- ./deploy    in another: runs ./deploy while it holds the lock
  quorate show deploy                who holds it, and who waits
  quorate sim demo                   watch three of five sites share a lock, in the laboratory

`sim`, `check`, `lab`, and `quorum measure`, `compare`, `check` and `suggest` run the program
quorate-lab, where it stands beside quorate or on PATH.

Exit status: 0 all fine, 2 bad input, 125 the cluster or quorate-lab cannot be reached. `quorate
lock` exits as its command does; see `quorate lock --help`.";

fn main() -> ExitCode {
    let answer = match Quorate::parse().command {
        Command::Quorum(quorum) => quorum.run(),
        Command::Sim(passed) => passed.run(&["sim"]),
        Command::Check(passed) => passed.run(&["check"]),
        Command::Lab(passed) => passed.run(&["lab"]),
        Command::Up(up) => up.run(),
        Command::Lock(lock) => lock.run(),
        Command::Ls(ls) => ls.run(),
        Command::Show(show) => show.run(),
        Command::Explain(explain) => explain.run(),
        Command::Watch(watch) => watch.run(),
        Command::Break(wish) => wish.run(),
        Command::Elect(elect) => elect.run(),
        Command::Sites(sites) => sites.run(),
        Command::Serve(serve) => serve.run(),
        Command::Cert(cert) => cert.run(),
        Command::Completions(completions) => completions.run(Quorate::command()),
        Command::Man(man) => man.run(Quorate::command()),
        Command::Child(child) => child.run(),
        Command::Bench(bench) => bench.run(),
        Command::BenchWorker(worker) => worker.run(),
    };
    quorate_terminal::answer::exit("quorate", answer)
}

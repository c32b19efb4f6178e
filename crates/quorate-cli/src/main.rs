//! The `quorate` command: locks without a leader, and the tools to study them.

mod answer;
mod bench;
mod check;
mod cluster;
mod faults;
mod figures;
mod html;
mod hush;
mod lab;
mod paint;
mod place;
mod progress;
mod quorum;
mod run;
mod sim;
mod table;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

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
    Sites(run::sites::Sites),
    Serve(run::serve::Serve),
    Cert(run::cert::Cert),
    /// Runs a cluster in virtual time: by a script, or as a seed decides
    #[command(subcommand)]
    Sim(sim::Sim),
    Check(Box<check::Check>),
    /// Shows quorum systems
    #[command(subcommand)]
    Quorum(quorum::Quorum),
    /// Makes experiments: what papers claim, and what was measured
    #[command(subcommand)]
    Lab(lab::Lab),
    Bench(bench::Bench),
    Completions(run::shell::Completions),
    Man(run::shell::Man),
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
  quorate sim demo                   watch three of five sites share a lock
  quorate sim random --runs 10000    ten thousand other histories, and what they cost
  quorate check mutex                every history of three sites

Exit status: 0 all fine, 1 a property broke, 2 bad input, 3 the search was not complete, 125 the
cluster cannot be reached. `quorate lock` exits as its command does; see `quorate lock --help`.";

fn main() -> ExitCode {
    let answer = match Quorate::parse().command {
        Command::Sim(sim) => sim.run(),
        Command::Check(check) => check.run(),
        Command::Quorum(quorum) => quorum.run(),
        Command::Lab(lab) => lab.run(),
        Command::Up(up) => up.run(),
        Command::Lock(lock) => lock.run(),
        Command::Ls(ls) => ls.run(),
        Command::Show(show) => show.run(),
        Command::Explain(explain) => explain.run(),
        Command::Watch(watch) => watch.run(),
        Command::Break(wish) => wish.run(),
        Command::Sites(sites) => sites.run(),
        Command::Serve(serve) => serve.run(),
        Command::Cert(cert) => cert.run(),
        Command::Completions(completions) => completions.run(Quorate::command()),
        Command::Man(man) => man.run(Quorate::command()),
        Command::Child(child) => child.run(),
        Command::Bench(bench) => bench.run(),
        Command::BenchWorker(worker) => worker.run(),
    };
    match answer {
        Ok(verdict) => verdict.exit_code(),
        Err(failure) => {
            eprintln!("quorate: {failure}");
            failure.exit_code()
        }
    }
}

//! The program `quorate-torture`: real sites and real clients under faults, and a judge of what the
//! clients believed.

mod chance;
mod client;
mod clients;
mod clock;
mod disk;
mod faults;
mod history;
mod judge;
mod network;
mod options;
mod report;
mod run;
mod schedule;
mod share;
mod site;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::client::command::Command;
use self::client::thin::Thin;
use self::network::launch::Launch;
use self::options::Options;

/// Torture real sites with faults, and judge what their clients believed
///
/// Exit status: 0 if nothing was violated, 1 if something was, 2 if it could not run,
/// 3 if it is strict and there are no namespaces.
#[derive(Debug, Parser)]
#[command(name = "quorate-torture", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    options: Options,

    #[command(subcommand)]
    role: Option<Role>,
}

/// What else the program is: it starts itself in these roles.
#[derive(Debug, Subcommand)]
enum Role {
    #[command(hide = true)]
    Thin(Thin),
    #[command(hide = true)]
    Command(Command),
    #[command(hide = true)]
    Launch(Launch),
    /// Prints the time that a process sees.
    #[command(hide = true)]
    Clock,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.role {
        None => return run::main(arguments.options),
        Some(Role::Thin(thin)) => thin.run(),
        Some(Role::Command(command)) => command.run(),
        Some(Role::Launch(launch)) => launch.run(),
        Some(Role::Clock) => {
            println!("{}", clock::nanos(clock::own_time()));
            Ok(())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quorate-torture: {error}");
            ExitCode::from(2)
        }
    }
}

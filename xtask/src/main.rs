//! The project's own automation: `cargo xtask <command>`, in Rust like the rest.

mod bless;
mod deep;
mod fuzz;
mod groups;
mod laboratory;
mod paint;
mod report;
mod runs;
mod test;
mod tidy;
mod torture;
mod workspace;

use std::io;
use std::process::ExitCode;

use workspace::Workspace;

/// One command of `cargo xtask`.
struct Command {
    name: &'static str,
    about: &'static str,
    help: &'static str,
    /// Runs the command; false if a check failed.
    run: fn(&Workspace) -> io::Result<bool>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        about: "run all a change must pass: formatting, lints, tests, scenarios, quick checks",
        help: test::HELP,
        run: |workspace| Ok(test::run(workspace)),
    },
    Command {
        name: "deep",
        about: "run the long exhaustive checks and the long random runs",
        help: deep::HELP,
        run: |workspace| Ok(deep::run(workspace)),
    },
    Command {
        name: "fuzz",
        about: "send changed frames and packets to sites; --minutes N",
        help: fuzz::HELP,
        run: |workspace| fuzz::run(workspace, FUZZ_MINUTES),
    },
    Command {
        name: "torture",
        about: "run real sites and clients under faults, and judge what the clients believed",
        help: torture::HELP,
        run: |workspace| torture::run(workspace, &[]),
    },
    Command {
        name: "tidy",
        about: "check the rules of style and layering that compiler and clippy do not know",
        help: tidy::HELP,
        run: tidy::run,
    },
    Command {
        name: "bless",
        about: "rewrite the traces of all scenarios, and show which changed",
        help: bless::HELP,
        run: bless::run,
    },
];

/// How long packets are sent, unless told otherwise.
const FUZZ_MINUTES: u64 = 5;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let named = |name: &str| COMMANDS.iter().find(|command| command.name == name);
    match args[..] {
        ["help" | "--help" | "-h"] => {
            print!("{}", usage());
            ExitCode::SUCCESS
        }
        [name] if let Some(command) = named(name) => execute(command.name, command.run),
        ["fuzz", "--minutes", minutes] if let Ok(minutes) = minutes.parse() => {
            execute("fuzz", |workspace| fuzz::run(workspace, minutes))
        }
        [name, "--help" | "-h"] | ["help", name] if let Some(command) = named(name) => {
            println!("cargo xtask {}: {}\n\n{}", command.name, command.about, command.help.trim());
            ExitCode::SUCCESS
        }
        ["torture", ref arguments @ ..] => {
            execute("torture", |workspace| torture::run(workspace, arguments))
        }
        _ => {
            eprint!("{}", usage_error(&args));
            ExitCode::from(2)
        }
    }
}

fn execute(name: &str, run: impl Fn(&Workspace) -> io::Result<bool>) -> ExitCode {
    match run(&Workspace::new()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo xtask {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The error for arguments that name no command.
fn usage_error(args: &[&str]) -> String {
    let known = |name: &&str| COMMANDS.iter().any(|command| command.name == *name);
    match args {
        [] => usage(),
        [name, rest @ ..] if known(name) => {
            let known = if *name == "fuzz" { "--minutes N and --help" } else { "only --help" };
            format!("`{name}` takes no `{}`; it knows {known}\n\n{}", rest.join(" "), usage())
        }
        [name, ..] => format!("there is no command `{name}`\n\n{}", usage()),
    }
}

fn usage() -> String {
    let line = |command: &Command| format!("  {:<9}{}\n", command.name, command.about);
    let lines: Vec<_> = COMMANDS.iter().map(line).collect();
    format!("usage: cargo xtask <command> [--help]\n\n{}", lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_lists_every_command() {
        for command in COMMANDS {
            assert!(usage().contains(command.about), "{}", command.name);
        }
    }

    #[test]
    fn a_complaint_names_what_was_not_understood() {
        assert_eq!(usage_error(&[]), usage());
        assert!(usage_error(&["tset"]).starts_with("there is no command `tset`"));
        assert!(usage_error(&["test", "--fast"]).starts_with("`test` takes no `--fast`"));
    }
}

//! The project's own automation: `cargo xtask <command>`, in Rust like the rest.

mod bless;
mod deep;
mod groups;
mod laboratory;
mod paint;
mod report;
mod runs;
mod shop;
mod test;
mod tidy;

use std::io;
use std::process::ExitCode;

use shop::Shop;

/// One command of `cargo xtask`.
struct Command {
    name: &'static str,
    about: &'static str,
    help: &'static str,
    /// Does the work; false if something it looked at is not as it should be.
    run: fn(&Shop) -> io::Result<bool>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        about: "everything a change must pass: formatting, lints, tests, scenarios, quick checks",
        help: test::HELP,
        run: |shop| Ok(test::run(shop)),
    },
    Command {
        name: "deep",
        about: "the long exhaustive checks and the long random runs",
        help: deep::HELP,
        run: |shop| Ok(deep::run(shop)),
    },
    Command {
        name: "tidy",
        about: "the rules of style and layering that the compiler does not know",
        help: tidy::HELP,
        run: tidy::run,
    },
    Command {
        name: "bless",
        about: "write the traces of all scenarios anew, and show which changed",
        help: bless::HELP,
        run: bless::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let named = |name: &str| COMMANDS.iter().find(|command| command.name == name);
    match args[..] {
        ["help" | "--help" | "-h"] => {
            print!("{}", usage());
            ExitCode::SUCCESS
        }
        [name] if let Some(command) = named(name) => carry_out(command),
        [name, "--help" | "-h"] | ["help", name] if let Some(command) = named(name) => {
            println!("cargo xtask {}: {}\n\n{}", command.name, command.about, command.help.trim());
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{}", complaint(&args));
            ExitCode::from(2)
        }
    }
}

fn carry_out(command: &Command) -> ExitCode {
    match (command.run)(&Shop::new()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo xtask {}: {error}", command.name);
            ExitCode::FAILURE
        }
    }
}

/// What to answer to arguments that name no command.
fn complaint(args: &[&str]) -> String {
    let known = |name: &&str| COMMANDS.iter().any(|command| command.name == *name);
    match args {
        [] => usage(),
        [name, rest @ ..] if known(name) => {
            format!("`{name}` takes no `{}`; it knows only --help\n\n{}", rest.join(" "), usage())
        }
        [name, ..] => format!("there is no command `{name}`\n\n{}", usage()),
    }
}

fn usage() -> String {
    let line = |command: &Command| format!("  {:<7}{}\n", command.name, command.about);
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
        assert_eq!(complaint(&[]), usage());
        assert!(complaint(&["tset"]).starts_with("there is no command `tset`"));
        assert!(complaint(&["test", "--fast"]).starts_with("`test` takes no `--fast`"));
    }
}

//! What shells and `man` want to know of this command.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::answer::{Answer, Failure, Verdict, say};

/// Writes completions for a shell
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  quorate completions fish > ~/.config/fish/completions/quorate.fish"
)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    /// Writes them.
    pub(crate) fn run(&self, mut command: Command) -> Answer {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, "quorate", &mut text);
        say(&String::from_utf8_lossy(&text))?;
        Ok(Verdict::Clean)
    }
}

/// Writes the manual page of this command, or of one of its commands
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate man lock | man -l -")]
pub(crate) struct Man {
    /// The command whose page it is
    command: Option<String>,
}

impl Man {
    /// Writes it.
    pub(crate) fn run(&self, mut command: Command) -> Answer {
        command.build();
        let page = match &self.command {
            None => command,
            Some(name) => {
                let visible = command.find_subcommand(name).filter(|found| !found.is_hide_set());
                let found = visible.cloned();
                found.ok_or_else(|| Failure::Input(format!("there is no command {name}")))?
            }
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(page).render(&mut text).map_err(Failure::Output)?;
        say(&String::from_utf8_lossy(&text))?;
        Ok(Verdict::Clean)
    }
}

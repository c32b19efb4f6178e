//! Completions and manual pages of a program.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::answer::{Answer, Failure, Verdict, print};

/// The command that writes completions for a shell.
#[derive(Args, Debug)]
#[command(
    about = "Write completions for a shell",
    after_help = "Example:\n  quorate completions fish > ~/.config/fish/completions/quorate.fish"
)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Writes the completions.
    ///
    /// # Errors
    ///
    /// They cannot be written.
    pub fn run(&self, mut command: Command) -> Answer {
        let (mut text, name) = (Vec::new(), command.get_name().to_owned());
        clap_complete::generate(self.shell, &mut command, name, &mut text);
        print(&String::from_utf8_lossy(&text))?;
        Ok(Verdict::Clean)
    }
}

/// The command that writes the manual page of a program, or of one of its commands.
#[derive(Args, Debug)]
#[command(
    about = "Write the manual page of this program, or of one of its commands",
    after_help = "Example:\n  quorate man lock | man -l -"
)]
pub struct Man {
    /// The command to document; by default, the whole program
    command: Option<String>,
}

impl Man {
    /// Writes the page.
    ///
    /// # Errors
    ///
    /// There is no such command, or the page cannot be written.
    pub fn run(&self, mut command: Command) -> Answer {
        command.build();
        let page = match &self.command {
            None => command,
            Some(name) => {
                let visible = command.find_subcommand(name).filter(|found| !found.is_hide_set());
                let found = visible.cloned();
                found.ok_or_else(|| {
                    Failure::Input(format!("there is no command `{name}`; see --help"))
                })?
            }
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(page).render(&mut text).map_err(Failure::Output)?;
        print(&String::from_utf8_lossy(&text))?;
        Ok(Verdict::Clean)
    }
}

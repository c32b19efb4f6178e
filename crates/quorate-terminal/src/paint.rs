//! Colours, where somebody looks.

use std::env;
use std::io::{self, IsTerminal};

use owo_colors::{OwoColorize, Style};

/// Colours text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// For standard output: on a terminal, unless `NO_COLOR` says otherwise.
    pub fn for_stdout() -> Self {
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { on: io::stdout().is_terminal() && !unwanted && !dumb }
    }

    /// Leaves all text as it is.
    pub fn none() -> Self {
        Self { on: false }
    }

    /// `text` in `style`.
    pub fn paint(self, style: Style, text: &str) -> String {
        if self.on && !text.trim().is_empty() {
            text.style(style).to_string()
        } else {
            text.to_owned()
        }
    }

    /// What went well.
    pub fn good(self, text: &str) -> String {
        self.paint(Style::new().green(), text)
    }

    /// What did not.
    pub fn bad(self, text: &str) -> String {
        self.paint(Style::new().red().bold(), text)
    }

    /// What stands out.
    pub fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// What can be passed over.
    pub fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }
}

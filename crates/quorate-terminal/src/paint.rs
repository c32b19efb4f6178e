//! Colours, if the output is a terminal.

use std::env;
use std::io::{self, IsTerminal};

use owo_colors::{OwoColorize, Style};

/// Colours text, or leaves it unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// For standard output: colours on a terminal, unless `NO_COLOR` is set.
    pub fn for_stdout() -> Self {
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { on: io::stdout().is_terminal() && !unwanted && !dumb }
    }

    /// Leaves all text unchanged.
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

    /// `text` as a good result.
    pub fn good(self, text: &str) -> String {
        self.paint(Style::new().green(), text)
    }

    /// `text` as a bad result.
    pub fn bad(self, text: &str) -> String {
        self.paint(Style::new().red().bold(), text)
    }

    /// `text` emphasized.
    pub fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// `text` de-emphasized.
    pub fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }
}

//! Colours, where somebody looks.

use std::env;
use std::io::{self, IsTerminal};

use owo_colors::{OwoColorize, Style};

/// Colours text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// For standard output: on a terminal, unless `NO_COLOR` says otherwise.
    pub(crate) fn for_stdout() -> Self {
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { on: io::stdout().is_terminal() && !unwanted && !dumb }
    }

    /// For tests, which may have a terminal or not.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { on: false }
    }

    /// `text` in `style`.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if self.on && !text.trim().is_empty() {
            text.style(style).to_string()
        } else {
            text.to_owned()
        }
    }

    /// What went well.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint(Style::new().green(), text)
    }

    /// What did not.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint(Style::new().red().bold(), text)
    }

    /// What stands out.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// What can be passed over.
    pub(crate) fn faint(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }
}

//! Colours for a terminal.

use std::env;
use std::io::{self, IsTerminal};

/// Colours text for a terminal, and leaves it plain for a file, a pipe or `NO_COLOR`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Coloured if standard output is a terminal that may be coloured.
    pub(crate) fn new() -> Self {
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { on: io::stdout().is_terminal() && !refused }
    }

    /// Never coloured.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { on: false }
    }

    /// Whether it colours at all.
    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    /// For headings.
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// For details.
    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// For failures.
    pub(crate) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    /// For success.
    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paint_changes_nothing() {
        assert_eq!(Paint::plain().red("failed"), "failed");
    }

    #[test]
    fn paint_ends_what_it_began() {
        assert_eq!(Paint { on: true }.green("passed"), "\x1b[32mpassed\x1b[0m");
    }
}

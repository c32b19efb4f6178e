//! Splits a text into lines at the margin and the traces below them.

use super::error::{ErrorKind, ScriptError};

/// A line at the margin, and the indented lines below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source<'a> {
    pub(super) line: usize,
    /// Its text, without comment and blanks.
    pub(super) text: &'a str,
    pub(super) trace: Vec<(usize, String)>,
}

/// What a line is, by its first characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Nothing, or a comment.
    Blank,
    /// It starts at the margin.
    Margin,
    /// It is indented.
    Trace,
}

impl Layout {
    pub(super) fn of(line: &str) -> Self {
        match line.trim_start() {
            "" => Self::Blank,
            text if text.starts_with('#') => Self::Blank,
            text if text.len() == line.len() => Self::Margin,
            _ => Self::Trace,
        }
    }
}

/// Puts every trace line below its command.
pub(super) fn split(text: &str) -> Result<Vec<Source<'_>>, ScriptError> {
    let mut sources: Vec<Source<'_>> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        match (Layout::of(text), sources.last_mut()) {
            (Layout::Blank, _) => {}
            (Layout::Margin, _) => {
                sources.push(Source { line, text: without_comment(text), trace: Vec::new() });
            }
            (Layout::Trace, Some(command)) => {
                command.trace.push((line, text.trim_end().to_owned()));
            }
            (Layout::Trace, None) => return Err(ErrorKind::StrayTrace.at(line)),
        }
    }
    Ok(sources)
}

/// A comment starts at a `#` behind a blank; elsewhere it is part of a word.
fn without_comment(text: &str) -> &str {
    let comment = text.char_indices().zip(text.chars().skip(1));
    let start = comment.into_iter().find(|((_, a), b)| a.is_whitespace() && *b == '#');
    start.map_or(text, |((at, _), _)| &text[..at]).trim()
}

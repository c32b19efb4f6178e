//! Writes the traces of a script.

use std::collections::BTreeMap;

use super::source::Layout;
use super::{Line, Script, ScriptError};
use crate::{Catalogue, Unwatched, find};

/// The same script with the trace of every command as it happened.
///
/// Commands, comments and blank lines stay; a comment inside a trace moves below it.
///
/// # Errors
///
/// The script cannot be read, an `expect` is unmet, or a property broke unexpectedly.
pub fn bless(text: &str) -> Result<String, ScriptError> {
    bless_with(find, text)
}

/// The same for a script of a protocol in `catalogue`.
///
/// # Errors
///
/// As in [`bless`].
pub fn bless_with(catalogue: Catalogue, text: &str) -> Result<String, ScriptError> {
    let mut traces: BTreeMap<usize, String> = BTreeMap::new();
    let mut note = |line: &Line| {
        if line.depth > 0 {
            let trace = traces.entry(line.number).or_default();
            trace.push_str(line.to_string().trim_end());
            trace.push('\n');
        }
    };
    Script::parse_with(catalogue, text)?.run_with(false, &mut note, &mut Unwatched)?;
    let mut blessed = String::with_capacity(text.len());
    for (number, line) in (1..).zip(text.lines()) {
        if Layout::of(line) == Layout::Trace {
            continue;
        }
        blessed.push_str(line.trim_end());
        blessed.push('\n');
        blessed.push_str(traces.get(&number).map_or("", String::as_str));
    }
    Ok(blessed)
}

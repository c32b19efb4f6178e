//! What a site must never do, whatever arrives.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use quorate_site::client_gateway::GatewayEffect;
use serde::Serialize;

use super::spans::{Encoded, Sort, read_varint};

/// The most effects of one input. The runs are small: a few callers and names.
const EFFECTS_MAX: usize = 2_000;

/// No number on disk is above this one. True numbers stay far below, and so do those that lies
/// within the bounds can bring about in one run.
const NUMBER_MAX: u128 = 1 << 60;

/// Fields on disk that are random numbers.
const RANDOM: [&str; 3] = ["birth", "nonce", "place"];

/// Whether there are no more effects than such an input can have.
pub(super) fn effects(effects: &[GatewayEffect]) -> Result<(), String> {
    if effects.len() <= EFFECTS_MAX {
        return Ok(());
    }
    Err(format!("one input has {} effects", effects.len()))
}

/// Whether a record for the disk has only numbers that a true run could reach.
pub(super) fn record<T: Serialize>(record: &T) -> Result<(), String> {
    let all = Encoded::of(record).ok_or("a record cannot be encoded")?;
    let numbers = all.spans.iter().filter(|span| matches!(span.sort, Sort::Number(_)));
    for span in numbers.filter(|span| !RANDOM.contains(&span.field)) {
        if read_varint(&all.bytes[span.start..span.end]) > NUMBER_MAX {
            return Err(format!("an implausible number goes to disk: `{}`", span.field));
        }
    }
    Ok(())
}

thread_local! {
    /// The last panic of this thread, while panics are caught.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
    static QUIET: RefCell<bool> = const { RefCell::new(false) };
}

/// Runs `work`; a panic is an error that says where it was.
///
/// # Errors
///
/// What `work` says, or its panic.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let standard = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if QUIET.with_borrow(|quiet| *quiet) {
                let place = info.location().map(ToString::to_string).unwrap_or_default();
                let why = info.payload_as_str().unwrap_or_default();
                CAUGHT.set(Some(format!("{place}: {why}")));
            } else {
                standard(info);
            }
        }));
    });
    QUIET.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    done.unwrap_or_else(|_| Err(format!("panic at {}", CAUGHT.take().unwrap_or_default())))
}

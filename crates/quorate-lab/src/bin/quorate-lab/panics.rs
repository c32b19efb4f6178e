//! Keeps caught panics off the terminal.
//!
//! A protocol that breaks an invariant panics; the world catches the panic and reports a broken
//! property. A search may meet thousands of them, and the standard hook would print each. An
//! uncaught panic is a bug of this program and must be shown.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

/// How many of the latest panics are kept: about one per thread.
const KEPT: usize = 4;

/// Runs `work`; its panics are printed only if one of them escapes.
pub(crate) fn with_quiet_panics<T>(work: impl FnOnce() -> T) -> T {
    let latest = Arc::new(Mutex::new(Vec::<String>::new()));
    let notes = Arc::clone(&latest);
    let standard = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() == KEPT {
            notes.remove(0);
        }
        notes.push(panic.to_string());
    }));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(standard);
    done.unwrap_or_else(|escaped| {
        for note in latest.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            eprintln!("{note}");
        }
        panic::resume_unwind(escaped)
    })
}

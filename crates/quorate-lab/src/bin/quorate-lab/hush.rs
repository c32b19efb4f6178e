//! Keeps panics that somebody catches off the terminal.
//!
//! A protocol that breaks an invariant panics; the world catches that and reports it as a broken
//! property. A search may meet thousands of them, and the standard hook would print each. A panic
//! that nobody catches is our own mistake and must be seen.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

/// How many of the latest panics are kept: one a thread, for the number of threads people use.
const KEPT: usize = 4;

/// Does `work`; panics on the way are printed only if one of them gets out of it.
pub(crate) fn hushed<T>(work: impl FnOnce() -> T) -> T {
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

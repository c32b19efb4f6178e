//! A progress bar for work that takes long.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Shorter work gets no bar.
const SHOW_AFTER: Duration = Duration::from_secs(2);
const REFRESH_INTERVAL: Duration = Duration::from_millis(100);

/// How much work there is.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// This many items of about the same length.
    Of(u64),
    /// This many items of very different lengths: no remaining time is estimated.
    Uneven(u64),
    /// An unknown number of items.
    Unknown,
}

/// Does `work`. If it takes long and standard error is a terminal, shows a bar with the number of
/// `things` done.
pub fn with_progress<T>(
    goal: Goal,
    things: &'static str,
    done: impl Fn() -> u64 + Send,
    work: impl FnOnce() -> T,
) -> T {
    with_progress_message(goal, || things.to_owned(), done, work)
}

/// The same, with a name of the things that changes over time.
pub fn with_progress_message<T>(
    goal: Goal,
    things: impl Fn() -> String + Send,
    done: impl Fn() -> u64 + Send,
    work: impl FnOnce() -> T,
) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        // Dropped when the work ends, also by a panic.
        let (_working, over) = mpsc::channel::<()>();
        scope.spawn(move || {
            let start = Instant::now();
            let mut bar = None;
            while over.recv_timeout(REFRESH_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if start.elapsed() >= SHOW_AFTER {
                    let bar = bar.get_or_insert_with(|| new_bar(goal, start));
                    bar.set_message(things());
                    bar.set_position(done());
                    bar.tick();
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        work()
    })
}

fn new_bar(goal: Goal, start: Instant) -> ProgressBar {
    let (bar, form) = match goal {
        Goal::Of(total) => {
            let form = "{bar:30.green} {human_pos} of {human_len} {msg}, {eta} left";
            (ProgressBar::new(total), form)
        }
        Goal::Uneven(total) => {
            (ProgressBar::new(total), "{bar:30.green} {human_pos} of {human_len} {msg}, {elapsed}")
        }
        Goal::Unknown => (ProgressBar::new_spinner(), "{spinner} {human_pos} {msg}, {elapsed}"),
    };
    let style = ProgressStyle::with_template(form).expect("the template is valid");
    bar.with_style(style).with_elapsed(start.elapsed())
}

//! Shows on the terminal that something goes on, if it takes long.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// What takes less than this needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);
const BEAT: Duration = Duration::from_millis(100);

/// How far something is.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// There are so many to do.
    Of(u64),
    /// The same, but some take much longer than others.
    Uneven(u64),
    /// Nobody knows how many there are.
    Unknown,
}

/// Does `work`. If it takes long and standard error is a terminal, shows there how many `things`
/// are done.
pub fn shown<T>(
    goal: Goal,
    things: &'static str,
    done: impl Fn() -> u64 + Send,
    work: impl FnOnce() -> T,
) -> T {
    told(goal, || things.to_owned(), done, work)
}

/// The same where `things` have another name as time goes by.
pub fn told<T>(
    goal: Goal,
    things: impl Fn() -> String + Send,
    done: impl Fn() -> u64 + Send,
    work: impl FnOnce() -> T,
) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        // Dropped when the work is over, also if it panics.
        let (_working, over) = mpsc::channel::<()>();
        scope.spawn(move || {
            let start = Instant::now();
            let mut bar = None;
            while over.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                if start.elapsed() >= PATIENCE {
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
    let style = ProgressStyle::with_template(form).expect("the form is well written");
    bar.with_style(style).with_elapsed(start.elapsed())
}

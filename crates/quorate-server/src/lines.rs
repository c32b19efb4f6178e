//! The connections of a site, and what is to be written on them.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Context;
use std::time::Duration;

use quorate_net::link::Line;
use quorate_session::client::ClientId;
use quorate_session::{SiteId, Tick};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Far {
    Site(SiteId),
    Client(ClientId),
}

/// The connections of a site, one to each far end. They are numbered, so that what an old one
/// leaves behind is not taken for a word of the new one.
#[derive(Debug)]
pub(crate) struct Lines {
    all: BTreeMap<Far, (u64, Line)>,
    /// Those on which something was said that is not written yet.
    unwritten: BTreeSet<Far>,
    /// How long one may be silent: renewals come three times as often.
    patience: Duration,
}

impl Lines {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { all: BTreeMap::new(), unwritten: BTreeSet::new(), patience }
    }

    /// A connection is there; it replaces the one before.
    pub(crate) fn open(&mut self, far: Far, number: u64, line: Line) {
        self.all.insert(far, (number, line));
    }

    /// Notes that connection `number` of `far` was heard; false if that is an old one.
    pub(crate) fn hear(&mut self, far: Far, number: u64, now: Tick) -> bool {
        let line = self.all.get_mut(&far).filter(|(present, _)| *present == number);
        line.map(|(_, line)| line.note_heard(now)).is_some()
    }

    /// Forgets connection `number` of `far`; false if that is an old one.
    pub(crate) fn close(&mut self, far: Far, number: u64) -> bool {
        let is_present = self.number(far) == Some(number);
        if is_present {
            self.all.remove(&far);
            self.unwritten.remove(&far);
        }
        is_present
    }

    /// The number of the present connection.
    pub(crate) fn number(&self, far: Far) -> Option<u64> {
        self.all.get(&far).map(|(number, _)| *number)
    }

    /// Says something, if there is a connection.
    pub(crate) fn say(&mut self, far: Far, word: &impl Serialize) {
        let Some((_, line)) = self.all.get_mut(&far) else { return };
        match line.say(word) {
            Ok(()) => drop(self.unwritten.insert(far)),
            Err(error) => tracing::error!(%error, "something is too long to be said"),
        }
    }

    /// Writes what was said, all of it in one go for each connection; what the other side does not
    /// take yet wakes the task when it does.
    pub(crate) fn write(&mut self, cx: &mut Context<'_>) {
        self.unwritten.retain(|far| {
            let line = self.all.get_mut(far);
            line.is_some_and(|(_, line)| line.poll_write(cx).is_pending())
        });
    }

    /// Closes the connections of which nothing was heard for long; when to look again.
    pub(crate) fn end_silences(&mut self, now: Tick) -> Tick {
        for (_, line) in self.all.values_mut() {
            line.end_silence(now, self.patience);
        }
        now + self.patience
    }

    /// Writes what is left and closes all, with so much patience.
    pub(crate) async fn finish(&mut self, patience: Duration) {
        let end = Instant::now() + patience;
        for (_, line) in std::mem::take(&mut self.all).into_values() {
            drop(timeout_at(end, line.finish()).await); // who does not listen is left alone
        }
    }
}

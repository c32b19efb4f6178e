//! The open connections of a site, and the frames queued on them.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Context;
use std::time::Duration;

use quorate_net::connection::FrameWriter;
use quorate_session::client::ClientId;
use quorate_session::{SiteId, Tick};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remote {
    Site(SiteId),
    Client(ClientId),
}

/// The connections of a site, one to each remote. They are numbered, so that packets of an old one
/// are not taken for packets of the present one.
#[derive(Debug)]
pub(crate) struct Connections {
    all: BTreeMap<Remote, (u64, FrameWriter)>,
    /// Those with frames that are not written yet.
    unwritten: BTreeSet<Remote>,
    /// How long a connection may be silent: renewals come three times as often.
    timeout: Duration,
}

impl Connections {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { all: BTreeMap::new(), unwritten: BTreeSet::new(), timeout }
    }

    /// Adds a connection, which replaces the one before.
    pub(crate) fn open(&mut self, remote: Remote, number: u64, writer: FrameWriter) {
        self.all.insert(remote, (number, writer));
    }

    /// Notes that something was received on connection `number`; false if it is an old one.
    pub(crate) fn note_received(&mut self, remote: Remote, number: u64, now: Tick) -> bool {
        let connection = self.all.get_mut(&remote).filter(|(present, _)| *present == number);
        connection.map(|(_, writer)| writer.note_received(now)).is_some()
    }

    /// Removes connection `number`; false if it is an old one.
    pub(crate) fn close(&mut self, remote: Remote, number: u64) -> bool {
        let is_present = self.number(remote) == Some(number);
        if is_present {
            self.all.remove(&remote);
            self.unwritten.remove(&remote);
        }
        is_present
    }

    /// Takes the present connection out.
    pub(crate) fn take(&mut self, remote: Remote) -> Option<FrameWriter> {
        self.unwritten.remove(&remote);
        self.all.remove(&remote).map(|(_, writer)| writer)
    }

    /// The number of the present connection.
    pub(crate) fn number(&self, remote: Remote) -> Option<u64> {
        self.all.get(&remote).map(|(number, _)| *number)
    }

    /// Queues a frame, if there is a connection.
    pub(crate) fn send(&mut self, remote: Remote, frame: &impl Serialize) {
        let Some((_, writer)) = self.all.get_mut(&remote) else { return };
        writer.queue(frame);
        self.unwritten.insert(remote);
    }

    /// Writes the queued frames, those of each connection together. If the other side does not take
    /// all of them, the task is woken when it does.
    pub(crate) fn write(&mut self, cx: &mut Context<'_>) {
        self.unwritten.retain(|remote| {
            let connection = self.all.get_mut(remote);
            connection.is_some_and(|(_, writer)| writer.poll_write(cx).is_pending())
        });
    }

    /// Closes the connections that are silent, and returns when to look again.
    pub(crate) fn close_silent(&mut self, now: Tick) -> Tick {
        for (_, writer) in self.all.values_mut() {
            writer.close_if_silent(now, self.timeout);
        }
        now + self.timeout
    }

    /// Writes the queued frames and closes all connections, within `timeout`.
    pub(crate) async fn finish(&mut self, timeout: Duration) {
        let end = Instant::now() + timeout;
        for (_, writer) in std::mem::take(&mut self.all).into_values() {
            drop(timeout_at(end, writer.finish()).await); // the other side may not read any more
        }
    }
}

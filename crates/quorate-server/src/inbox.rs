//! How events reach the task that owns a site.
//!
//! Events of connections wait in channels of limited length, and so does whoever reads the
//! connection: the other end is slowed down, and nothing piles up here. Sites and clients have
//! channels of their own, so that clients cannot delay the messages between sites. The site's task
//! never waits for a connection, so nobody waits in a circle.

use tokio::sync::mpsc::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel,
};

use crate::core::Event;

/// How many events of connections with sites may wait, and how many of them are handled before
/// frames are written. An event has the frames that were read at once, up to 64.
const PEERS: usize = 16;

/// The same of connections with clients: few, so that a client that sends much does not delay the
/// others for long.
const CLIENTS: usize = 8;

/// How many events of this process are handled before frames are written.
const OWN: usize = 64;

/// Where events are sent.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    /// Those of this process: the disk, callers, and requests to stop. Nobody waits.
    pub(crate) own: UnboundedSender<Event>,
    /// Those of connections with other sites.
    pub(crate) peers: Sender<Event>,
    /// Those of connections with clients. Whoever waits for room is served in turn, so that each
    /// connection gets its share.
    pub(crate) clients: Sender<Event>,
}

/// Where they are received.
#[derive(Debug)]
pub(crate) struct Inbox {
    own: UnboundedReceiver<Event>,
    peers: Receiver<Event>,
    clients: Receiver<Event>,
}

/// Both ends.
pub(crate) fn inbox() -> (Events, Inbox) {
    let (own, own_end) = unbounded_channel();
    let (peers, peers_end) = channel(PEERS);
    let (clients, clients_end) = channel(CLIENTS);
    (Events { own, peers, clients }, Inbox { own: own_end, peers: peers_end, clients: clients_end })
}

impl Inbox {
    /// Waits for events, and appends some of each sort to `batch`; those of clients only if
    /// `with_clients` is set. False if nobody can send any more. No event is lost if the future is
    /// dropped.
    pub(crate) async fn receive(&mut self, batch: &mut Vec<Event>, with_clients: bool) -> bool {
        let first = tokio::select! {
            biased;
            event = self.own.recv() => event,
            event = self.peers.recv() => event,
            event = self.clients.recv(), if with_clients => event,
        };
        let Some(first) = first else { return false };
        batch.push(first);
        batch.extend(std::iter::from_fn(|| self.own.try_recv().ok()).take(OWN));
        batch.extend(std::iter::from_fn(|| self.peers.try_recv().ok()).take(PEERS));
        if with_clients {
            batch.extend(std::iter::from_fn(|| self.clients.try_recv().ok()).take(CLIENTS));
        }
        true
    }

    /// The next event of this process, if there is one.
    pub(crate) fn try_own(&mut self) -> Option<Event> {
        self.own.try_recv().ok()
    }
}

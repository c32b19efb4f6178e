//! Clients in the site's own process. They exchange the same packets as clients on a socket,
//! without encoding them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use quorate_session::client::{ClientId, ClientMessage};
use quorate_session::session::Packet;
use tokio::sync::mpsc::UnboundedSender;

use crate::core::Event;

/// A client in the process of its site. Its methods are called in the site's task.
pub trait LocalClient: fmt::Debug + Send + Sync {
    /// A packet of the site arrives.
    fn on_packet(&self, packet: Packet<ClientMessage>);
    /// The site stops. Packets that the client sends during this call are still handled.
    fn on_stop(&self);
}

/// The connection of a client in this process to its site. Dropping it closes it.
#[derive(Debug)]
pub struct LocalLink {
    events: UnboundedSender<Event>,
    id: ClientId,
    number: u64,
}

impl LocalLink {
    pub(crate) fn open(
        events: UnboundedSender<Event>,
        id: ClientId,
        number: u64,
        client: Arc<dyn LocalClient>,
    ) -> Self {
        drop(events.send(Event::LocalUp(id, number, client))); // the site may have stopped
        Self { events, id, number }
    }

    /// Sends a packet to the site, unless it has stopped.
    pub fn send(&self, packet: Packet<ClientMessage>) {
        drop(self.events.send(Event::ClientPackets(self.id, self.number, vec![packet])));
    }
}

impl Drop for LocalLink {
    fn drop(&mut self) {
        drop(self.events.send(Event::ClientDown(self.id, self.number)));
    }
}

/// The clients in this process. Their connections are numbered like those on sockets.
#[derive(Debug, Default)]
pub(crate) struct LocalClients {
    all: BTreeMap<ClientId, (u64, Arc<dyn LocalClient>)>,
}

impl LocalClients {
    pub(crate) fn open(&mut self, id: ClientId, number: u64, client: Arc<dyn LocalClient>) {
        self.all.insert(id, (number, client));
    }

    /// Removes connection `number`; false if it is not one of these.
    pub(crate) fn close(&mut self, id: ClientId, number: u64) -> bool {
        let is_present = self.number(id) == Some(number);
        if is_present {
            self.all.remove(&id);
        }
        is_present
    }

    /// The number of a client's connection.
    pub(crate) fn number(&self, id: ClientId) -> Option<u64> {
        self.all.get(&id).map(|(number, _)| *number)
    }

    /// Passes a packet to its client; returns it if the client is in another process.
    pub(crate) fn send(
        &self,
        id: ClientId,
        packet: Packet<ClientMessage>,
    ) -> Option<Packet<ClientMessage>> {
        match self.all.get(&id) {
            Some((_, client)) => {
                client.on_packet(packet);
                None
            }
            None => Some(packet),
        }
    }

    /// Reports to all clients that the site stops.
    pub(crate) fn stop(&self) {
        for (_, client) in self.all.values() {
            client.on_stop();
        }
    }
}

impl Drop for LocalClients {
    /// Clients also learn of a site that ends by itself.
    fn drop(&mut self) {
        self.stop();
    }
}

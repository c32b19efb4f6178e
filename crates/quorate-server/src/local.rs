//! Clients in the site's own process. They say and hear the same packets as those on a socket; the
//! packets are handed over, not written.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use quorate_session::client::{ClientId, ClientMessage};
use quorate_session::session::Packet;
use tokio::sync::mpsc::UnboundedSender;

use crate::core::Event;

/// What a client in this process does with what its site says. It is called in the site's task.
pub trait LocalClient: fmt::Debug + Send + Sync {
    /// The site says this.
    fn on_packet(&self, packet: Packet<ClientMessage>);
    /// The site stops; what the client says during this call is still taken in.
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
        (id, number): (ClientId, u64),
        client: Arc<dyn LocalClient>,
    ) -> Self {
        drop(events.send(Event::LocalUp(id, number, client))); // a site that has stopped is silent
        Self { events, id, number }
    }

    /// Says something to the site, and forgets it if that has stopped.
    pub fn send(&self, packet: Packet<ClientMessage>) {
        drop(self.events.send(Event::ClientSaid(self.id, self.number, vec![packet])));
    }
}

impl Drop for LocalLink {
    fn drop(&mut self) {
        drop(self.events.send(Event::ClientDown(self.id, self.number)));
    }
}

/// The clients in this process. Their connections are numbered as those of sockets are.
#[derive(Debug, Default)]
pub(crate) struct LocalClients {
    all: BTreeMap<ClientId, (u64, Arc<dyn LocalClient>)>,
}

impl LocalClients {
    pub(crate) fn open(&mut self, id: ClientId, number: u64, client: Arc<dyn LocalClient>) {
        self.all.insert(id, (number, client));
    }

    /// Forgets connection `number`; false if that is none of these.
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

    /// Hands a packet over; gives it back if the client is in another process.
    pub(crate) fn say(
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

    /// Tells all that the site stops.
    pub(crate) fn stop(&self) {
        for (_, client) in self.all.values() {
            client.on_stop();
        }
    }
}

impl Drop for LocalClients {
    /// A site that ends by itself tells them too.
    fn drop(&mut self) {
        self.stop();
    }
}

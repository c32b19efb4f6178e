//! How many connections a site takes: of clients so many, of other sites any.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The most connections whose handshake is not done. A further one ends the oldest of them: an
/// honest handshake takes milliseconds, so it is not the oldest for long.
pub(crate) const HANDSHAKES_MAX: usize = 256;

/// Counts the connections of a site.
#[derive(Debug)]
pub(crate) struct Admission {
    handshakes: Mutex<Handshakes>,
    clients: Arc<AtomicUsize>,
    clients_max: usize,
}

/// The connections whose handshake is not done, by number. Dropping an entry ends its handshake.
#[derive(Debug, Default)]
struct Handshakes {
    last: u64,
    open: BTreeMap<u64, oneshot::Sender<()>>,
}

/// The place of a connection among those whose handshake is not done. Dropping it makes room.
#[derive(Debug)]
pub(crate) struct HandshakePlace {
    admission: Arc<Admission>,
    number: u64,
    ended: oneshot::Receiver<()>,
}

impl HandshakePlace {
    /// Waits until the place is taken away.
    pub(crate) async fn taken_away(&mut self) {
        drop((&mut self.ended).await);
    }
}

impl Drop for HandshakePlace {
    fn drop(&mut self) {
        self.admission.handshakes().open.remove(&self.number);
    }
}

/// The place of a client among those that a site takes. Dropping it makes room.
#[derive(Debug)]
pub(crate) struct ClientPlace(Arc<AtomicUsize>);

impl Drop for ClientPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Admission {
    pub(crate) fn new(clients_max: usize) -> Self {
        Self { handshakes: Mutex::default(), clients: Arc::default(), clients_max }
    }

    /// A place for one more handshake, if need be that of the oldest.
    pub(crate) fn begin_handshake(self: &Arc<Self>) -> HandshakePlace {
        let (end, ended) = oneshot::channel();
        let mut handshakes = self.handshakes();
        handshakes.last += 1;
        let number = handshakes.last;
        handshakes.open.insert(number, end);
        if handshakes.open.len() > HANDSHAKES_MAX {
            handshakes.open.pop_first();
        }
        drop(handshakes);
        HandshakePlace { admission: Arc::clone(self), number, ended }
    }

    /// A place for one more client.
    ///
    /// # Errors
    ///
    /// How many clients there may be, if there is no place.
    pub(crate) fn take_client(&self) -> Result<ClientPlace, usize> {
        let others = self.clients.fetch_add(1, Ordering::Relaxed);
        let place = ClientPlace(Arc::clone(&self.clients));
        if others < self.clients_max { Ok(place) } else { Err(self.clients_max) }
    }

    fn handshakes(&self) -> MutexGuard<'_, Handshakes> {
        self.handshakes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_client_is_gone() {
        let admission = Admission::new(2);
        let (one, two) = (admission.take_client().unwrap(), admission.take_client().unwrap());
        assert_eq!(admission.take_client().unwrap_err(), 2);
        assert_eq!(admission.take_client().unwrap_err(), 2, "a refused client takes no place");
        drop(one);
        let three = admission.take_client();
        assert!(three.is_ok());
        drop((two, three));
        assert_eq!(admission.clients.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn the_oldest_handshake_makes_room() {
        let admission = Arc::new(Admission::new(1));
        let mut places: Vec<_> = (0..HANDSHAKES_MAX).map(|_| admission.begin_handshake()).collect();
        drop(places.remove(1)); // its handshake is done
        places.push(admission.begin_handshake());
        assert_eq!(admission.handshakes().open.len(), HANDSHAKES_MAX);
        places.push(admission.begin_handshake());
        places[0].taken_away().await;
        assert!(places[1..].iter_mut().all(|place| place.ended.try_recv().is_err()));
        assert_eq!(admission.handshakes().open.len(), HANDSHAKES_MAX);
        places.clear();
        assert_eq!(admission.handshakes().open.len(), 0);
    }
}

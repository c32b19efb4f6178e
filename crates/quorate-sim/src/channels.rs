//! Messages under way: one FIFO queue for each ordered pair of sites.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use quorate_quorum::SiteId;

/// All channels of a world. Only channels that carry something take room, so that ten thousand
/// sites do not need a hundred million queues.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Channels<M> {
    by_sender: Vec<Arc<BTreeMap<SiteId, VecDeque<M>>>>,
    in_flight: usize,
}

impl<M: Clone> Channels<M> {
    pub(crate) fn new(n: usize) -> Self {
        Self { by_sender: (0..n).map(|_| Arc::new(BTreeMap::new())).collect(), in_flight: 0 }
    }

    pub(crate) fn push(&mut self, from: SiteId, to: SiteId, message: M) {
        let outbox = Arc::make_mut(&mut self.by_sender[from.index()]);
        outbox.entry(to).or_default().push_back(message);
        self.in_flight += 1;
    }

    pub(crate) fn pop(&mut self, from: SiteId, to: SiteId) -> Option<M> {
        self.front(from, to)?;
        let outbox = Arc::make_mut(&mut self.by_sender[from.index()]);
        let queue = outbox.get_mut(&to)?;
        let message = queue.pop_front();
        // An empty queue must not tell two states apart.
        if queue.is_empty() {
            outbox.remove(&to);
        }
        self.in_flight -= 1;
        message
    }

    pub(crate) fn front(&self, from: SiteId, to: SiteId) -> Option<&M> {
        self.by_sender[from.index()].get(&to)?.front()
    }

    /// All messages of a channel, the next one first.
    pub(crate) fn queue(&self, from: SiteId, to: SiteId) -> impl Iterator<Item = &M> + '_ {
        self.by_sender[from.index()].get(&to).into_iter().flatten()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// The channels that carry something, by sender and receiver.
    pub(crate) fn busy(&self) -> impl Iterator<Item = (SiteId, SiteId)> + '_ {
        let outboxes = self.by_sender.iter().enumerate();
        outboxes.flat_map(|(from, outbox)| outbox.keys().map(move |&to| (SiteId::new(from), to)))
    }
}

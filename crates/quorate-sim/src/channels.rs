//! Messages under way, between ordered pairs of sites.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use quorate_quorum::SiteId;

use crate::memo::Memo;

/// Which of the two streams between a sender and a receiver.
///
/// Two sites have two sessions, one each way, and nothing is ordered across sessions. In the
/// papers' world there is one channel for each ordered pair, and everything goes `Up`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// In the sender's session at the receiver, to its arbiter half.
    Up,
    /// In the receiver's session at the sender, to its requester half.
    Down,
}

/// In which order a channel delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// As things were sent.
    #[default]
    Fifo,
    /// Any message may be next. Then some may come twice.
    Any {
        /// How many.
        duplicates: u32,
    },
}

/// All channels of a world. An empty channel takes no room: ten thousand sites would need a hundred
/// million queues.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Channels<M> {
    by_sender: Vec<Memo<Outbox<M>>>,
    in_flight: usize,
    /// Whether the order of sending is irrelevant. Then messages are sorted by a digest, so that
    /// states that differ only in that order are equal.
    unordered: bool,
}

type Outbox<M> = BTreeMap<(SiteId, Lane), VecDeque<M>>;

impl<M: Clone + Hash> Channels<M> {
    pub(crate) fn new(n: usize, order: Order) -> Self {
        let by_sender = (0..n).map(|_| Memo::new(BTreeMap::new())).collect();
        Self { by_sender, in_flight: 0, unordered: order != Order::Fifo }
    }

    pub(crate) fn push(&mut self, from: SiteId, to: SiteId, lane: Lane, message: M) {
        let outbox = self.by_sender[from.index()].make_mut();
        let queue = outbox.entry((to, lane)).or_default();
        if self.unordered {
            let key = digest(&message);
            let place = queue.partition_point(|other| digest(other) < key);
            queue.insert(place, message);
        } else {
            queue.push_back(message);
        }
        self.in_flight += 1;
    }

    /// Puts a copy of the message at some place of a channel behind it.
    pub(crate) fn duplicate(
        &mut self,
        from: SiteId,
        to: SiteId,
        lane: Lane,
        at: usize,
    ) -> Option<&M> {
        let copy = self.queue(from, to, lane)?.get(at)?.clone();
        let queue = self.by_sender[from.index()].make_mut().get_mut(&(to, lane))?;
        queue.insert(at + 1, copy);
        self.in_flight += 1;
        queue.get(at)
    }

    /// Takes the message at some place of a channel.
    pub(crate) fn take(&mut self, from: SiteId, to: SiteId, lane: Lane, at: usize) -> Option<M> {
        self.queue(from, to, lane)?.get(at)?;
        let outbox = self.by_sender[from.index()].make_mut();
        let queue = outbox.get_mut(&(to, lane))?;
        let message = queue.remove(at);
        // An empty queue and none must be the same state.
        if queue.is_empty() {
            outbox.remove(&(to, lane));
        }
        self.in_flight -= 1;
        message
    }

    /// Takes everything that is under way in one lane.
    pub(crate) fn clear(&mut self, from: SiteId, to: SiteId, lane: Lane) -> VecDeque<M> {
        if self.queue(from, to, lane).is_none() {
            return VecDeque::new();
        }
        let outbox = self.by_sender[from.index()].make_mut();
        let queue = outbox.remove(&(to, lane)).unwrap_or_default();
        self.in_flight -= queue.len();
        queue
    }

    pub(crate) fn queue(&self, from: SiteId, to: SiteId, lane: Lane) -> Option<&VecDeque<M>> {
        self.by_sender[from.index()].get(&(to, lane))
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// The channels that carry something, by sender and receiver.
    pub(crate) fn busy(&self) -> impl Iterator<Item = (SiteId, SiteId, Lane)> + '_ {
        let outboxes = self.by_sender.iter().enumerate();
        outboxes.flat_map(|(from, outbox)| {
            outbox.keys().map(move |&(to, lane)| (SiteId::new(from), to, lane))
        })
    }
}

/// A number that is the same for equal messages, in every run.
fn digest<M: Hash>(message: &M) -> u64 {
    let mut hasher = DefaultHasher::new();
    message.hash(&mut hasher);
    hasher.finish()
}

//! The client's end while there is a session.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::session::lease::between;
use crate::session::{At, Incarnation, Lease, Renewal, Rule, Stream};
use crate::{SessionNo, Tick};

/// A session that is open or silent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Live<M> {
    pub(super) number: SessionNo,
    pub(super) server: Incarnation,
    pub(super) lease: Lease,
    /// `L_c`: the deadline, by our clock.
    pub(super) until: Tick,
    /// `sent(k)`: when each renewal was made. Old ones are dropped, the acknowledged one never.
    pub(super) sent: BTreeMap<Renewal, Tick>,
    /// The largest renewal acknowledged.
    pub(super) acknowledged: Renewal,
    /// The largest renewal made.
    pub(super) made: Renewal,
    pub(super) renew_at: Tick,
    pub(super) silent: bool,
    pub(super) quarantined_until: Tick,
    /// Whether the server has welcomed us on the present connection.
    pub(super) attached: bool,
    /// `None` once it is over.
    pub(super) stream: Option<Stream<M>>,
}

/// What is due at a deadline; of two at the same time the first goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Silence,
    Lapse,
    Renewal,
    Retry,
}

impl<M> Live<M> {
    /// What is due first.
    pub(super) fn due(&self) -> (Tick, Due) {
        let lapse = (self.until, Due::Lapse);
        let silence = (!self.silent).then(|| (self.silent_at(), Due::Silence));
        let renews = self.attached && self.stream.is_some();
        let renewal = renews.then_some((self.renew_at, Due::Renewal));
        [silence, renewal].into_iter().flatten().fold(lapse, Ord::min)
    }

    /// When the latest acknowledged renewal is more than half a lease old.
    fn silent_at(&self) -> Tick {
        self.sent[&self.acknowledged] + self.lease.patience() + Duration::from_nanos(1)
    }

    pub(super) fn acknowledge(&mut self, at: At<'_>, k: Renewal) {
        assert!(k > self.acknowledged, "I7: acknowledgements grow");
        if !at.terms.keep(Rule::CountFromSending) {
            self.sent.insert(k, at.now);
        }
        self.acknowledged = k;
        let until = self.sent[&k] + at.terms.drift.shorten(self.lease.length());
        assert!(until >= self.until, "a later renewal never ends the lease earlier");
        self.until = until;
        if self.stream.is_some() {
            self.silent = self.silent_at() <= at.now;
        }
    }

    /// Drops the times of renewals that are a lease old, but for the acknowledged one. What was
    /// handed down with one of them has been told anew with a later one, right behind it.
    pub(super) fn forget_old(&mut self, now: Tick) {
        let (acknowledged, length) = (self.acknowledged, self.lease.length());
        self.sent.retain(|k, sent| *k >= acknowledged || between(*sent, now) < length);
    }
}

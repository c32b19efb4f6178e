//! The lease at the client's end: renewals, silence, and the loss of the session.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{ClientEnd, State};
use crate::session::lease::between;
use crate::session::{
    Context, Effect, Event, Incarnation, Lease, Packet, Payload, Renewal, Rule, Seq, Stream,
};
use crate::{SessionNo, Tick};

/// A session that is open or silent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClientSession<M> {
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
    /// Whether the server is about to stop. It counts as silent until then, though it answers.
    pub(super) draining: bool,
    pub(super) quarantined_until: Tick,
    /// Whether the server has welcomed us on the present connection.
    pub(super) attached: bool,
    /// `None` once it is over.
    pub(super) stream: Option<Stream<M>>,
}

/// A timer of the client's end. Of two that are due at the same time, the first here goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Silence,
    Expiry,
    Renewal,
    Retry,
}

impl<M: Payload> ClientEnd<M> {
    /// Makes the next renewal. Renewals are never repeated.
    pub(super) fn renew(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let session = self.session_mut().expect("renewals are due in sessions");
        if cx.now >= session.until {
            session.renew_at = session.until; // we slept past it: the session expires instead
            return;
        }
        let again = session.made > session.acknowledged && !cx.terms.keep(Rule::StampOnce);
        let k = if again { session.made } else { session.made.next() };
        assert!(cx.now < session.until, "I7: no renewal after the deadline");
        assert!(k > session.made || again, "I7: renewals are numbered upwards");
        session.made = k;
        session.sent.insert(k, cx.now);
        session.renew_at = cx.now + session.lease.renew_interval();
        session.forget_old(cx.now);
        let Some(stream) = &mut session.stream else { return };
        let renew = Packet::Renew(session.number, k, stream.take_ack());
        out.push(Effect::Packet(server, renew));
    }

    /// The server recorded renewal `k`: the lease counts from when we made it.
    pub fn on_renewed(
        &mut self,
        cx: Context<'_>,
        number: SessionNo,
        k: Renewal,
        received: Seq,
        out: &mut Vec<Effect<M>>,
    ) {
        let Some(session) = self.attached_mut(number) else {
            return out.push(Effect::Note(self.server, "ignored: a renewal of another session"));
        };
        if k > session.acknowledged && k <= session.made {
            session.acknowledge(cx, k);
        }
        self.on_ack(cx.terms, number, received, out);
    }

    /// The server is about to stop: we expect nothing new of it.
    pub fn on_draining(&mut self, number: SessionNo, out: &mut Vec<Effect<M>>) {
        if let Some(session) = self.attached_mut(number) {
            session.draining = true;
            self.become_silent(out);
        }
    }

    /// No reply for half a lease, the stream is over, or the server is about to stop.
    pub(super) fn become_silent(&mut self, out: &mut Vec<Effect<M>>) {
        let Some(session) = self.session_mut() else { return };
        if !session.silent {
            session.silent = true;
            out.push(Effect::Notify(Event::Silent(self.server)));
        }
    }

    /// We give the session up, if there is one: nobody here relies on it.
    pub fn abandon(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        if self.session().is_some() {
            self.lose(cx, out);
        }
    }

    /// The session is lost: its lease is over by our clock, and not yet by the server's. We ask for
    /// the next session when every lock has been told, if we are connected then.
    pub(super) fn lose(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        self.state = State::None { retry: None };
        self.untold = cx.terms.keep(Rule::ReopenAfterTold);
        out.push(Effect::Notify(Event::Lost(self.server)));
        if self.connected {
            self.send_hello(cx, out);
        }
    }

    /// Every lock has been told that the last session is over.
    pub fn on_told(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        if std::mem::take(&mut self.untold) && self.connected {
            self.send_hello(cx, out);
        }
    }
}

impl<M> ClientSession<M> {
    /// The timer that is due first.
    pub(super) fn next_timer(&self) -> (Tick, Timer) {
        let expiry = (self.until, Timer::Expiry);
        let silence = (!self.silent).then(|| (self.silent_at(), Timer::Silence));
        let renews = self.attached && self.stream.is_some();
        let renewal = renews.then_some((self.renew_at, Timer::Renewal));
        [silence, renewal].into_iter().flatten().fold(expiry, Ord::min)
    }

    /// When the latest acknowledged renewal is more than half a lease old.
    fn silent_at(&self) -> Tick {
        self.sent[&self.acknowledged] + self.lease.silence_timeout() + Duration::from_nanos(1)
    }

    fn acknowledge(&mut self, cx: Context<'_>, k: Renewal) {
        assert!(k > self.acknowledged, "I7: acknowledgements grow");
        if !cx.terms.keep(Rule::CountFromSending) {
            self.sent.insert(k, cx.now);
        }
        self.acknowledged = k;
        let until = self.sent[&k] + cx.terms.drift.shorten(self.lease.length());
        assert!(until >= self.until, "a later renewal never ends the lease earlier");
        self.until = until;
        if self.stream.is_some() {
            self.silent = self.draining || self.silent_at() <= cx.now;
        }
    }

    /// Forgets when renewals older than a lease were made, except the acknowledged one. A deadline
    /// relative to one of them has since been sent again, relative to a later one.
    fn forget_old(&mut self, now: Tick) {
        let (acknowledged, length) = (self.acknowledged, self.lease.length());
        self.sent.retain(|k, sent| *k >= acknowledged || between(*sent, now) < length);
    }
}

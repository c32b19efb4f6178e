//! The lease at the server's end: renewals are recorded, and at the deadline the session closes.

use super::ServerEnd;
use crate::session::{
    Context, Effect, Event, Incarnation, Lease, Packet, Payload, Renewal, Rule, Seq, Stream,
};
use crate::{SessionNo, Tick};

/// A client's session here, while its lease lasts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ServerSession<M> {
    pub(super) incarnation: Incarnation,
    pub(super) number: SessionNo,
    pub(super) lease: Lease,
    /// The latest renewal handled, and when.
    pub(super) renewal: Renewal,
    pub(super) handled: Tick,
    /// `L_s`: the deadline, by our clock.
    pub(super) until: Tick,
    /// Whether the client sent a Hello for this session on the present connection.
    pub(super) attached: bool,
    /// `None` once it is over.
    pub(super) stream: Option<Stream<M>>,
}

impl<M: Payload> ServerEnd<M> {
    /// The client renews its lease.
    pub fn on_renew(
        &mut self,
        cx: Context<'_>,
        number: SessionNo,
        k: Renewal,
        received: Seq,
        out: &mut Vec<Effect<M>>,
    ) {
        let client = self.client;
        let Some(session) = self.attached_mut(number) else {
            return out.push(Effect::Note(client, "ignored: a renewal of another session"));
        };
        if k > session.renewal {
            session.record(cx, k);
        }
        let ack = match &mut session.stream {
            Some(stream) => match stream.on_ack(received) {
                Ok(()) => stream.take_ack(),
                Err(_) => return self.end_stream(out),
            },
            None => Seq(0),
        };
        out.push(Effect::Packet(client, Packet::Renewed(number, k, ack)));
        self.send_waiting(cx.terms, out);
    }

    /// When the lease is over.
    pub fn deadline(&self) -> Option<Tick> {
        self.session.as_ref().map(|session| session.until)
    }

    /// Handles the deadline, which `cx.now` has reached: the lease is over.
    pub fn on_deadline(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        if let Some(until) = self.deadline() {
            assert!(until <= cx.now, "a lease is not closed before its deadline");
            self.close(cx, out);
        }
    }

    pub(super) fn close(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        self.session = None;
        self.untold = cx.terms.keep(Rule::ReopenAfterTold);
        out.push(Effect::Notify(Event::Closed(self.client)));
    }
}

impl<M> ServerSession<M> {
    /// The lease counts from the step that handles the renewal: that cannot be too early.
    fn record(&mut self, cx: Context<'_>, k: Renewal) {
        assert!(k > self.renewal, "I7: renewals grow");
        (self.renewal, self.handled) = (k, cx.now);
        self.until = if cx.terms.keep(Rule::CountFromHandling) {
            cx.now + self.lease.length()
        } else {
            // As if it had been in transit for as long as renewals are apart.
            cx.now + self.lease.length().saturating_sub(self.lease.renew_interval())
        };
    }
}

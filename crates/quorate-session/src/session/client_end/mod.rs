//! The client's end of a session: it opens the session, renews its lease, and gives up first.
//!
//! Here are the states and the handshake; `lease.rs` renews the lease and loses the session,
//! `stream.rs` carries frames and acknowledges them.

mod lease;
mod stream;

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::SiteId;

use self::lease::{ClientSession, Timer};
use super::RelativeDeadline;
use super::{
    Context, Drift, Effect, Event, Hello, Incarnation, Lease, Opening, Packet, Payload, Refusal,
    Renewal, Rule, Stream, StreamOver, Welcome,
};
use crate::{SessionNo, Tick};

/// Our end of our session at a server.
///
/// Its state is none, opening, open or silent. Open and silent differ only in whether we expect
/// another reply of the server; its loans count until the deadline `L_c` in both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientEnd<M> {
    server: SiteId,
    connected: bool,
    /// The number of the latest session asked for; no number is used twice.
    number: SessionNo,
    /// Whether some lock has not been told yet that the last session is over. Until all have, no
    /// other is asked for.
    untold: bool,
    state: State<M>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State<M> {
    /// No session; the server may have said when to ask again.
    None { retry: Option<Tick> },
    /// Asked for one on this connection, at this time: `sent` of renewal 0.
    Opening { sent: Tick },
    /// Open or silent.
    Active(Box<ClientSession<M>>),
}

/// What a protocol may know of our session at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientView {
    /// Its number.
    pub number: SessionNo,
    /// The deadline `L_c`: before it, the server's loans to us count.
    pub until: Tick,
    /// No reply for half a lease, the stream is over, or the server is about to stop.
    pub silent: bool,
    /// Until when the server lends nothing, by our clock.
    pub quarantined_until: Tick,
    /// The server's incarnation.
    pub server: Incarnation,
    /// The lease it grants.
    pub lease: Lease,
}

impl<M: Payload> ClientEnd<M> {
    /// No session at `server`, and no connection to it.
    pub fn new(server: SiteId) -> Self {
        let state = State::None { retry: None };
        Self { server, connected: false, number: SessionNo(0), untold: false, state }
    }

    /// The session, while there is one.
    pub fn view(&self) -> Option<ClientView> {
        let session = self.session()?;
        Some(ClientView {
            number: session.number,
            until: session.until,
            silent: session.silent,
            quarantined_until: session.quarantined_until,
            server: session.server,
            lease: session.lease,
        })
    }

    /// A deadline that the server sent, by our clock: sent(k) + x(1 - drift).
    ///
    /// `None` without a session, or if renewal k is unknown because it is older than a lease.
    pub fn absolute_deadline(&self, drift: Drift, relative: RelativeDeadline) -> Option<Tick> {
        let sent = *self.session()?.sent.get(&relative.renewal)?;
        let until = sent + drift.shorten(relative.after);
        assert!(until <= sent + relative.after, "I8: drift only shortens");
        Some(until)
    }

    /// When the next timer is due; an input can make it the present.
    pub fn deadline(&self) -> Option<Tick> {
        self.next_timer().map(|(when, _)| when)
    }

    /// Handles the timer that is due first, which `cx.now` has reached.
    pub fn on_deadline(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        let Some((when, timer)) = self.next_timer() else { return };
        assert!(when <= cx.now, "a deadline is not handled before its time");
        match timer {
            Timer::Silence => self.become_silent(out),
            Timer::Expiry => self.lose(cx, out),
            Timer::Renewal => self.renew(cx, out),
            Timer::Retry => {
                self.state = State::None { retry: None };
                self.send_hello(cx, out);
            }
        }
    }

    /// A connection to the server is up.
    pub fn on_up(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        self.connected = true;
        if self.session().is_some() && !cx.terms.keep(Rule::ReopenAfterDeadline) {
            return self.lose(cx, out);
        }
        self.send_hello(cx, out);
    }

    /// The connection is gone. A session stays; one that was not welcomed yet never was.
    pub fn on_down(&mut self) {
        self.connected = false;
        match &mut self.state {
            State::None { .. } => {}
            State::Opening { .. } => self.state = State::None { retry: None },
            State::Active(session) => session.attached = false,
        }
    }

    /// The server opens the session we asked for, or resumes the one we have.
    pub fn on_welcome(&mut self, cx: Context<'_>, welcome: Welcome, out: &mut Vec<Effect<M>>) {
        match &mut self.state {
            State::Opening { sent } if welcome.number == self.number => {
                let sent = *sent;
                self.open(cx, sent, welcome, out);
            }
            State::Active(session) if welcome.number == session.number && !session.attached => {
                if welcome.incarnation != session.server {
                    return self.end_stream(StreamOver::Broken, out);
                }
                self.resume_stream(cx.terms, welcome, out);
            }
            _ => out.push(Effect::Note(self.server, "ignored: a welcome nobody waits for")),
        }
    }

    /// A lease of our former incarnation still runs there; we ask again when it is over.
    pub fn on_retry_after(
        &mut self,
        cx: Context<'_>,
        number: SessionNo,
        left: Duration,
        out: &mut Vec<Effect<M>>,
    ) {
        if number == self.number && matches!(self.state, State::Opening { .. }) {
            // No lease is longer than the longest, whatever the server says.
            self.state = State::None { retry: Some(cx.now + left.min(Lease::MAX)) };
            out.push(Effect::Note(self.server, "a lease of our former life still runs there"));
        }
    }

    /// The server refuses a session. If it is ours, its stream is over; its lease is not.
    pub fn on_refused(&mut self, number: SessionNo, why: Refusal, out: &mut Vec<Effect<M>>) {
        match &self.state {
            State::Opening { .. } if number == self.number => {
                self.state = State::None { retry: None }; // until the next connection
                out.push(Effect::Note(self.server, why.reason()));
            }
            State::Active(session) if session.number == number => {
                self.end_stream(StreamOver::Broken, out);
            }
            _ => out.push(Effect::Note(self.server, "ignored: a refusal of another session")),
        }
    }

    /// Sends the first packet on a connection: asks for a session, or resumes the one we have.
    ///
    /// A session whose stream is over is not resumed: it ends at its deadline, and the next one
    /// opens after that.
    fn send_hello(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        let opening = match &mut self.state {
            State::None { retry: Some(when) } if *when > cx.now => return,
            State::None { .. } if self.untold => return, // see `on_told`
            State::None { .. } | State::Opening { .. } => {
                self.number = SessionNo(self.number.0 + 1);
                self.state = State::Opening { sent: cx.now };
                Opening::New(self.number)
            }
            State::Active(session) => {
                session.attached = false;
                let Some(stream) = &mut session.stream else { return };
                Opening::Resume(session.number, stream.take_ack())
            }
        };
        let hello = Hello { cluster_id: cx.terms.cluster_id, incarnation: cx.incarnation, opening };
        out.push(Effect::Packet(self.server, Packet::Hello(hello)));
    }

    fn open(&mut self, cx: Context<'_>, sent: Tick, welcome: Welcome, out: &mut Vec<Effect<M>>) {
        let sent = if cx.terms.keep(Rule::CountFromSending) { sent } else { cx.now };
        let until = sent + cx.terms.drift.shorten(welcome.lease.length());
        if until <= cx.now {
            self.state = State::None { retry: None };
            out.push(Effect::Note(self.server, "the welcome came after the lease was over"));
            return self.send_hello(cx, out);
        }
        let quarantine = cx.terms.drift.lengthen(welcome.quarantine);
        self.state = State::Active(Box::new(ClientSession {
            number: welcome.number,
            server: welcome.incarnation,
            lease: welcome.lease,
            until,
            sent: BTreeMap::from([(Renewal(0), sent)]),
            acknowledged: Renewal(0),
            made: Renewal(0),
            renew_at: sent + welcome.lease.renew_interval(),
            silent: false,
            draining: false,
            quarantined_until: cx.now + quarantine,
            attached: true,
            stream: Some(Stream::new()),
        }));
        out.push(Effect::Notify(Event::Open(self.server, welcome.number)));
    }

    fn next_timer(&self) -> Option<(Tick, Timer)> {
        match &self.state {
            State::Active(session) => Some(session.next_timer()),
            State::None { retry } => {
                retry.filter(|_| self.connected).map(|when| (when, Timer::Retry))
            }
            State::Opening { .. } => None,
        }
    }

    fn session(&self) -> Option<&ClientSession<M>> {
        if let State::Active(session) = &self.state { Some(session) } else { None }
    }

    fn session_mut(&mut self) -> Option<&mut ClientSession<M>> {
        if let State::Active(session) = &mut self.state { Some(session) } else { None }
    }

    fn attached_mut(&mut self, number: SessionNo) -> Option<&mut ClientSession<M>> {
        self.session_mut().filter(|session| session.attached && session.number == number)
    }
}

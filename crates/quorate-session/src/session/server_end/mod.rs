//! The server's end of a session: it opens sessions, records renewals, and gives up last.
//!
//! Here is the handshake; `lease.rs` records renewals and closes the session, `stream.rs` carries
//! frames and acknowledges them.

mod lease;
mod stream;

use quorate_quorum::SiteId;

use self::lease::ServerSession;
use super::RelativeDeadline;
use super::lease::between;
use super::{
    Context, Effect, Event, Hello, Incarnation, Opening, Packet, Payload, Refusal, Renewal, Rule,
    Seq, Stream, Welcome,
};
use crate::{SessionNo, Tick};

/// Our end of a client's session here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerEnd<M> {
    client: SiteId,
    /// The latest session opened here, over or not. No earlier one is opened again.
    known: Option<(Incarnation, SessionNo)>,
    session: Option<ServerSession<M>>,
    /// Whether some lock has not been told yet that the last session is over. Until all have, no
    /// other is opened.
    untold: bool,
    /// What the client asked for on this connection, if that waits until every lock was told.
    waiting: Option<Hello>,
}

/// What a protocol may know of a client's session here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerView {
    /// The client's incarnation.
    pub incarnation: Incarnation,
    /// The session's number.
    pub number: SessionNo,
    /// The deadline `L_s`: from then on our loans to the client are ours again.
    pub until: Tick,
}

impl<M: Payload> ServerEnd<M> {
    /// No session of `client`.
    pub fn new(client: SiteId) -> Self {
        Self { client, known: None, session: None, untold: false, waiting: None }
    }

    /// The session, while there is one.
    pub fn view(&self) -> Option<ServerView> {
        let session = self.session.as_ref()?;
        let (incarnation, number) = (session.incarnation, session.number);
        Some(ServerView { incarnation, number, until: session.until })
    }

    /// The deadline `until`, in a form that the client can convert to its own clock.
    ///
    /// `None` without a session, or if it had passed when the client's latest renewal came.
    pub fn relative_deadline(&self, until: Tick) -> Option<RelativeDeadline> {
        let session = self.session.as_ref()?;
        RelativeDeadline::new(until, session.renewal, session.handled)
    }

    /// The connection is gone; the session stays.
    pub fn on_down(&mut self) {
        self.waiting = None;
        if let Some(session) = &mut self.session {
            session.attached = false;
        }
    }

    /// The client asks for a session. The arms are the rows of the table "The handshake" in
    /// `docs/site.md`.
    pub fn on_hello(&mut self, cx: Context<'_>, hello: Hello, out: &mut Vec<Effect<M>>) {
        let number = hello.opening.number();
        if cx.terms.cluster_id != hello.cluster_id {
            return self.refuse(number, Refusal::OtherCluster, out);
        }
        let asked = (hello.incarnation, number);
        let is_new = matches!(hello.opening, Opening::New(_));
        match (self.known, &self.session) {
            // The session we have, on the connection on which it goes on already. To send all
            // frames again for each such Hello would queue them without bound.
            (Some(known), Some(session)) if asked == known && session.attached => {
                out.push(Effect::Note(self.client, "ignored: a second Hello for its session"));
            }
            // The session we have: it goes on.
            (Some(known), Some(_)) if asked == known => {
                self.resume(cx, hello.opening.received(), out);
            }
            // Any other that the client believes to have is gone.
            _ if !is_new && cx.terms.keep(Rule::ResumeAtItsSite) => {
                self.refuse(number, Refusal::Gone, out);
            }
            (Some(known), None) if asked == known => self.refuse(number, Refusal::Gone, out),
            (Some(known), _) if asked < known => self.refuse(number, Refusal::Stale, out),
            // A new incarnation does not prove that the old one's callers have stopped.
            (Some((old, _)), Some(session))
                if hello.incarnation > old && cx.terms.keep(Rule::IncarnationWaits) =>
            {
                let left = between(cx.now, session.until);
                self.on_down(); // the old incarnation is not on this connection
                out.push(Effect::Packet(self.client, Packet::RetryAfter(number, left)));
            }
            // A larger number: the client says that its own deadline has passed.
            (_, Some(_)) => {
                self.close(cx, out);
                self.open_when_told(cx, hello, out);
            }
            (_, None) => self.open_when_told(cx, hello, out),
        }
    }

    /// Opens a session, or lets the client wait until every lock was told that the one before is
    /// over.
    fn open_when_told(&mut self, cx: Context<'_>, hello: Hello, out: &mut Vec<Effect<M>>) {
        if self.untold {
            self.waiting = Some(hello);
        } else {
            self.open(cx, (hello.incarnation, hello.opening.number()), out);
        }
    }

    /// Every lock has been told that the last session is over.
    pub fn on_told(&mut self, cx: Context<'_>, out: &mut Vec<Effect<M>>) {
        self.untold = false;
        if let Some(hello) = self.waiting.take() {
            self.on_hello(cx, hello, out);
        }
    }

    /// The Hello New counts as renewal 0.
    fn open(&mut self, cx: Context<'_>, asked: (Incarnation, SessionNo), out: &mut Vec<Effect<M>>) {
        assert!(
            self.known < Some(asked),
            "S3: a session is opened once, and after those before it"
        );
        assert!(self.session.is_none(), "S3: the session before it is closed");
        let (incarnation, number) = asked;
        self.known = Some(asked);
        self.session = Some(ServerSession {
            incarnation,
            number,
            lease: cx.terms.lease,
            renewal: Renewal(0),
            handled: cx.now,
            until: cx.now + cx.terms.lease.length(),
            attached: true,
            stream: Some(Stream::new()),
        });
        out.push(Effect::Notify(Event::Opened(self.client, number)));
        self.welcome(cx, Seq(0), out);
    }

    /// Both ends send again what the other lacks. No event, and the Hello renews nothing.
    fn resume(&mut self, cx: Context<'_>, received: Seq, out: &mut Vec<Effect<M>>) {
        let Some(session) = &mut self.session else { return };
        let number = session.number;
        let Some(stream) = &mut session.stream else {
            return self.refuse(number, Refusal::Gone, out);
        };
        session.attached = true;
        let ack = stream.take_ack();
        if stream.resume(received).is_err() {
            return self.end_stream(out);
        }
        self.welcome(cx, ack, out);
        self.send_waiting(cx.terms, out);
    }

    fn welcome(&self, cx: Context<'_>, received: Seq, out: &mut Vec<Effect<M>>) {
        let Some(session) = &self.session else { return };
        let welcome = Welcome {
            incarnation: cx.incarnation,
            number: session.number,
            lease: session.lease,
            quarantine: between(cx.now, cx.quarantined_until),
            received,
        };
        out.push(Effect::Packet(self.client, Packet::Welcome(welcome)));
        if cx.draining {
            self.send_draining(out);
        }
    }

    /// Tells the client that we are about to stop, if it is connected. On a later connection the
    /// welcome is followed by it.
    pub(super) fn send_draining(&self, out: &mut Vec<Effect<M>>) {
        if let Some(session) = self.session.as_ref().filter(|session| session.attached) {
            out.push(Effect::Packet(self.client, Packet::Draining(session.number)));
        }
    }

    fn refuse(&self, number: SessionNo, why: Refusal, out: &mut Vec<Effect<M>>) {
        out.push(Effect::Packet(self.client, Packet::Refused(number, why)));
    }

    fn attached_mut(&mut self, number: SessionNo) -> Option<&mut ServerSession<M>> {
        self.session.as_mut().filter(|session| session.attached && session.number == number)
    }
}

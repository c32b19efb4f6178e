//! The server's end of a session: it lets in, records renewals, and is the last to give up.

use quorate_quorum::SiteId;

use super::RelativeDeadline;
use super::lease::between;
use super::{
    At, Effect, Event, Frame, Half, Hello, Incarnation, Lease, Opening, Packet, Refusal, Renewal,
    Rule, Seq, Stream, Terms, Welcome,
};
use crate::{SessionNo, Tick};

/// Our end of a client's session here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerEnd<M> {
    client: SiteId,
    /// The latest session opened here, live or not: nothing before it is let in again.
    known: Option<(Incarnation, SessionNo)>,
    session: Option<Served<M>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Served<M> {
    incarnation: Incarnation,
    number: SessionNo,
    lease: Lease,
    /// The latest renewal handled, and when.
    renewal: Renewal,
    handled: Tick,
    /// `L_s`: the deadline, by our clock.
    until: Tick,
    /// Whether the client greeted us for this session on the present connection.
    attached: bool,
    /// `None` once it is over.
    stream: Option<Stream<M>>,
}

/// What a protocol may know of a client's session here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerView {
    /// The client's incarnation.
    pub incarnation: Incarnation,
    /// The session's number.
    pub number: SessionNo,
    /// The deadline `L_s`: from then on what we lent the client is ours again.
    pub until: Tick,
}

impl<M: Clone> ServerEnd<M> {
    /// No session of `client`.
    pub fn new(client: SiteId) -> Self {
        Self { client, known: None, session: None }
    }

    /// The session, while there is one.
    pub fn view(&self) -> Option<ServerView> {
        let served = self.session.as_ref()?;
        let (incarnation, number) = (served.incarnation, served.number);
        Some(ServerView { incarnation, number, until: served.until })
    }

    /// A validity that ends at `until`, in a form that the client can count by its own clock.
    ///
    /// `None` without a session, or if it ended before the client's latest renewal came.
    pub fn hand_down(&self, until: Tick) -> Option<RelativeDeadline> {
        let served = self.session.as_ref()?;
        RelativeDeadline::new(until, served.renewal, served.handled)
    }

    /// The next time at which something is due.
    pub fn deadline(&self) -> Option<Tick> {
        self.session.as_ref().map(|served| served.until)
    }

    /// Handles the deadline, which `at` has reached: the lease is over.
    pub fn on_deadline(&mut self, at: At<'_>, out: &mut Vec<Effect<M>>) {
        if let Some(until) = self.deadline() {
            assert!(until <= at.now, "a lease is not closed before its deadline");
            self.close(out);
        }
    }

    /// The connection is gone: nothing else is.
    pub fn on_down(&mut self) {
        if let Some(served) = &mut self.session {
            served.attached = false;
        }
    }

    /// The client asks for a session. The arms are the rows of the handshake's table.
    pub fn on_hello(&mut self, at: At<'_>, hello: Hello, out: &mut Vec<Effect<M>>) {
        let number = hello.opening.number();
        if let Some(why) = at.terms.badge.differs(hello.badge) {
            return self.refuse(number, why, out);
        }
        let asked = (hello.incarnation, number);
        let is_new = matches!(hello.opening, Opening::New(_));
        match (self.known, &self.session) {
            // The session we have: it goes on.
            (Some(known), Some(_)) if asked == known => {
                self.resume(at, hello.opening.received(), out);
            }
            // Any other that the client believes to have is gone.
            _ if !is_new && at.terms.keep(Rule::ResumeAtItsSite) => {
                self.refuse(number, Refusal::Gone, out);
            }
            (Some(known), None) if asked == known => self.refuse(number, Refusal::Gone, out),
            (Some(known), _) if asked < known => self.refuse(number, Refusal::Stale, out),
            // A new incarnation does not prove that the old one's callers have stopped.
            (Some((old, _)), Some(served))
                if hello.incarnation > old && at.terms.keep(Rule::IncarnationWaits) =>
            {
                let left = between(at.now, served.until);
                self.on_down(); // whoever had that session is not on this connection
                out.push(Effect::Packet(self.client, Packet::Later(number, left)));
            }
            // A larger number: the client says that its own deadline has passed.
            (_, Some(_)) => {
                self.close(out);
                self.open(at, asked, out);
            }
            (_, None) => self.open(at, asked, out),
        }
    }

    /// The client renews its lease.
    pub fn on_renew(
        &mut self,
        at: At<'_>,
        (number, k, received): (SessionNo, Renewal, Seq),
        out: &mut Vec<Effect<M>>,
    ) {
        let client = self.client;
        let Some(served) = self.attached_mut(number) else {
            return out.push(Effect::Note(client, "ignored: a renewal of another session"));
        };
        if k > served.renewal {
            served.record(at, k);
        }
        let told = match &mut served.stream {
            Some(stream) => match stream.acknowledge(received) {
                Ok(()) => stream.tell_received(),
                Err(_) => return self.end_stream(out),
            },
            None => Seq(0),
        };
        out.push(Effect::Packet(client, Packet::Renewed(number, k, told)));
    }

    /// Sends `payload` to the client's requester half.
    pub fn send(&mut self, payload: M, bytes: usize, out: &mut Vec<Effect<M>>) {
        let client = self.client;
        let Some(served) = &mut self.session else {
            return out.push(Effect::Note(client, "not sent: it has no session here"));
        };
        let Some(stream) = &mut served.stream else {
            return out.push(Effect::Note(client, "not sent: its stream here is over"));
        };
        match stream.send(payload, bytes) {
            Ok(frame) if served.attached => {
                out.push(Effect::Packet(client, Packet::Down(served.number, frame)));
            }
            Ok(_) => {} // kept for the next connection
            Err(_) => self.end_stream(out),
        }
    }

    /// Whether there is a session whose stream takes more from a sender that can wait.
    pub fn has_room(&self, terms: &Terms) -> bool {
        let stream = self.session.as_ref().and_then(|served| served.stream.as_ref());
        stream.is_some_and(|stream| stream.has_room(terms.window()))
    }

    /// The client sends a frame of the stream.
    pub fn on_frame(&mut self, number: SessionNo, frame: Frame<M>, out: &mut Vec<Effect<M>>) {
        let client = self.client;
        let Some(served) = self.attached_mut(number) else {
            return out.push(Effect::Note(client, "ignored: a frame of another session"));
        };
        let Some(stream) = &mut served.stream else { return };
        match stream.receive(frame) {
            Ok(Some(payload)) => {
                out.push(Effect::Deliver(client, Half::Arbiter, number, payload));
                if stream.should_tell() {
                    let told = Packet::DownTo(number, stream.tell_received());
                    out.push(Effect::Packet(client, told));
                }
            }
            Ok(None) => {}
            Err(_) => self.end_stream(out),
        }
    }

    /// The client says how far it received.
    pub fn on_received(&mut self, number: SessionNo, received: Seq, out: &mut Vec<Effect<M>>) {
        let Some(served) = self.attached_mut(number) else { return };
        if let Some(Err(_)) = served.stream.as_mut().map(|stream| stream.acknowledge(received)) {
            self.end_stream(out);
        }
    }

    /// The Hello New counts as renewal 0.
    fn open(&mut self, at: At<'_>, asked: (Incarnation, SessionNo), out: &mut Vec<Effect<M>>) {
        assert!(
            self.known < Some(asked),
            "S3: a session is opened once, and after those before it"
        );
        assert!(self.session.is_none(), "S3: the session before it is closed");
        let (incarnation, number) = asked;
        self.known = Some(asked);
        self.session = Some(Served {
            incarnation,
            number,
            lease: at.terms.lease,
            renewal: Renewal(0),
            handled: at.now,
            until: at.now + at.terms.lease.length(),
            attached: true,
            stream: Some(Stream::new()),
        });
        out.push(Effect::Tell(Event::Opened(self.client, number)));
        self.welcome(at, Seq(0), out);
    }

    /// Both ends re-send what the other lacks; nobody is told, and the Hello renews nothing.
    fn resume(&mut self, at: At<'_>, received: Seq, out: &mut Vec<Effect<M>>) {
        let client = self.client;
        let Some(served) = &mut self.session else { return };
        let number = served.number;
        let Some(stream) = &mut served.stream else {
            return self.refuse(number, Refusal::Gone, out);
        };
        served.attached = true;
        let here = stream.tell_received();
        let Ok(frames) = stream.resume(received) else { return self.end_stream(out) };
        self.welcome(at, here, out);
        let packets = frames.into_iter().map(|frame| Packet::Down(number, frame));
        out.extend(packets.map(|packet| Effect::Packet(client, packet)));
    }

    fn welcome(&self, at: At<'_>, received: Seq, out: &mut Vec<Effect<M>>) {
        let Some(served) = &self.session else { return };
        let welcome = Welcome {
            incarnation: at.incarnation,
            number: served.number,
            lease: served.lease,
            quarantine: between(at.now, at.quarantined_until),
            received,
        };
        out.push(Effect::Packet(self.client, Packet::Welcome(welcome)));
    }

    fn refuse(&self, number: SessionNo, why: Refusal, out: &mut Vec<Effect<M>>) {
        out.push(Effect::Packet(self.client, Packet::Refused(number, why)));
    }

    /// Ends the stream and keeps the lease: the client hears of it now or when it resumes.
    fn end_stream(&mut self, out: &mut Vec<Effect<M>>) {
        let Some(served) = &mut self.session else { return };
        served.stream = None;
        let (number, attached) = (served.number, served.attached);
        out.push(Effect::Note(self.client, "its stream here is over"));
        if attached {
            self.refuse(number, Refusal::Gone, out);
        }
    }

    fn close(&mut self, out: &mut Vec<Effect<M>>) {
        self.session = None;
        out.push(Effect::Tell(Event::Closed(self.client)));
    }

    fn attached_mut(&mut self, number: SessionNo) -> Option<&mut Served<M>> {
        self.session.as_mut().filter(|served| served.attached && served.number == number)
    }
}

impl<M> Served<M> {
    /// The lease counts from the step that handles the renewal: that cannot be too early.
    fn record(&mut self, at: At<'_>, k: Renewal) {
        assert!(k > self.renewal, "I7: renewals grow");
        (self.renewal, self.handled) = (k, at.now);
        self.until = if at.terms.keep(Rule::CountFromHandling) {
            at.now + self.lease.length()
        } else {
            // As if it had been under way for as long as renewals are apart.
            at.now + self.lease.length().saturating_sub(self.lease.rhythm())
        };
    }
}

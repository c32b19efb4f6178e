//! The stream at the client's end: frames and their acknowledgements.

use super::ClientEnd;
use crate::SessionNo;
use crate::session::{
    Effect, Frame, Half, Packet, Payload, Rule, Seq, Stream, StreamOver, Terms, Welcome,
};

impl<M: Payload> ClientEnd<M> {
    /// Sends `payload` to the server's arbiter half.
    pub fn send(&mut self, terms: &Terms, payload: M, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let Some(session) = self.session_mut() else {
            return out.push(Effect::Note(server, "not sent: no session there"));
        };
        let Some(stream) = &mut session.stream else {
            return out.push(Effect::Note(server, "not sent: the stream there is over"));
        };
        stream.push(payload);
        self.send_waiting(terms, out);
        if !terms.keep(Rule::FullWindowWaits) && self.is_waiting() {
            self.end_stream(StreamOver::Broken, out);
        }
    }

    /// Whether there is a session whose stream is not over.
    pub fn has_stream(&self) -> bool {
        self.session().is_some_and(|session| session.stream.is_some())
    }

    /// Whether there is a session whose stream has room for a sender that can wait.
    pub fn has_room(&self, terms: &Terms) -> bool {
        let stream = self.session().and_then(|session| session.stream.as_ref());
        stream.is_some_and(|stream| stream.has_room(terms.window()))
    }

    /// Whether a message waits for room in the window, though the other end is connected.
    pub fn is_waiting(&self) -> bool {
        let session = self.session().filter(|session| session.attached);
        session.and_then(|session| session.stream.as_ref()).is_some_and(Stream::is_waiting)
    }

    /// Sends the messages that the window has room for. It is called whenever there may be more
    /// room: a full window delays messages, and ends nothing.
    pub(super) fn send_waiting(&mut self, terms: &Terms, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let Some(session) = self.session_mut() else { return };
        let Some(stream) = session.stream.as_mut().filter(|_| session.attached) else { return };
        while let Some(frame) = stream.next_to_send(terms.window()) {
            out.push(Effect::Packet(server, Packet::Up(session.number, frame)));
        }
    }

    /// A frame of the stream arrives.
    pub fn on_frame(
        &mut self,
        terms: &Terms,
        number: SessionNo,
        frame: Frame<M>,
        out: &mut Vec<Effect<M>>,
    ) {
        let server = self.server;
        let Some(session) = self.attached_mut(number) else {
            return out.push(Effect::Note(server, "ignored: a frame of another session"));
        };
        let Some(stream) = &mut session.stream else { return };
        match stream.receive(frame) {
            Ok(payload) => {
                out.extend(
                    payload
                        .map(|payload| Effect::Deliver(server, Half::Requester, number, payload)),
                );
                self.send_waiting(terms, out);
                self.send_ack(terms, out);
            }
            Err(over) => self.end_stream(over, out),
        }
    }

    /// Sends an acknowledgement of its own if nothing has carried one for long.
    fn send_ack(&mut self, terms: &Terms, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let Some(session) = self.session_mut() else { return };
        let Some(stream) = &mut session.stream else { return };
        if stream.needs_ack(terms.window()) && terms.keep(Rule::AcknowledgeAlone) {
            let ack = Packet::UpAck(session.number, stream.take_ack());
            out.push(Effect::Packet(server, ack));
        }
    }

    /// The server acknowledges all frames up to `received`.
    pub fn on_ack(
        &mut self,
        terms: &Terms,
        number: SessionNo,
        received: Seq,
        out: &mut Vec<Effect<M>>,
    ) {
        let Some(session) = self.attached_mut(number) else { return };
        if let Some(Err(over)) = session.stream.as_mut().map(|stream| stream.on_ack(received)) {
            self.end_stream(over, out);
        }
        self.send_waiting(terms, out);
    }

    /// Continues the stream on a new connection: sends again what the server lacks.
    pub(super) fn resume_stream(
        &mut self,
        terms: &Terms,
        welcome: Welcome,
        out: &mut Vec<Effect<M>>,
    ) {
        let session = self.session_mut().expect("the caller looked");
        session.attached = true;
        let Some(stream) = &mut session.stream else { return };
        match stream.resume(welcome.received) {
            Ok(()) => self.send_waiting(terms, out),
            Err(over) => self.end_stream(over, out),
        }
    }

    /// The server sent what cannot be true: the stream is over.
    pub(in crate::session) fn reject(&mut self, out: &mut Vec<Effect<M>>) {
        self.end_stream(StreamOver::Violated, out);
    }

    /// Ends the stream. The lease goes on, but is not renewed: the next session opens after it.
    pub(super) fn end_stream(&mut self, why: StreamOver, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let Some(session) = self.session_mut() else { return };
        if session.stream.take().is_some() {
            out.push(Effect::Note(server, why.reason()));
        }
        self.become_silent(out);
    }
}

//! The stream at the server's end: frames and their acknowledgements.

use super::ServerEnd;
use crate::SessionNo;
use crate::session::{Effect, Frame, Half, Packet, Payload, Refusal, Rule, Seq, Stream, Terms};

impl<M: Payload> ServerEnd<M> {
    /// Sends `payload` to the client's requester half.
    pub fn send(&mut self, terms: &Terms, payload: M, out: &mut Vec<Effect<M>>) {
        let client = self.client;
        let Some(session) = &mut self.session else {
            return out.push(Effect::Note(client, "not sent: it has no session here"));
        };
        let Some(stream) = &mut session.stream else {
            return out.push(Effect::Note(client, "not sent: its stream here is over"));
        };
        stream.push(payload);
        self.send_waiting(terms, out);
        if !terms.keep(Rule::FullWindowWaits) && self.is_waiting() {
            self.end_stream(out);
        }
    }

    /// Whether there is a session whose stream has room for a sender that can wait.
    pub fn has_room(&self, terms: &Terms) -> bool {
        let stream = self.session.as_ref().and_then(|session| session.stream.as_ref());
        stream.is_some_and(|stream| stream.has_room(terms.window()))
    }

    /// Whether a message waits for room in the window, though the other end is connected.
    pub fn is_waiting(&self) -> bool {
        let session = self.session.as_ref().filter(|session| session.attached);
        session.and_then(|session| session.stream.as_ref()).is_some_and(Stream::is_waiting)
    }

    /// Sends the messages that the window has room for. It is called whenever there may be more
    /// room: a full window delays messages, and ends nothing.
    pub(super) fn send_waiting(&mut self, terms: &Terms, out: &mut Vec<Effect<M>>) {
        let client = self.client;
        let Some(session) = &mut self.session else { return };
        let Some(stream) = session.stream.as_mut().filter(|_| session.attached) else { return };
        while let Some(frame) = stream.next_to_send(terms.window()) {
            out.push(Effect::Packet(client, Packet::Down(session.number, frame)));
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
        let client = self.client;
        let Some(session) = self.attached_mut(number) else {
            return out.push(Effect::Note(client, "ignored: a frame of another session"));
        };
        let Some(stream) = &mut session.stream else { return };
        match stream.receive(frame) {
            Ok(payload) => {
                out.extend(
                    payload.map(|payload| Effect::Deliver(client, Half::Arbiter, number, payload)),
                );
                self.send_waiting(terms, out);
                self.send_ack(terms, out);
            }
            Err(_) => self.end_stream(out),
        }
    }

    /// Sends an acknowledgement of its own if nothing has carried one for long.
    fn send_ack(&mut self, terms: &Terms, out: &mut Vec<Effect<M>>) {
        let client = self.client;
        let Some(session) = &mut self.session else { return };
        let Some(stream) = &mut session.stream else { return };
        if stream.needs_ack(terms.window()) && terms.keep(Rule::AcknowledgeAlone) {
            let ack = Packet::DownAck(session.number, stream.take_ack());
            out.push(Effect::Packet(client, ack));
        }
    }

    /// The client acknowledges all frames up to `received`.
    pub fn on_ack(
        &mut self,
        terms: &Terms,
        number: SessionNo,
        received: Seq,
        out: &mut Vec<Effect<M>>,
    ) {
        let Some(session) = self.attached_mut(number) else { return };
        if let Some(Err(_)) = session.stream.as_mut().map(|stream| stream.on_ack(received)) {
            self.end_stream(out);
        }
        self.send_waiting(terms, out);
    }

    /// Ends the stream of a client that sent what cannot be true, or makes us keep too much. Its
    /// lease goes on.
    pub fn give_up_stream(&mut self, out: &mut Vec<Effect<M>>) {
        self.end_stream(out);
    }

    /// Ends the stream and keeps the lease. The client learns of it now, or when it resumes.
    pub(super) fn end_stream(&mut self, out: &mut Vec<Effect<M>>) {
        let Some(session) = &mut self.session else { return };
        session.stream = None;
        let (number, attached) = (session.number, session.attached);
        out.push(Effect::Note(self.client, "its stream here is over"));
        if attached {
            self.refuse(number, Refusal::Gone, out);
        }
    }
}

//! The stream at the client's end: frames and their acknowledgements.

use super::ClientEnd;
use crate::SessionNo;
use crate::session::{Effect, Frame, Half, Packet, Seq, StreamOver, Terms, Welcome};

impl<M: Clone> ClientEnd<M> {
    /// Sends `payload` to the server's arbiter half.
    pub fn send(&mut self, payload: M, bytes: usize, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let Some(session) = self.session_mut() else {
            return out.push(Effect::Note(server, "not sent: no session there"));
        };
        let Some(stream) = &mut session.stream else {
            return out.push(Effect::Note(server, "not sent: the stream there is over"));
        };
        match stream.send(payload, bytes) {
            Ok(frame) if session.attached => {
                out.push(Effect::Packet(server, Packet::Up(session.number, frame)));
            }
            Ok(_) => {} // kept for the next connection
            Err(over) => self.end_stream(over, out),
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

    /// A frame of the stream arrives.
    pub fn on_frame(&mut self, number: SessionNo, frame: Frame<M>, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let Some(session) = self.attached_mut(number) else {
            return out.push(Effect::Note(server, "ignored: a frame of another session"));
        };
        let Some(stream) = &mut session.stream else { return };
        match stream.receive(frame) {
            Ok(Some(payload)) => {
                out.push(Effect::Deliver(server, Half::Requester, number, payload));
                if stream.needs_ack() {
                    let ack = Packet::UpAck(number, stream.take_ack());
                    out.push(Effect::Packet(server, ack));
                }
            }
            Ok(None) => {}
            Err(over) => self.end_stream(over, out),
        }
    }

    /// The server acknowledges all frames up to `received`.
    pub fn on_ack(&mut self, number: SessionNo, received: Seq, out: &mut Vec<Effect<M>>) {
        let Some(session) = self.attached_mut(number) else { return };
        if let Some(Err(over)) = session.stream.as_mut().map(|stream| stream.on_ack(received)) {
            self.end_stream(over, out);
        }
    }

    /// Continues the stream on a new connection: sends again what the server lacks.
    pub(super) fn resume_stream(&mut self, welcome: Welcome, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let session = self.session_mut().expect("the caller looked");
        session.attached = true;
        let Some(stream) = &mut session.stream else { return };
        match stream.resume(welcome.received) {
            Ok(frames) => {
                let packets = frames.into_iter().map(|frame| Packet::Up(welcome.number, frame));
                out.extend(packets.map(|packet| Effect::Packet(server, packet)));
            }
            Err(over) => self.end_stream(over, out),
        }
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

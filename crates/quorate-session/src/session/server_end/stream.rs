//! The stream at the server's end: frames and their acknowledgements.

use super::ServerEnd;
use crate::SessionNo;
use crate::session::{Effect, Frame, Half, Packet, Refusal, Seq, Terms};

impl<M: Clone> ServerEnd<M> {
    /// Sends `payload` to the client's requester half.
    pub fn send(&mut self, payload: M, bytes: usize, out: &mut Vec<Effect<M>>) {
        let client = self.client;
        let Some(session) = &mut self.session else {
            return out.push(Effect::Note(client, "not sent: it has no session here"));
        };
        let Some(stream) = &mut session.stream else {
            return out.push(Effect::Note(client, "not sent: its stream here is over"));
        };
        match stream.send(payload, bytes) {
            Ok(frame) if session.attached => {
                out.push(Effect::Packet(client, Packet::Down(session.number, frame)));
            }
            Ok(_) => {} // kept for the next connection
            Err(_) => self.end_stream(out),
        }
    }

    /// Whether there is a session whose stream has room for a sender that can wait.
    pub fn has_room(&self, terms: &Terms) -> bool {
        let stream = self.session.as_ref().and_then(|session| session.stream.as_ref());
        stream.is_some_and(|stream| stream.has_room(terms.window()))
    }

    /// A frame of the stream arrives.
    pub fn on_frame(&mut self, number: SessionNo, frame: Frame<M>, out: &mut Vec<Effect<M>>) {
        let client = self.client;
        let Some(session) = self.attached_mut(number) else {
            return out.push(Effect::Note(client, "ignored: a frame of another session"));
        };
        let Some(stream) = &mut session.stream else { return };
        match stream.receive(frame) {
            Ok(Some(payload)) => {
                out.push(Effect::Deliver(client, Half::Arbiter, number, payload));
                if stream.needs_ack() {
                    let ack = Packet::DownAck(number, stream.take_ack());
                    out.push(Effect::Packet(client, ack));
                }
            }
            Ok(None) => {}
            Err(_) => self.end_stream(out),
        }
    }

    /// The client acknowledges all frames up to `received`.
    pub fn on_ack(&mut self, number: SessionNo, received: Seq, out: &mut Vec<Effect<M>>) {
        let Some(session) = self.attached_mut(number) else { return };
        if let Some(Err(_)) = session.stream.as_mut().map(|stream| stream.on_ack(received)) {
            self.end_stream(out);
        }
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

//! The client's end of the stream.

use super::ClientEnd;
use crate::SessionNo;
use crate::session::{Effect, Frame, Half, Packet, Seq, StreamOver, Terms, Welcome};

impl<M: Clone> ClientEnd<M> {
    /// Sends `payload` to the server's arbiter half.
    pub fn send(&mut self, payload: M, bytes: usize, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let Some(live) = self.live_mut() else {
            return out.push(Effect::Note(server, "not sent: no session there"));
        };
        let Some(stream) = &mut live.stream else {
            return out.push(Effect::Note(server, "not sent: the stream there is over"));
        };
        match stream.send(payload, bytes) {
            Ok(frame) if live.attached => {
                out.push(Effect::Packet(server, Packet::Up(live.number, frame)));
            }
            Ok(_) => {} // kept for the next connection
            Err(over) => self.end_stream(over, out),
        }
    }

    /// Whether there is a session whose stream takes more from a sender that can wait.
    pub fn has_room(&self, terms: &Terms) -> bool {
        let stream = self.live().and_then(|live| live.stream.as_ref());
        stream.is_some_and(|stream| stream.has_room(terms.window()))
    }

    /// The server sends a frame of the stream.
    pub fn on_frame(&mut self, number: SessionNo, frame: Frame<M>, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let Some(live) = self.attached_mut(number) else {
            return out.push(Effect::Note(server, "ignored: a frame of another session"));
        };
        let Some(stream) = &mut live.stream else { return };
        match stream.receive(frame) {
            Ok(Some(payload)) => {
                out.push(Effect::Deliver(server, Half::Requester, number, payload));
                if stream.should_tell() {
                    let told = Packet::UpTo(number, stream.tell_received());
                    out.push(Effect::Packet(server, told));
                }
            }
            Ok(None) => {}
            Err(over) => self.end_stream(over, out),
        }
    }

    /// The server says how far it received.
    pub fn on_received(&mut self, number: SessionNo, received: Seq, out: &mut Vec<Effect<M>>) {
        let Some(live) = self.attached_mut(number) else { return };
        if let Some(Err(over)) = live.stream.as_mut().map(|stream| stream.acknowledge(received)) {
            self.end_stream(over, out);
        }
    }

    /// Takes up the stream on a new connection: sends again what the server lacks.
    pub(super) fn reattach(&mut self, welcome: Welcome, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let live = self.live_mut().expect("the caller looked");
        live.attached = true;
        let Some(stream) = &mut live.stream else { return };
        match stream.resume(welcome.received) {
            Ok(frames) => {
                let packets = frames.into_iter().map(|frame| Packet::Up(welcome.number, frame));
                out.extend(packets.map(|packet| Effect::Packet(server, packet)));
            }
            Err(over) => self.end_stream(over, out),
        }
    }

    /// Ends the stream and keeps the lease, but renews it no more: only its end lets us reopen.
    pub(super) fn end_stream(&mut self, why: StreamOver, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let Some(live) = self.live_mut() else { return };
        if live.stream.take().is_some() {
            out.push(Effect::Note(server, why.reason()));
        }
        self.fall_silent(out);
    }
}

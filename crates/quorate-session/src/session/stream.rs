//! The numbered stream of a session: one value at each end, for both directions.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Seq;
use crate::Queue;

/// A message with its number, and an acknowledgement of the other direction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame<M> {
    /// Its number in its direction.
    pub seq: Seq,
    /// All frames of the other direction up to this one were received.
    pub received: Seq,
    /// The message.
    pub payload: M,
}

/// What a stream carries. Its size counts against the window, at both ends.
pub trait Payload: Clone {
    /// About how many bytes it takes.
    fn bytes(&self) -> usize;
}

impl Payload for char {
    fn bytes(&self) -> usize {
        self.len_utf8()
    }
}

impl Payload for &str {
    fn bytes(&self) -> usize {
        self.len()
    }
}

/// One end of a session's stream: the messages that the other end has not acknowledged, and the
/// last frame received.
///
/// Frames arrive once and in order. If the stream breaks, a prefix of them has arrived. Messages
/// that do not fit the window wait here, in order, until enough frames are acknowledged.
///
/// ```
/// use quorate_session::session::{Seq, Stream, Window};
/// let window = Window::of_frames(1);
/// let mut here = Stream::new();
/// here.push("one");
/// here.push("two");
/// let lost = here.next_to_send(window).expect("the window is empty");
/// assert_eq!(here.next_to_send(window), None, "the window is full");
///
/// // A new connection: the other end says which frame it received last.
/// let mut there = Stream::<&str>::new();
/// here.resume(Seq(0))?;
/// while let Some(frame) = here.next_to_send(window) {
///     there.receive(frame)?;
///     here.on_ack(there.take_ack())?;
/// }
/// assert_eq!(there.receive(lost)?, None, "it was received before");
/// assert!(!here.is_waiting());
/// # Ok::<(), quorate_session::session::StreamOver>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stream<M> {
    /// Not acknowledged, the oldest first.
    unacknowledged: Queue<M>,
    unacknowledged_bytes: usize,
    /// How many of them were sent on the present connection. The rest waits.
    sent: usize,
    sent_bytes: usize,
    /// The last frame that the other end acknowledged.
    acknowledged: Seq,
    /// The last frame received.
    received: Seq,
    /// The frames received since the last acknowledgement we sent, and their bytes.
    received_since_ack: usize,
    received_bytes_since_ack: usize,
}

/// Why a stream is over. The lease is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("{}", self.reason())]
pub enum StreamOver {
    /// A frame is missing, or the other end acknowledges a frame that was never sent.
    Broken,
    /// The other end sent a message that cannot be true.
    Violated,
}

impl StreamOver {
    /// The reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            StreamOver::Broken => "the stream is over: the other end cannot go on with it",
            StreamOver::Violated => "the stream is over: the other end sent what cannot be true",
        }
    }
}

/// How much of a stream may be sent and not acknowledged. Both ends have the same window: the
/// receiver knows by it when to acknowledge.
///
/// A sender that can wait does so at a quarter of the window, so that messages that follow from
/// those of the other end find room. An acknowledgement of its own is sent at a quarter of that
/// quarter: whenever all frames have arrived, there is room for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    frames: usize,
    bytes: usize,
}

impl Window {
    /// The window of every stream of a service. What is under way delays everything behind it, so
    /// it is no larger than a fast network needs.
    pub const DEFAULT: Self = Self { frames: 256, bytes: 4 << 20 };

    /// A window of this many frames, at least one.
    pub fn of_frames(frames: usize) -> Self {
        Self { frames: frames.max(1), ..Self::DEFAULT }
    }

    /// The same window with this many bytes, at least one.
    pub fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes: bytes.max(1), ..self }
    }

    /// How many frames may be unacknowledged.
    pub const fn frames(self) -> usize {
        self.frames
    }

    /// This part of the window; at least one frame and one byte.
    fn part(self, of: usize) -> Self {
        Self { frames: (self.frames / of).max(1), bytes: (self.bytes / of).max(1) }
    }

    /// Whether so many frames and bytes leave room for another frame. The last one may be larger
    /// than what is left: so a message of any size can be sent.
    fn has_room(self, frames: usize, bytes: usize) -> bool {
        frames < self.frames && bytes < self.bytes
    }
}

impl<M: Payload> Stream<M> {
    /// A stream without frames.
    pub fn new() -> Self {
        Self {
            unacknowledged: Queue::new(),
            unacknowledged_bytes: 0,
            sent: 0,
            sent_bytes: 0,
            acknowledged: Seq(0),
            received: Seq(0),
            received_since_ack: 0,
            received_bytes_since_ack: 0,
        }
    }

    /// Whether a sender that can wait should send now.
    pub fn has_room(&self, window: Window) -> bool {
        window.part(4).has_room(self.unacknowledged.len(), self.unacknowledged_bytes)
    }

    /// Whether a message was not sent on the present connection.
    pub fn is_waiting(&self) -> bool {
        self.sent < self.unacknowledged.len()
    }

    /// The acknowledgement to send now: the last frame received. The caller sends it.
    pub fn take_ack(&mut self) -> Seq {
        (self.received_since_ack, self.received_bytes_since_ack) = (0, 0);
        self.received
    }

    /// Whether an acknowledgement should be sent at once, if nothing else carries it.
    pub fn needs_ack(&self, window: Window) -> bool {
        !window.part(16).has_room(self.received_since_ack, self.received_bytes_since_ack)
    }

    /// Keeps `payload` until it is acknowledged. [`next_to_send`](Self::next_to_send) says when to
    /// send it.
    pub fn push(&mut self, payload: M) {
        self.unacknowledged_bytes += payload.bytes();
        self.unacknowledged.push_back(payload);
    }

    /// The next frame that was not sent on this connection, if the window has room for it. The
    /// caller sends it.
    pub fn next_to_send(&mut self, window: Window) -> Option<Frame<M>> {
        let payload = self.unacknowledged.get(self.sent)?;
        if !window.has_room(self.sent, self.sent_bytes) {
            return None;
        }
        let payload = payload.clone();
        self.sent += 1;
        self.sent_bytes += payload.bytes();
        let seq = Seq(self.acknowledged.0 + self.sent as u64);
        Some(Frame { seq, received: self.take_ack(), payload })
    }

    /// Takes a frame: its payload, or `None` if it was received before.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Broken`] if one before it is missing or its acknowledgement is impossible.
    pub fn receive(&mut self, frame: Frame<M>) -> Result<Option<M>, StreamOver> {
        self.on_ack(frame.received)?;
        if frame.seq <= self.received {
            return Ok(None);
        }
        if frame.seq != self.received.next() {
            return Err(StreamOver::Broken);
        }
        self.received = frame.seq;
        self.received_since_ack += 1;
        self.received_bytes_since_ack += frame.payload.bytes();
        Ok(Some(frame.payload))
    }

    /// The other end received all frames up to this one: they are forgotten.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Broken`] if the frame was never sent.
    pub fn on_ack(&mut self, received: Seq) -> Result<(), StreamOver> {
        if received.0 > self.acknowledged.0 + self.sent as u64 {
            return Err(StreamOver::Broken);
        }
        while self.acknowledged < received {
            let payload = self.unacknowledged.pop_front().expect("no more than was sent");
            let bytes = payload.bytes();
            self.unacknowledged_bytes -= bytes;
            self.sent -= 1;
            self.sent_bytes -= bytes;
            self.acknowledged = self.acknowledged.next();
        }
        Ok(())
    }

    /// A new connection: the other end has received all frames up to this one. The rest is to be
    /// sent again.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Broken`] if it lacks a frame that it had acknowledged, or acknowledges one
    /// that was never sent.
    pub fn resume(&mut self, received: Seq) -> Result<(), StreamOver> {
        if received < self.acknowledged {
            return Err(StreamOver::Broken);
        }
        self.on_ack(received)?;
        (self.sent, self.sent_bytes) = (0, 0);
        Ok(())
    }
}

impl<M: Payload> Default for Stream<M> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send<M: Payload>(stream: &mut Stream<M>, payload: M) -> Frame<M> {
        stream.push(payload);
        stream.next_to_send(Window::DEFAULT).expect("it fits")
    }

    fn payloads(stream: &mut Stream<char>, window: Window) -> String {
        std::iter::from_fn(|| stream.next_to_send(window)).map(|frame| frame.payload).collect()
    }

    #[test]
    fn frames_arrive_once_and_acknowledge_the_other_direction() {
        let (mut a, mut b) = (Stream::new(), Stream::new());
        let frame = send(&mut a, 'x');
        assert_eq!(b.receive(frame.clone()), Ok(Some('x')));
        assert_eq!(b.receive(frame), Ok(None));
        let answer = send(&mut b, 'y');
        assert_eq!((answer.seq, answer.received), (Seq(1), Seq(1)));
        assert_eq!(a.receive(answer), Ok(Some('y')));
        assert!(a.unacknowledged.is_empty());
        assert_eq!((a.unacknowledged_bytes, a.sent, a.sent_bytes), (0, 0, 0));
    }

    #[test]
    fn a_gap_is_a_broken_stream() {
        let (mut a, mut b) = (Stream::new(), Stream::new());
        let _lost = send(&mut a, 'x');
        let late = send(&mut a, 'y');
        assert_eq!(b.receive(late), Err(StreamOver::Broken));
    }

    #[test]
    fn resuming_sends_what_the_other_end_lacks() {
        let mut a = Stream::new();
        for payload in ['x', 'y', 'z'] {
            send(&mut a, payload);
        }
        a.resume(Seq(1)).unwrap();
        assert_eq!(payloads(&mut a, Window::DEFAULT), "yz");
        assert_eq!(a.resume(Seq(0)).err(), Some(StreamOver::Broken));
        assert_eq!(a.resume(Seq(4)).err(), Some(StreamOver::Broken));
    }

    #[test]
    fn messages_beyond_the_window_wait_in_order() {
        let (mut stream, window) = (Stream::new(), Window::of_frames(2));
        for payload in 'a'..='e' {
            stream.push(payload);
        }
        assert_eq!(payloads(&mut stream, window), "ab");
        assert!(stream.is_waiting());
        assert_eq!(stream.on_ack(Seq(3)), Err(StreamOver::Broken), "it was not sent");
        stream.on_ack(Seq(1)).unwrap();
        assert_eq!(payloads(&mut stream, window), "c");
        stream.resume(Seq(2)).unwrap();
        assert_eq!(payloads(&mut stream, window), "cd", "no more than the window again");
        stream.on_ack(Seq(4)).unwrap();
        assert_eq!(payloads(&mut stream, window), "e");
        assert!(!stream.is_waiting());
    }

    #[test]
    fn a_message_larger_than_the_window_is_sent_and_the_next_one_waits() {
        let window = Window::of_frames(10).with_bytes(4);
        let mut stream = Stream::new();
        for payload in ["one", "a large one", "two"] {
            stream.push(payload);
        }
        let mut sent = || stream.next_to_send(window).map(|frame| frame.payload);
        assert_eq!(sent(), Some("one"));
        assert_eq!(sent(), Some("a large one"), "less than the window was sent before");
        assert_eq!(sent(), None);
        stream.on_ack(Seq(1)).unwrap();
        assert_eq!(stream.next_to_send(window), None, "the large one alone fills it");
        stream.on_ack(Seq(2)).unwrap();
        assert!(stream.next_to_send(window).is_some());
    }

    /// The two ends of a one-way flow: whenever all frames have arrived, there is room again.
    #[test]
    fn a_one_way_flow_of_any_window_never_stops() {
        let texts = ["", "x", "four", "a text of 17 byte", "a text that is larger than windows"];
        for frames in (1..40).chain([64, 4096]) {
            for bytes in [1, 2, 7, 64, 100, 4096] {
                let window = Window::of_frames(frames).with_bytes(bytes);
                let (mut a, mut b) = (Stream::new(), Stream::new());
                for place in 0..200 {
                    assert!(a.has_room(window), "{window:?} after {place}");
                    a.push(texts[place * place % texts.len()]);
                    let frame = a.next_to_send(window).expect("there is room");
                    b.receive(frame).unwrap();
                    if b.needs_ack(window) {
                        a.on_ack(b.take_ack()).unwrap();
                    }
                }
            }
        }
    }

    #[test]
    fn an_acknowledgement_is_rarely_a_packet_of_its_own() {
        let (mut a, mut b) = (Stream::<char>::new(), Stream::<char>::new());
        for _ in 1..Window::DEFAULT.frames() / 16 {
            b.receive(send(&mut a, 'x')).unwrap();
            assert!(!b.needs_ack(Window::DEFAULT));
        }
        b.receive(send(&mut a, 'x')).unwrap();
        assert!(b.needs_ack(Window::DEFAULT));
        send(&mut b, 'y');
        assert!(!b.needs_ack(Window::DEFAULT), "a frame carries it");
    }
}

//! The numbered stream of a session: one value at each end, for both directions.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Seq;

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

/// One end of a session's stream: the frames that the other end has not acknowledged, and the last
/// frame received.
///
/// Frames arrive once and in order. If the stream breaks, a prefix of them has arrived.
///
/// ```
/// use quorate_session::session::{Seq, Stream};
/// let (mut here, mut there) = (Stream::new(), Stream::new());
/// let lost = here.send("one", 3)?;
/// let late = here.send("two", 3)?;
/// assert!(there.receive(late).is_err(), "a gap is a broken stream");
///
/// // A new connection: the other end says which frame it received last.
/// let mut there = Stream::<&str>::new();
/// for frame in here.resume(Seq(0))? {
///     there.receive(frame)?;
/// }
/// assert_eq!(there.receive(lost)?, None, "it was received before");
/// # Ok::<(), quorate_session::session::StreamOver>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stream<M> {
    /// Sent and not acknowledged, the oldest first, each with its size.
    unacknowledged: VecDeque<(M, usize)>,
    unacknowledged_bytes: usize,
    /// The last frame that the other end acknowledged.
    acknowledged: Seq,
    /// The last frame received.
    received: Seq,
    /// Frames received since the last acknowledgement we sent.
    received_since_ack: usize,
}

/// Why a stream is over. The lease is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("{}", self.reason())]
pub enum StreamOver {
    /// Too much is unacknowledged.
    Overflow,
    /// A frame is missing, or the other end acknowledges a frame that was never sent.
    Broken,
}

impl StreamOver {
    /// The reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            StreamOver::Overflow => "the stream is over: too much is unacknowledged",
            StreamOver::Broken => "the stream is over: the other end cannot go on with it",
        }
    }
}

impl<M: Clone> Stream<M> {
    /// The most frames that may be unacknowledged.
    pub const FRAMES_MAX: usize = 4096;
    /// The most bytes that may be unacknowledged.
    pub const BYTES_MAX: usize = 4 << 20;
    /// After this many frames an acknowledgement is sent by itself.
    const ACK_AFTER: usize = 256;

    /// A stream without frames.
    pub fn new() -> Self {
        Self {
            unacknowledged: VecDeque::new(),
            unacknowledged_bytes: 0,
            acknowledged: Seq(0),
            received: Seq(0),
            received_since_ack: 0,
        }
    }

    /// Whether a sender that can wait should send now: fewer than `window` frames are
    /// unacknowledged. Usually the window is a quarter of the limit, so that senders that cannot
    /// wait find room; the other end acknowledges long before.
    pub fn has_room(&self, window: usize) -> bool {
        self.unacknowledged.len() < window && self.unacknowledged_bytes < Self::BYTES_MAX / 4
    }

    /// The acknowledgement to send now: the last frame received. The caller sends it.
    pub fn take_ack(&mut self) -> Seq {
        self.received_since_ack = 0;
        self.received
    }

    /// Whether an acknowledgement should be sent at once.
    pub fn needs_ack(&self) -> bool {
        self.received_since_ack >= Self::ACK_AFTER
    }

    /// Numbers `payload` of `bytes` and keeps it until it is acknowledged.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Overflow`] if too much would be unacknowledged.
    pub fn send(&mut self, payload: M, bytes: usize) -> Result<Frame<M>, StreamOver> {
        let total = self.unacknowledged_bytes.saturating_add(bytes);
        if self.unacknowledged.len() == Self::FRAMES_MAX || total > Self::BYTES_MAX {
            return Err(StreamOver::Overflow);
        }
        self.unacknowledged.push_back((payload.clone(), bytes));
        self.unacknowledged_bytes = total;
        let seq = Seq(self.acknowledged.0 + self.unacknowledged.len() as u64);
        Ok(Frame { seq, received: self.take_ack(), payload })
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
        Ok(Some(frame.payload))
    }

    /// The other end received all frames up to this one: they are forgotten.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Broken`] if the frame was never sent.
    pub fn on_ack(&mut self, received: Seq) -> Result<(), StreamOver> {
        if received.0 > self.acknowledged.0 + self.unacknowledged.len() as u64 {
            return Err(StreamOver::Broken);
        }
        while self.acknowledged < received {
            let (_, bytes) = self.unacknowledged.pop_front().expect("no more than was sent");
            self.unacknowledged_bytes -= bytes;
            self.acknowledged = self.acknowledged.next();
        }
        Ok(())
    }

    /// The frames that the other end lacks, by what it received before a new connection.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Broken`] if it lacks a frame that it had acknowledged, or acknowledges one
    /// that was never sent.
    pub fn resume(&mut self, received: Seq) -> Result<Vec<Frame<M>>, StreamOver> {
        if received < self.acknowledged {
            return Err(StreamOver::Broken);
        }
        self.on_ack(received)?;
        let (first, received) = (self.acknowledged.0 + 1, self.take_ack());
        let frame = |((payload, _), seq): (&(M, usize), u64)| Frame {
            seq: Seq(seq),
            received,
            payload: payload.clone(),
        };
        Ok(self.unacknowledged.iter().zip(first..).map(frame).collect())
    }
}

impl<M: Clone> Default for Stream<M> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_arrive_once_and_acknowledge_the_other_direction() {
        let (mut a, mut b) = (Stream::new(), Stream::new());
        let frame = a.send('x', 1).unwrap();
        assert_eq!(b.receive(frame.clone()), Ok(Some('x')));
        assert_eq!(b.receive(frame), Ok(None));
        let answer = b.send('y', 1).unwrap();
        assert_eq!((answer.seq, answer.received), (Seq(1), Seq(1)));
        assert_eq!(a.receive(answer), Ok(Some('y')));
        assert!(a.unacknowledged.is_empty());
        assert_eq!(a.unacknowledged_bytes, 0);
    }

    #[test]
    fn resuming_sends_what_the_other_end_lacks() {
        let mut a = Stream::new();
        for payload in ['x', 'y', 'z'] {
            a.send(payload, 1).unwrap();
        }
        let again: Vec<_> =
            a.resume(Seq(1)).unwrap().into_iter().map(|frame| frame.payload).collect();
        assert_eq!(again, ['y', 'z']);
        assert_eq!(a.resume(Seq(0)).err(), Some(StreamOver::Broken));
        assert_eq!(a.resume(Seq(4)).err(), Some(StreamOver::Broken));
    }

    #[test]
    fn too_much_is_an_overflow() {
        let mut frames = Stream::new();
        for _ in 0..Stream::<()>::FRAMES_MAX {
            frames.send((), 0).unwrap();
        }
        assert_eq!(frames.send((), 0), Err(StreamOver::Overflow));
        let mut bytes = Stream::new();
        bytes.send((), Stream::<()>::BYTES_MAX).unwrap();
        assert_eq!(bytes.send((), 1), Err(StreamOver::Overflow));
        bytes.on_ack(Seq(1)).unwrap();
        assert!(bytes.send((), 1).is_ok());
    }

    #[test]
    fn a_long_one_way_flow_is_acknowledged_by_itself() {
        let (mut a, mut b) = (Stream::new(), Stream::new());
        for _ in 0..Stream::<()>::ACK_AFTER {
            assert!(!b.needs_ack());
            b.receive(a.send((), 0).unwrap()).unwrap();
        }
        assert!(b.needs_ack());
        a.on_ack(b.take_ack()).unwrap();
        assert!(a.unacknowledged.is_empty() && !b.needs_ack());
    }
}

//! The numbered stream of a session: one value at each end, for both directions.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Seq;

/// A message with its number and how far the sender has received the other direction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame<M> {
    /// Its number in its direction.
    pub seq: Seq,
    /// All frames of the other direction up to this one were received.
    pub received: Seq,
    /// What it carries.
    pub payload: M,
}

/// One end of a session's stream: what it sent and the other has not acknowledged, and how far it
/// has received.
///
/// What one end sends arrives at the other once and in order, or not at all: a prefix of it.
///
/// ```
/// use quorate_session::session::{Seq, Stream};
/// let (mut here, mut there) = (Stream::new(), Stream::new());
/// let lost = here.send("one", 3)?;
/// let late = here.send("two", 3)?;
/// assert!(there.receive(late).is_err(), "a gap is a broken stream");
///
/// // A new connection: the other end says how far it got.
/// let mut there = Stream::<&str>::new();
/// for frame in here.resume(Seq(0))? {
///     there.receive(frame)?;
/// }
/// assert_eq!(there.receive(lost)?, None, "it was received already");
/// # Ok::<(), quorate_session::session::StreamOver>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stream<M> {
    /// Sent and not acknowledged, the oldest first, each with its size.
    kept: VecDeque<(M, usize)>,
    kept_bytes: usize,
    /// The last frame that the other end acknowledged.
    acknowledged: Seq,
    /// The last frame received.
    received: Seq,
    /// Frames received since the other end was last told.
    untold: usize,
}

/// Why a stream is over. The lease is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamOver {
    /// More is unacknowledged than may be kept.
    Overflow,
    /// A frame is missing, or the other end acknowledges what it cannot have.
    Broken,
}

impl StreamOver {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            StreamOver::Overflow => "the stream is over: too much is unacknowledged",
            StreamOver::Broken => "the stream is over: the other end cannot go on with it",
        }
    }
}

impl fmt::Display for StreamOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl std::error::Error for StreamOver {}

impl<M: Clone> Stream<M> {
    /// How many frames are kept for the other end.
    pub const FRAMES_MAX: usize = 4096;
    /// How many bytes are kept for the other end.
    pub const BYTES_MAX: usize = 4 << 20;
    /// After so many frames the other end is told even if there is nothing else to say.
    const UNTOLD_MAX: usize = 256;

    /// A stream in which nothing was said.
    pub fn new() -> Self {
        Self {
            kept: VecDeque::new(),
            kept_bytes: 0,
            acknowledged: Seq(0),
            received: Seq(0),
            untold: 0,
        }
    }

    /// Whether a sender that can wait should send now: fewer than `window` frames are kept. Usually
    /// that is a quarter of what may be, so that what cannot wait finds room; the other end
    /// acknowledges long before.
    pub fn has_room(&self, window: usize) -> bool {
        self.kept.len() < window && self.kept_bytes < Self::BYTES_MAX / 4
    }

    /// How far the other direction was received; whoever asks tells the other end.
    pub fn tell_received(&mut self) -> Seq {
        self.untold = 0;
        self.received
    }

    /// Whether so much was received unacknowledged that the other end should be told at once.
    pub fn should_tell(&self) -> bool {
        self.untold >= Self::UNTOLD_MAX
    }

    /// Numbers `payload` of `bytes` and keeps it until it is acknowledged.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Overflow`] if more would be kept than may be.
    pub fn send(&mut self, payload: M, bytes: usize) -> Result<Frame<M>, StreamOver> {
        let kept_bytes = self.kept_bytes.saturating_add(bytes);
        if self.kept.len() == Self::FRAMES_MAX || kept_bytes > Self::BYTES_MAX {
            return Err(StreamOver::Overflow);
        }
        self.kept.push_back((payload.clone(), bytes));
        self.kept_bytes = kept_bytes;
        let seq = Seq(self.acknowledged.0 + self.kept.len() as u64);
        Ok(Frame { seq, received: self.tell_received(), payload })
    }

    /// Takes a frame: its payload, or `None` if it was here before.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Broken`] if one before it is missing or its acknowledgement is impossible.
    pub fn receive(&mut self, frame: Frame<M>) -> Result<Option<M>, StreamOver> {
        self.acknowledge(frame.received)?;
        if frame.seq <= self.received {
            return Ok(None);
        }
        if frame.seq != self.received.next() {
            return Err(StreamOver::Broken);
        }
        self.received = frame.seq;
        self.untold += 1;
        Ok(Some(frame.payload))
    }

    /// Forgets what the other end has.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Broken`] if it cannot have it: that much was never sent.
    pub fn acknowledge(&mut self, received: Seq) -> Result<(), StreamOver> {
        if received.0 > self.acknowledged.0 + self.kept.len() as u64 {
            return Err(StreamOver::Broken);
        }
        while self.acknowledged < received {
            let (_, bytes) = self.kept.pop_front().expect("no more than was sent");
            self.kept_bytes -= bytes;
            self.acknowledged = self.acknowledged.next();
        }
        Ok(())
    }

    /// What the other end lacks, after it said on a new connection how far it received.
    ///
    /// # Errors
    ///
    /// [`StreamOver::Broken`] if it lacks what it had acknowledged, or has what was never sent.
    pub fn resume(&mut self, received: Seq) -> Result<Vec<Frame<M>>, StreamOver> {
        if received < self.acknowledged {
            return Err(StreamOver::Broken);
        }
        self.acknowledge(received)?;
        let (first, received) = (self.acknowledged.0 + 1, self.tell_received());
        let frame = |((payload, _), seq): (&(M, usize), u64)| Frame {
            seq: Seq(seq),
            received,
            payload: payload.clone(),
        };
        Ok(self.kept.iter().zip(first..).map(frame).collect())
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
        assert!(a.kept.is_empty());
        assert_eq!(a.kept_bytes, 0);
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
        bytes.acknowledge(Seq(1)).unwrap();
        assert!(bytes.send((), 1).is_ok());
    }

    #[test]
    fn a_long_one_way_flow_is_acknowledged_by_itself() {
        let (mut a, mut b) = (Stream::new(), Stream::new());
        for _ in 0..Stream::<()>::UNTOLD_MAX {
            assert!(!b.should_tell());
            b.receive(a.send((), 0).unwrap()).unwrap();
        }
        assert!(b.should_tell());
        a.acknowledge(b.tell_received()).unwrap();
        assert!(a.kept.is_empty() && !b.should_tell());
    }
}

//! One connection: frames in, frames out, all that is ready in one write.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::{fmt, io};

use quorate_session::Tick;
use quorate_wire::{Decoder, WireError, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::clock;

/// Anything that bytes travel on.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// A stream of any kind. TCP, TLS, sockets of this machine and memory share one copy of the code
/// behind it; a virtual call costs little beside the system call that follows.
pub type BoxedStream = Box<dyn Stream>;

/// Reads one frame; an error if it does not come in time or is none.
///
/// # Errors
///
/// The connection is of no use.
pub async fn read_one<T: DeserializeOwned>(
    stream: &mut BoxedStream,
    decoder: &mut Decoder,
    patience: Duration,
) -> io::Result<T> {
    let read = async {
        loop {
            if let Some(word) = decoder.next().map_err(broken)? {
                return Ok(word);
            }
            if stream.read_buf(decoder.buffer()).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    };
    timeout(patience, read).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Writes one frame.
///
/// # Errors
///
/// The connection is of no use.
pub async fn write_one<T: Serialize>(stream: &mut BoxedStream, word: &T) -> io::Result<()> {
    let mut bytes = Vec::new();
    encode(word, &mut bytes).map_err(broken)?;
    stream.write_all(&bytes).await?;
    stream.flush().await
}

/// Parts a connection into the end to speak into and the end to hear from.
pub fn part(stream: BoxedStream) -> (Line, Ear) {
    let (from, to) = tokio::io::split(stream);
    let (ear, hung_up) = oneshot::channel();
    let heard = clock::now();
    (Line { to, bytes: Vec::new(), written: 0, heard, ear: Some(ear) }, Ear { from, hung_up })
}

/// The end of a connection to speak into. What is said is written when its owner polls it; dropping
/// it closes the connection.
pub struct Line {
    to: WriteHalf<BoxedStream>,
    /// What is to be written, and how much of it has been.
    bytes: Vec<u8>,
    written: usize,
    /// When something was heard last.
    heard: Tick,
    ear: Option<oneshot::Sender<()>>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line({} bytes to write)", self.bytes.len() - self.written)
    }
}

impl Line {
    /// Says something; it is not written yet.
    ///
    /// # Errors
    ///
    /// It is too long.
    pub fn say(&mut self, word: &impl Serialize) -> Result<(), WireError> {
        encode(word, &mut self.bytes)
    }

    /// Writes what was said, as far as the other side takes it; ready if nothing is left. A
    /// connection that is broken is closed.
    pub fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.written < self.bytes.len() {
            match ready!(Pin::new(&mut self.to).poll_write(cx, &self.bytes[self.written..])) {
                Ok(count) if count > 0 => self.written += count,
                _ => {
                    self.hang_up();
                    break;
                }
            }
        }
        self.bytes.clear();
        self.written = 0;
        if ready!(Pin::new(&mut self.to).poll_flush(cx)).is_err() {
            self.hang_up();
        }
        Poll::Ready(())
    }

    /// Notes that something was heard.
    pub fn note_heard(&mut self, now: Tick) {
        self.heard = now;
    }

    /// Closes it if nothing was heard for so long.
    pub fn end_silence(&mut self, now: Tick, patience: Duration) {
        if self.heard + patience <= now {
            self.hang_up();
        }
    }

    /// Closes it; who hears from it notices.
    pub fn hang_up(&mut self) {
        self.ear = None;
    }

    /// Writes what is left, and closes it.
    pub async fn finish(mut self) {
        poll_fn(|cx| self.poll_write(cx)).await;
        drop(self.to.shutdown().await); // the other side may have done so
    }
}

/// The end of a connection to hear from.
pub struct Ear {
    from: ReadHalf<BoxedStream>,
    hung_up: oneshot::Receiver<()>,
}

impl fmt::Debug for Ear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ear")
    }
}

impl Ear {
    /// Hears until the connection ends: what has arrived goes to `read`, all of it at a time.
    ///
    /// # Errors
    ///
    /// Why it ended, unless one side closed it.
    pub async fn hear<T: DeserializeOwned>(
        mut self,
        mut decoder: Decoder,
        mut read: impl FnMut(Vec<T>) -> bool,
    ) -> io::Result<()> {
        loop {
            let mut words = Vec::new();
            while let Some(word) = decoder.next().map_err(broken)? {
                words.push(word);
            }
            if !words.is_empty() && !read(words) {
                return Ok(());
            }
            tokio::select! {
                biased;
                arrived = self.from.read_buf(decoder.buffer()) => {
                    if arrived? == 0 { return Ok(()) }
                }
                _ = &mut self.hung_up => return Ok(()),
            }
        }
    }
}

fn broken(error: WireError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

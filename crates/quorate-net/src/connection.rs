//! One connection: frames in, and frames out in as few writes as possible.

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
use tokio::time;

use crate::clock;
use crate::tls::explain;

/// A stream of bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// A stream of any kind. TCP, TLS, Unix sockets and memory share one copy of the code behind it; a
/// virtual call costs little beside the system call that follows.
pub type BoxedStream = Box<dyn Stream>;

/// Reads one frame.
///
/// # Errors
///
/// No valid frame came in time; the connection is of no use.
pub async fn read_frame<T: DeserializeOwned>(
    stream: &mut BoxedStream,
    decoder: &mut Decoder,
    timeout: Duration,
) -> io::Result<T> {
    let read = async {
        loop {
            if let Some(frame) = decoder.next().map_err(invalid)? {
                return Ok(frame);
            }
            // With TLS 1.3, the first read says whether our certificate was accepted.
            if stream.read_buf(decoder.buffer()).await.map_err(explain)? == 0 {
                let why = "the other end closed the connection";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
            }
        }
    };
    let late = || io::Error::new(io::ErrorKind::TimedOut, "the other end does not answer");
    time::timeout(timeout, read).await.unwrap_or_else(|_| Err(late()))
}

/// Writes one frame.
///
/// # Errors
///
/// The connection is of no use.
pub async fn write_frame<T: Serialize>(stream: &mut BoxedStream, frame: &T) -> io::Result<()> {
    let mut bytes = Vec::new();
    encode(frame, &mut bytes).map_err(invalid)?;
    stream.write_all(&bytes).await?;
    stream.flush().await
}

/// Splits a connection into its two directions. `decoder` has read what came before. The
/// connection is closed if more than `unread_max` bytes wait for the other end to read them.
pub fn split(
    stream: BoxedStream,
    decoder: Decoder,
    unread_max: usize,
) -> (FrameWriter, FrameReader) {
    let (reader, writer) = tokio::io::split(stream);
    let (close_reader, closed) = oneshot::channel();
    let writer = FrameWriter {
        writer,
        bytes: Vec::new(),
        written: 0,
        unread_max,
        last_received: clock::now(),
        close_reader: Some(close_reader),
    };
    (writer, FrameReader { reader, decoder, closed })
}

/// The writing half of a connection. Frames are queued, and written when its owner polls it.
/// Dropping it closes the connection.
pub struct FrameWriter {
    writer: WriteHalf<BoxedStream>,
    /// The bytes to write, and how many of them are written.
    bytes: Vec<u8>,
    written: usize,
    /// How many bytes may wait to be written.
    unread_max: usize,
    /// When the other side last sent something.
    last_received: Tick,
    /// Used or dropped to end the reading half; `None` if the connection is closed.
    close_reader: Option<oneshot::Sender<String>>,
}

impl fmt::Debug for FrameWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameWriter({} bytes to write)", self.bytes.len() - self.written)
    }
}

impl FrameWriter {
    /// Queues a frame. If too many bytes wait already, because the other end does not read, or if
    /// the frame is too long, the connection is closed instead: no frame is left out of a
    /// connection that goes on. The reading half says why.
    pub fn queue(&mut self, frame: &impl Serialize) {
        if self.close_reader.is_none() {
            return; // it is closed
        }
        if let Err(error) = encode(frame, &mut self.bytes) {
            return self.close_because(error.to_string());
        }
        let unread = self.bytes.len() - self.written;
        if unread > self.unread_max {
            let most = self.unread_max;
            let why = format!("it does not read: {unread} bytes wait, at most {most} are kept");
            self.close_because(why);
        }
    }

    /// Closes the connection, and forgets what is not written.
    fn close_because(&mut self, why: String) {
        if let Some(close_reader) = self.close_reader.take() {
            drop(close_reader.send(why)); // it may have ended by itself
        }
        (self.bytes, self.written) = (Vec::new(), 0);
    }

    /// Writes the queued frames as far as the other side takes them; ready if none is left. If
    /// that fails, the connection is closed.
    pub fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.written < self.bytes.len() {
            match ready!(Pin::new(&mut self.writer).poll_write(cx, &self.bytes[self.written..])) {
                Ok(count) if count > 0 => self.written += count,
                _ => {
                    self.close();
                    break;
                }
            }
        }
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BUFFER);
        self.written = 0;
        if ready!(Pin::new(&mut self.writer).poll_flush(cx)).is_err() {
            self.close();
        }
        Poll::Ready(())
    }

    /// Notes that something was received.
    pub fn note_received(&mut self, now: Tick) {
        self.last_received = now;
    }

    /// Closes the connection if nothing was received for `timeout`.
    pub fn close_if_silent(&mut self, now: Tick, timeout: Duration) {
        if self.last_received + timeout <= now {
            self.close();
        }
    }

    /// Closes the connection: the reading half ends.
    pub fn close(&mut self) {
        self.close_reader = None;
    }

    /// Writes the queued frames, and closes the connection.
    pub async fn finish(mut self) {
        poll_fn(|cx| self.poll_write(cx)).await;
        drop(self.writer.shutdown().await); // the other side may have closed it
    }
}

/// How much of the space for queued frames is kept when all are written.
const KEPT_BUFFER: usize = 64 << 10;

/// The most frames that are read together.
const FRAMES_AT_ONCE: usize = 64;

/// The reading half of a connection.
pub struct FrameReader {
    reader: ReadHalf<BoxedStream>,
    decoder: Decoder,
    closed: oneshot::Receiver<String>,
}

impl fmt::Debug for FrameReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FrameReader")
    }
}

impl FrameReader {
    /// Reads the frames that have arrived, up to a limit, and waits if there is none; `None` if one
    /// side has closed the connection.
    ///
    /// # Errors
    ///
    /// Why the connection ended, unless one side closed it without a reason.
    pub async fn read<T: DeserializeOwned>(&mut self) -> io::Result<Option<Vec<T>>> {
        loop {
            let mut frames = Vec::new();
            while frames.len() < FRAMES_AT_ONCE
                && let Some(frame) = self.decoder.next().map_err(invalid)?
            {
                frames.push(frame);
            }
            if !frames.is_empty() {
                return Ok(Some(frames));
            }
            tokio::select! {
                biased;
                why = &mut self.closed => {
                    return why.map_or(Ok(None), |why| Err(io::Error::other(why)));
                }
                arrived = self.reader.read_buf(self.decoder.buffer()) => {
                    if arrived? == 0 { return Ok(None) }
                }
            }
        }
    }
}

fn invalid(error: WireError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

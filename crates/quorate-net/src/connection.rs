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

/// Splits a connection into its two directions.
pub fn split(stream: BoxedStream) -> (FrameWriter, FrameReader) {
    let (reader, writer) = tokio::io::split(stream);
    let (close_reader, closed) = oneshot::channel();
    let writer = FrameWriter {
        writer,
        bytes: Vec::new(),
        written: 0,
        last_received: clock::now(),
        close_reader: Some(close_reader),
    };
    (writer, FrameReader { reader, closed })
}

/// The writing half of a connection. Frames are queued, and written when its owner polls it.
/// Dropping it closes the connection.
pub struct FrameWriter {
    writer: WriteHalf<BoxedStream>,
    /// The bytes to write, and how many of them are written.
    bytes: Vec<u8>,
    written: usize,
    /// When the other side last sent something.
    last_received: Tick,
    /// Dropped to end the reading half.
    close_reader: Option<oneshot::Sender<()>>,
}

impl fmt::Debug for FrameWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameWriter({} bytes to write)", self.bytes.len() - self.written)
    }
}

impl FrameWriter {
    /// Queues a frame.
    ///
    /// # Errors
    ///
    /// It is too long.
    pub fn queue(&mut self, frame: &impl Serialize) -> Result<(), WireError> {
        encode(frame, &mut self.bytes)
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

/// The reading half of a connection.
pub struct FrameReader {
    reader: ReadHalf<BoxedStream>,
    closed: oneshot::Receiver<()>,
}

impl fmt::Debug for FrameReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FrameReader")
    }
}

impl FrameReader {
    /// Reads until the connection ends. All frames that have arrived go to `on_frames` together; it
    /// returns false to end the connection.
    ///
    /// # Errors
    ///
    /// Why the connection ended, unless one side closed it.
    pub async fn read_all<T: DeserializeOwned>(
        mut self,
        mut decoder: Decoder,
        mut on_frames: impl FnMut(Vec<T>) -> bool,
    ) -> io::Result<()> {
        loop {
            let mut frames = Vec::new();
            while let Some(frame) = decoder.next().map_err(invalid)? {
                frames.push(frame);
            }
            if !frames.is_empty() && !on_frames(frames) {
                return Ok(());
            }
            tokio::select! {
                biased;
                arrived = self.reader.read_buf(decoder.buffer()) => {
                    if arrived? == 0 { return Ok(()) }
                }
                _ = &mut self.closed => return Ok(()),
            }
        }
    }
}

fn invalid(error: WireError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

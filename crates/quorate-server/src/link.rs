//! One connection: frames in, frames out, all that is ready in one write.

use std::io;
use std::time::Duration;

use quorate_wire::{Decoder, WireError, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::timeout;

/// Anything that bytes travel on.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// Where frames for a connection are put.
pub type Outbox = UnboundedSender<Vec<u8>>;

/// Reads one frame; an error if it does not come in time or is none.
///
/// # Errors
///
/// The connection is of no use.
pub async fn read_one<T: DeserializeOwned>(
    stream: &mut (impl AsyncRead + Unpin),
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
pub async fn write_one<T: Serialize>(
    stream: &mut (impl AsyncWrite + Unpin),
    word: &T,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    encode(word, &mut bytes).map_err(broken)?;
    stream.write_all(&bytes).await?;
    stream.flush().await
}

/// Carries frames both ways until the connection ends: what was read goes to `read`, all that is
/// ready at a time; what stands in `outbox` is written. Silence longer than `patience` ends it.
///
/// # Errors
///
/// Why it ended, unless one side closed it.
pub async fn carry<T: DeserializeOwned>(
    stream: impl Stream,
    mut decoder: Decoder,
    mut outbox: UnboundedReceiver<Vec<u8>>,
    patience: Duration,
    mut read: impl FnMut(Vec<T>) -> bool,
) -> io::Result<()> {
    let (mut from, mut to) = tokio::io::split(stream);
    let reading = async move {
        loop {
            let mut words = Vec::new();
            while let Some(word) = decoder.next().map_err(broken)? {
                words.push(word);
            }
            if !words.is_empty() && !read(words) {
                return Ok(());
            }
            let arrived = timeout(patience, from.read_buf(decoder.buffer())).await;
            if arrived.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))? == 0 {
                return Ok(());
            }
        }
    };
    let writing = async move {
        while let Some(mut bytes) = outbox.recv().await {
            while let Ok(more) = outbox.try_recv() {
                bytes.extend(more);
            }
            to.write_all(&bytes).await?;
            to.flush().await?;
        }
        to.shutdown().await
    };
    tokio::select! {
        done = reading => done,
        done = writing => done,
    }
}

fn broken(error: WireError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

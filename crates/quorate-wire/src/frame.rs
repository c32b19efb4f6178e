//! Frames: a length, then that many bytes.

use quorate_session::limits;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// The most bytes in one frame.
pub const MAX_FRAME: usize = limits::FRAME_BYTES;

const HEADER: usize = 4;

/// The least space for a read.
const READ_SPACE: usize = 4096;

/// Invalid bytes. The connection that they came on cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// A frame is too long.
    #[error("a frame of {bytes} bytes is too long; at most {most} are allowed")]
    TooLong {
        /// How many bytes it has.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },
    /// A frame cannot be decoded.
    #[error("a frame cannot be decoded")]
    Malformed,
    /// A frame has bytes after its value.
    #[error("a frame has bytes after its value")]
    Trailing,
}

/// Appends `value` as a frame to `bytes`.
///
/// # Errors
///
/// [`WireError::TooLong`] if it is longer than [`MAX_FRAME`]; then `bytes` is unchanged.
pub fn encode<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), WireError> {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; HEADER]);
    let taken = std::mem::take(bytes);
    *bytes = postcard::to_extend(value, taken).map_err(|_| WireError::Malformed)?;
    let length = bytes.len() - start - HEADER;
    if length > MAX_FRAME {
        bytes.truncate(start);
        return Err(WireError::TooLong { bytes: length, most: MAX_FRAME });
    }
    let length = u32::try_from(length).expect("it is at most MAX_FRAME");
    bytes[start..start + HEADER].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Splits arriving bytes into frames, and decodes them.
///
/// ```
/// use quorate_wire::{Decoder, encode};
/// let mut bytes = Vec::new();
/// encode(&"one", &mut bytes)?;
/// encode(&"two", &mut bytes)?;
/// let mut decoder = Decoder::default();
/// decoder.extend(&bytes[..7]);
/// assert_eq!(decoder.next::<String>()?, None, "it is incomplete");
/// decoder.extend(&bytes[7..]);
/// assert_eq!(decoder.next::<String>()?, Some("one".into()));
/// assert_eq!(decoder.next::<String>()?, Some("two".into()));
/// # Ok::<(), quorate_wire::WireError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder {
    bytes: Vec<u8>,
    /// Where the next frame begins.
    start: usize,
    /// The most bytes of a frame.
    most: usize,
}

impl Default for Decoder {
    /// A decoder of frames of up to [`MAX_FRAME`] bytes.
    fn default() -> Self {
        Self::with_limit(MAX_FRAME)
    }
}

impl Decoder {
    /// A decoder that refuses frames of more than `most` bytes. It keeps little more than one
    /// frame.
    pub fn with_limit(most: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, most }
    }

    /// Sets another limit for the frames that follow.
    pub fn set_limit(&mut self, most: usize) {
        self.most = most;
    }

    /// Appends bytes that have arrived.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.compact();
        self.bytes.extend_from_slice(bytes);
    }

    /// The buffer, with space for a read. The reader appends to it.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.compact();
        self.bytes.reserve(READ_SPACE);
        &mut self.bytes
    }

    /// The next frame, if it is complete.
    ///
    /// # Errors
    ///
    /// The bytes are no frame of this type; the connection cannot go on.
    #[allow(clippy::should_implement_trait, reason = "each frame may be of another type")]
    pub fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, WireError> {
        let rest = &self.bytes[self.start..];
        let Some((header, rest)) = rest.split_first_chunk::<HEADER>() else { return Ok(None) };
        let length = u32::from_le_bytes(*header) as usize;
        if length > self.most {
            return Err(WireError::TooLong { bytes: length, most: self.most });
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let (value, left) = postcard::take_from_bytes(frame).map_err(|_| WireError::Malformed)?;
        if !left.is_empty() {
            return Err(WireError::Trailing);
        }
        self.start += HEADER + length;
        Ok(Some(value))
    }

    /// Drops bytes that were decoded, when that is cheap or there are many. No byte is moved more
    /// than once: what is left is the start of one frame.
    fn compact(&mut self) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        } else if self.start >= READ_SPACE {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }
}

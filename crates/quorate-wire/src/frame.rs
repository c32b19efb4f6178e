//! Frames: a length, then so many bytes.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The most bytes that one frame carries.
pub const MAX_FRAME: usize = 1 << 20;

const HEADER: usize = 4;

/// How much is read at a time, at least.
const ROOM: usize = 4096;

/// What can be wrong with bytes. The connection they came on cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// A frame of so many bytes is announced; [`MAX_FRAME`] is the most.
    TooLong(usize),
    /// The bytes of a frame are not what they should be.
    Malformed,
    /// A frame has bytes behind what it says.
    Trailing,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::TooLong(bytes) => {
                write!(f, "a frame of {bytes} bytes is announced; {MAX_FRAME} is the most")
            }
            WireError::Malformed => f.write_str("a frame cannot be read"),
            WireError::Trailing => f.write_str("a frame has bytes behind what it says"),
        }
    }
}

impl std::error::Error for WireError {}

/// Appends `word` as a frame to `bytes`.
///
/// # Errors
///
/// [`WireError::TooLong`] if it is longer than [`MAX_FRAME`]; then `bytes` is as it was.
pub fn encode<T: Serialize>(word: &T, bytes: &mut Vec<u8>) -> Result<(), WireError> {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; HEADER]);
    let taken = std::mem::take(bytes);
    *bytes = postcard::to_extend(word, taken).map_err(|_| WireError::Malformed)?;
    let length = bytes.len() - start - HEADER;
    if length > MAX_FRAME {
        bytes.truncate(start);
        return Err(WireError::TooLong(length));
    }
    let length = u32::try_from(length).expect("it is at most MAX_FRAME");
    bytes[start..start + HEADER].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Bytes as they arrive, and the frames in them.
///
/// ```
/// use quorate_wire::{Decoder, encode};
/// let mut bytes = Vec::new();
/// encode(&"one", &mut bytes)?;
/// encode(&"two", &mut bytes)?;
/// let mut decoder = Decoder::default();
/// decoder.extend(&bytes[..7]);
/// assert_eq!(decoder.next::<String>()?, None, "not all of it is there");
/// decoder.extend(&bytes[7..]);
/// assert_eq!(decoder.next::<String>()?, Some("one".into()));
/// assert_eq!(decoder.next::<String>()?, Some("two".into()));
/// # Ok::<(), quorate_wire::WireError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    /// Where the next frame begins.
    start: usize,
}

impl Decoder {
    /// Takes in bytes that have arrived.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.tidy();
        self.bytes.extend_from_slice(bytes);
    }

    /// Room for bytes that arrive, to be filled by a reader and counted by its caller.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.tidy();
        self.bytes.reserve(ROOM);
        &mut self.bytes
    }

    /// The next frame, if all of it is there.
    ///
    /// # Errors
    ///
    /// The bytes are no frame of this sort; the connection cannot go on.
    #[allow(clippy::should_implement_trait, reason = "each frame may be of another sort")]
    pub fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, WireError> {
        let rest = &self.bytes[self.start..];
        let Some((header, rest)) = rest.split_first_chunk::<HEADER>() else { return Ok(None) };
        let length = u32::from_le_bytes(*header) as usize;
        if length > MAX_FRAME {
            return Err(WireError::TooLong(length));
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let (word, left) = postcard::take_from_bytes(frame).map_err(|_| WireError::Malformed)?;
        if !left.is_empty() {
            return Err(WireError::Trailing);
        }
        self.start += HEADER + length;
        Ok(Some(word))
    }

    /// Drops what was read, when that is cheap or most of it is.
    fn tidy(&mut self) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        } else if self.start > MAX_FRAME {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }
}

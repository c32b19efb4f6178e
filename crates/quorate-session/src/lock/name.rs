//! Names of locks.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::hash::fnv1a;
use crate::{Printable, SiteError, limits};

/// The name of a lock: 1 to 256 bytes, no control characters.
///
/// ```
/// use quorate_session::Name;
/// let name: Name = "deploy/web".parse()?;
/// assert_eq!(name.as_str(), "deploy/web");
/// assert!("".parse::<Name>().is_err());
/// # Ok::<(), quorate_session::SiteError>(())
/// ```
///
/// Names are ordered by their hash first: a table of locks then compares numbers that are adjacent
/// in memory, not texts that are anywhere.
#[derive(Clone, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name {
    hash: u64,
    text: Arc<str>,
}

impl Name {
    /// The most bytes a name has.
    pub const MAX_BYTES: usize = limits::NAME_BYTES;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same, shared.
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// FNV-1a-64 of the text. It decides by how much quorums are rotated for this name, so all
    /// versions of all sites must agree on it.
    pub fn hash64(&self) -> u64 {
        self.hash
    }
}

impl FromStr for Name {
    type Err = SiteError;

    fn from_str(text: &str) -> Result<Self, SiteError> {
        let problem = if text.is_empty() {
            Some("it is empty")
        } else if text.len() > Self::MAX_BYTES {
            Some("it is longer than 256 bytes")
        } else if text.chars().any(char::is_control) {
            Some("it has control characters")
        } else {
            None
        };
        match problem {
            Some(why) => Err(SiteError::InvalidName(why)),
            None => Ok(Self { hash: fnv1a(text.as_bytes()), text: text.into() }),
        }
    }
}

impl TryFrom<String> for Name {
    type Error = SiteError;

    fn try_from(text: String) -> Result<Self, SiteError> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        (*name.text).to_owned()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        let same = || Arc::ptr_eq(&self.text, &other.text);
        self.hash
            .cmp(&other.hash)
            .then_with(|| if same() { Ordering::Equal } else { self.text.cmp(&other.text) })
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printable(&self.text).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        let hash = |text: &str| text.parse::<Name>().unwrap().hash64();
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn invalid_names_are_refused() {
        let long = "x".repeat(257);
        for text in ["", "a\nb", "\u{7f}", &long] {
            assert!(matches!(text.parse::<Name>(), Err(SiteError::InvalidName(_))), "{text:?}");
        }
        assert!("x".repeat(256).parse::<Name>().is_ok());
        assert!("Lager Köln / 7".parse::<Name>().is_ok());
    }
}

//! Text of others: limited where it enters, and made safe to print.

use std::fmt::{self, Write};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits;

/// The owner of a claim.
pub type OwnerText = Text<{ limits::OWNER_BYTES }>;
/// The host of a claim.
pub type HostText = Text<{ limits::HOST_BYTES }>;
/// The purpose of a claim, or the value of a leader.
pub type PurposeText = Text<{ limits::PURPOSE_BYTES }>;
/// The reason for breaking a grant.
pub type ReasonText = Text<{ limits::REASON_BYTES }>;

/// Text of at most `MAX` bytes without control characters. The decoder of a message refuses any
/// other, so nobody can be given more.
///
/// ```
/// use quorate_session::PurposeText;
/// assert_eq!(&*PurposeText::new("purpose", "release 1.4")?, "release 1.4");
/// let error = PurposeText::new("purpose", &"x".repeat(70_000)).unwrap_err();
/// assert_eq!(error.to_string(), "the purpose has 70000 bytes; at most 1024 are allowed");
/// # Ok::<(), quorate_session::TextError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Text<const MAX: usize>(Arc<str>);

impl<const MAX: usize> Text<MAX> {
    /// The most bytes it has.
    pub const MAX_BYTES: usize = MAX;

    /// Checks a text; `what` names it in the error.
    ///
    /// # Errors
    ///
    /// It is too long, or has a control character.
    pub fn new(what: &'static str, text: &str) -> Result<Self, TextError> {
        if text.len() > MAX {
            return Err(TextError::TooLong { what, bytes: text.len(), most: MAX });
        }
        match text.chars().find(|letter| letter.is_control()) {
            Some(letter) => Err(TextError::Control { what, letter }),
            None => Ok(Self(text.into())),
        }
    }

    /// The text with control characters escaped, and cut if it is too long. For what nobody typed,
    /// such as the name of a host.
    pub fn fitted(text: &str) -> Self {
        let mut fitted = String::new();
        for letter in text.chars() {
            if letter.is_control() {
                fitted.extend(letter.escape_default());
            } else {
                fitted.push(letter);
            }
            if fitted.len() > MAX {
                break;
            }
        }
        if fitted.len() > MAX {
            fitted.truncate(fitted.floor_char_boundary(MAX - '…'.len_utf8()));
            fitted.push('…');
        }
        Self(fitted.into())
    }
}

impl<const MAX: usize> Deref for Text<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> fmt::Display for Text<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printable(self).fmt(f)
    }
}

impl<const MAX: usize> FromStr for Text<MAX> {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::new("text", text)
    }
}

impl<const MAX: usize> TryFrom<String> for Text<MAX> {
    type Error = TextError;

    fn try_from(text: String) -> Result<Self, TextError> {
        text.parse()
    }
}

impl<const MAX: usize> From<Text<MAX>> for String {
    fn from(text: Text<MAX>) -> String {
        (*text.0).to_owned()
    }
}

/// Text that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum TextError {
    /// It is too long.
    #[error("the {what} has {bytes} bytes; at most {most} are allowed")]
    TooLong {
        /// What the text is.
        what: &'static str,
        /// How many bytes it has.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },
    /// It has a control character.
    #[error("the {what} has the control character {}; take it out", letter.escape_default())]
    Control {
        /// What the text is.
        what: &'static str,
        /// The first such character.
        letter: char,
    },
}

/// The most characters of a text that are printed.
const SHOWN_MAX: usize = 200;

/// Text that somebody else chose, for a terminal or a log. Characters that could move the cursor,
/// start a line or reorder the text around them are escaped, and a long text is cut.
///
/// ```
/// use quorate_session::Printable;
/// assert_eq!(Printable("Köln\u{1b}[2J\n").to_string(), r"Köln\u{1b}[2J\n");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars();
        for letter in rest.by_ref().take(SHOWN_MAX) {
            if is_harmless(letter) {
                f.write_char(letter)?;
            } else {
                write!(f, "{}", letter.escape_default())?;
            }
        }
        if rest.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

/// Whether a character shows as itself, and changes nothing but its own place.
fn is_harmless(letter: char) -> bool {
    let unseen = matches!(
        letter,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}' // of no width, and marks of direction
            | '\u{2028}'..='\u{202e}' // separators of lines, and changes of direction
            | '\u{2060}'..='\u{206f}' // of no width, and isolates
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}' // tags
    );
    !letter.is_control() && !unseen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_deceive_a_reader_is_escaped() {
        let shown = |text| Printable(text).to_string();
        assert_eq!(shown("release 1.4, Lager Köln, 東京 'x'"), "release 1.4, Lager Köln, 東京 'x'");
        assert_eq!(shown("a\r\nb\tc\u{7f}\u{9b}2J"), r"a\r\nb\tc\u{7f}\u{9b}2J");
        assert_eq!(shown("\u{202e}gpj\u{2066}\u{200f}"), r"\u{202e}gpj\u{2066}\u{200f}");
        assert_eq!(shown("root\u{200b}\u{2028}\u{feff}"), r"root\u{200b}\u{2028}\u{feff}");
    }

    #[test]
    fn text_that_is_too_long_or_has_control_characters_is_refused() {
        let long = Text::<8>::new("owner", "123456789").unwrap_err();
        assert_eq!(long.to_string(), "the owner has 9 bytes; at most 8 are allowed");
        let control = Text::<8>::new("reason", "a\nb").unwrap_err();
        assert_eq!(control.to_string(), "the reason has the control character \\n; take it out");
        assert_eq!(&*Text::<8>::new("owner", "Köln 12").unwrap(), "Köln 12");
    }

    #[test]
    fn text_that_nobody_typed_is_made_to_fit() {
        assert_eq!(&*Text::<8>::fitted("host"), "host");
        assert_eq!(&*Text::<8>::fitted("a\nb"), "a\\nb");
        assert_eq!(&*Text::<8>::fitted("ééééé"), "éé…");
        assert_eq!(Text::<8>::fitted(&"\0".repeat(1 << 20)).len(), 8);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(Printable(&"é".repeat(200)).to_string(), "é".repeat(200));
        assert_eq!(Printable(&"é".repeat(100_000)).to_string(), "é".repeat(200) + "…");
    }
}

//! Text of others, made safe to print.

use std::fmt::{self, Write};

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
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(Printable(&"é".repeat(200)).to_string(), "é".repeat(200));
        assert_eq!(Printable(&"é".repeat(100_000)).to_string(), "é".repeat(200) + "…");
    }
}

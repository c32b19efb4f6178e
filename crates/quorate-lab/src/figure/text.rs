//! How much room text takes.
//!
//! The font that will show a figure is unknown. These widths are those of `DejaVu Sans`, the widest
//! of the fonts that browsers commonly use for `sans-serif`, rounded up: with another font there is
//! more room than needed.

/// The size of all text in figures, in pixels.
pub(crate) const SIZE: f64 = 12.0;
/// From one line of text to the next.
pub(crate) const LINE: f64 = 15.0;

/// The width of `text` in a font of this size, in the same unit; rather more than less.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// The width of a character, in sizes of its font.
fn advance(glyph: char) -> f64 {
    match glyph {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' => 0.36,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' | '!' | '"' => 0.46,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        'A'..='Z' | '+' | '=' | '<' | '>' | '#' | '&' | '~' => 0.84,
        _ if glyph.is_ascii() => 0.64,
        _ => 0.9,
    }
}

/// `text` in lines of about this width, broken at spaces.
pub(crate) fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), SIZE) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_more_room_than_narrow_ones() {
        assert!(text_width("mmm", 10.0) > text_width("aaa", 10.0));
        assert!(text_width("aaa", 10.0) > text_width("lll", 10.0));
        assert!((text_width("aa", 10.0) - 12.8).abs() < 1e-9);
    }

    #[test]
    fn lines_are_parted_at_spaces() {
        assert_eq!(wrapped("one two three", 60.0), ["one two", "three"]);
        assert_eq!(wrapped("indivisible", 10.0), ["indivisible"]);
    }
}

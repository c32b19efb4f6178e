//! Labelled facts, such as the properties of a quorum system, as text for a terminal.

use quorate_quorum::SiteSet;

use crate::paint::Paint;

const LABEL: usize = 13;
const WIDTH: usize = 100;

/// A list of facts, each with a label.
#[derive(Debug)]
pub struct Facts {
    paint: Paint,
    lines: Vec<String>,
}

impl Facts {
    /// An empty list.
    pub fn new(paint: Paint) -> Self {
        Self { paint, lines: Vec::new() }
    }

    /// Adds `text` under `label`, on as many lines as it needs.
    pub fn add(&mut self, label: &str, text: &str) {
        let mut label = self.paint.faint(&format!("{label:<LABEL$}"));
        for line in wrapped(text, WIDTH - LABEL) {
            self.lines.push(format!("{label}{line}"));
            label = " ".repeat(LABEL);
        }
    }

    /// The lines of all facts.
    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }
}

/// `text` wrapped at `width`; a set in braces stays on one line if it fits.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// The words of `text`; a set in braces is one word.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut inside = false;
    for letter in text.chars() {
        inside = letter == '{' || inside && letter != '}';
        match words.last_mut() {
            Some(word) if letter != ' ' || inside => word.push(letter),
            _ => words.push(String::new()),
        }
    }
    words
}

/// The first `shown` sets, and how many more there are.
pub fn first_sets(sets: &[SiteSet], shown: usize) -> String {
    let mut text: Vec<String> = sets.iter().take(shown).map(ToString::to_string).collect();
    if sets.len() > shown {
        text.push(format!("and {} more", sets.len() - shown));
    }
    text.join(" ")
}

/// A number with three significant digits, in scientific notation if it is small.
pub fn three_digits(number: f64) -> String {
    let powers = format!("{number:.2e}");
    // Rounded first, so that almost 0.1 becomes 0.100.
    let number: f64 = powers.parse().unwrap_or(number);
    if number == 0.0 {
        return "0".into();
    }
    if number < 1e-4 {
        return powers;
    }
    let places = [1e-3, 1e-2, 1e-1, 1.0].iter().position(|limit| number < *limit);
    let places = places.map_or(2, |at| 6 - at);
    format!("{number:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let numbers =
            [0.0, 8.909e-4, 0.00273, 1.0 - 0.9, 0.5556, 1.0, 2.667, 4.2e-7].map(three_digits);
        assert_eq!(
            numbers,
            ["0", "0.000891", "0.00273", "0.100", "0.556", "1.00", "2.67", "4.20e-7"]
        );
    }

    #[test]
    fn lines_break_between_words_and_sets() {
        assert_eq!(wrapped("{1 2 3} {4 5} is too long", 10), ["{1 2 3}", "{4 5} is", "too long"]);
        let mut facts = Facts::new(Paint::none());
        facts.add("load", "0.5");
        assert_eq!(facts.into_lines(), ["load         0.5"]);
    }
}

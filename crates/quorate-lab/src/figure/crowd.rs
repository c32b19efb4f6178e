//! Which places are taken by text.

use super::canvas::{Point, Side};
use super::text::{LINE, SIZE, text_width};

/// Room that stays free around text.
const GAP: f64 = 3.0;

/// A rectangle: left, upper, right and lower edge.
type Frame = [f64; 4];

/// Text that stands somewhere already.
#[derive(Debug, Default)]
pub(super) struct Crowd(Vec<Frame>);

impl Crowd {
    /// Whether `text` could stand there and touch nothing.
    pub(super) fn has_room(&self, text: &str, at: Point, side: Side) -> bool {
        let [left, upper, right, lower] = frame(text, at, side);
        let apart = |other: &Frame| {
            right + GAP <= other[0]
                || other[2] + GAP <= left
                || lower <= other[1]
                || other[3] <= upper
        };
        self.0.iter().all(apart)
    }

    /// Keeps the place of `text`.
    pub(super) fn take(&mut self, text: &str, at: Point, side: Side) {
        self.0.push(frame(text, at, side));
    }
}

fn frame(text: &str, (x, y): Point, side: Side) -> Frame {
    let width = text_width(text, SIZE);
    let left = match side {
        Side::Left => x - width,
        Side::Middle => x - width / 2.0,
        Side::Right => x,
    };
    [left, y - LINE / 2.0, left + width, y + LINE / 2.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_clear_of_text() {
        let mut crowd = Crowd::default();
        crowd.take("reply", (100.0, 50.0), Side::Middle);
        assert!(!crowd.has_room("request", (100.0, 55.0), Side::Middle));
        assert!(!crowd.has_room("request", (115.0, 50.0), Side::Right));
        assert!(crowd.has_room("request", (100.0, 66.0), Side::Middle));
        assert!(crowd.has_room("request", (125.0, 50.0), Side::Right));
        assert!(crowd.has_room("request", (75.0, 50.0), Side::Left));
    }
}

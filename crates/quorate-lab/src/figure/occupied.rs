//! The areas that are occupied by text.

use super::canvas::{Point, Side};
use super::text::{LINE, SIZE, text_width};

/// Room that stays free around text.
const GAP: f64 = 3.0;

/// A rectangle: left, upper, right and lower edge.
type Frame = [f64; 4];

/// The areas of texts that were placed already.
#[derive(Debug, Default)]
pub(super) struct OccupiedAreas(Vec<Frame>);

impl OccupiedAreas {
    /// Whether there is room for `text` at this point.
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

    /// Adds the area of `text`.
    pub(super) fn add(&mut self, text: &str, at: Point, side: Side) {
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
        let mut occupied = OccupiedAreas::default();
        occupied.add("reply", (100.0, 50.0), Side::Middle);
        assert!(!occupied.has_room("request", (100.0, 55.0), Side::Middle));
        assert!(!occupied.has_room("request", (115.0, 50.0), Side::Right));
        assert!(occupied.has_room("request", (100.0, 66.0), Side::Middle));
        assert!(occupied.has_room("request", (125.0, 50.0), Side::Right));
        assert!(occupied.has_room("request", (75.0, 50.0), Side::Left));
    }
}

//! The drawing surface: `plotters` draws, in pixels, into memory.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::text::SIZE;

/// A point, in pixels from the upper left.
pub(super) type Point = (f64, f64);

/// A colour and a width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ink {
    pub(super) colour: RGBColor,
    pub(super) width: u32,
    /// Its opacity.
    pub(super) cover: f64,
}

impl Ink {
    /// Thin and black, or light where the page is dark.
    pub(super) const THIN: Ink = Ink { colour: BLACK, width: 1, cover: 1.0 };
    /// For background lines.
    pub(super) const FAINT: Ink = Ink { cover: 0.18, ..Ink::THIN };

    /// A line of this colour.
    pub(super) fn new(colour: RGBColor, width: u32) -> Self {
        Self { colour, width, cover: 1.0 }
    }

    fn stroke(self) -> ShapeStyle {
        self.colour.mix(self.cover).stroke_width(self.width)
    }
}

/// The side of its point on which text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Middle,
    Right,
}

/// A surface to draw on.
pub(super) struct Canvas<'a>(DrawingArea<SVGBackend<'a>, Shift>);

/// The drawing that `draw` makes on a surface of this size, as an SVG element.
pub(super) fn drawn((width, height): Point, draw: impl FnOnce(&Canvas<'_>)) -> String {
    let mut text = String::new();
    let size = [width, height].map(|length| pixel(length.ceil()).unsigned_abs());
    let area = SVGBackend::with_string(&mut text, size.into()).into_drawing_area();
    let canvas = Canvas(area);
    draw(&canvas);
    must(canvas.0.present());
    drop(canvas);
    text
}

impl Canvas<'_> {
    /// Joins points.
    pub(super) fn path(&self, points: &[Point], ink: Ink) {
        must(self.0.draw(&PathElement::new(pixels(points), ink.stroke())));
    }

    /// Joins points with dashes.
    pub(super) fn dashes(&self, points: &[Point], ink: Ink) {
        must(self.0.draw(&DashedPathElement::new(pixels(points), 5, 4, ink.stroke())));
    }

    /// Joins points with dots.
    pub(super) fn dots(&self, points: &[Point], ink: Ink) {
        must(self.0.draw(&DashedPathElement::new(pixels(points), 1, 3, ink.stroke())));
    }

    /// Fills a polygon.
    pub(super) fn patch(&self, points: &[Point], ink: Ink) {
        must(self.0.draw(&Polygon::new(pixels(points), ink.colour.mix(ink.cover).filled())));
    }

    /// A disc.
    pub(super) fn disc(&self, at: Point, radius: u32, ink: Ink) {
        must(self.0.draw(&Circle::new(
            pixels(&[at])[0],
            radius,
            ink.colour.mix(ink.cover).filled(),
        )));
    }

    /// A ring.
    pub(super) fn ring(&self, at: Point, radius: u32, ink: Ink) {
        must(self.0.draw(&Circle::new(pixels(&[at])[0], radius, ink.stroke())));
    }

    /// Text at the height of a point.
    pub(super) fn text(&self, text: &str, at: Point, side: Side) {
        self.write(text, at, side, FontTransform::None);
    }

    /// Text around a point that is read upwards.
    pub(super) fn upward_text(&self, text: &str, at: Point) {
        self.write(text, at, Side::Middle, FontTransform::Rotate270);
    }

    fn write(&self, text: &str, at: Point, side: Side, turn: FontTransform) {
        let across = match side {
            Side::Left => HPos::Right,
            Side::Middle => HPos::Center,
            Side::Right => HPos::Left,
        };
        // The backend divides sizes by this.
        let font = ("sans-serif", SIZE * 1.24).into_font().transform(turn);
        let style = font.into_text_style(&self.0).pos(Pos::new(across, VPos::Center));
        must(self.0.draw(&Text::new(text, pixels(&[at])[0], style)));
    }
}

/// Drawing into memory never fails.
fn must<E: std::fmt::Debug>(done: Result<(), E>) {
    done.expect("drawing into memory never fails");
}

fn pixels(points: &[Point]) -> Vec<(i32, i32)> {
    points.iter().map(|(x, y)| (pixel(*x), pixel(*y))).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "figures are small")]
fn pixel(length: f64) -> i32 {
    length.round() as i32
}

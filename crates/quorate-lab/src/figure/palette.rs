//! Colours and markers of lines, distinguishable without colour vision.

use plotters::prelude::RGBColor;

use super::canvas::{Canvas, Ink, Point};
use crate::Plot;

// Colours that most people can distinguish, on white and on black (after Okabe and Ito).
pub(super) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(super) const ORANGE: RGBColor = RGBColor(213, 94, 0);
pub(super) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(super) const PURPLE: RGBColor = RGBColor(204, 121, 167);
const COLOURS: [RGBColor; 7] = [
    BLUE,
    ORANGE,
    GREEN,
    PURPLE,
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(128, 128, 128),
];

/// A shape around a point.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Filled between corners.
    Solid(&'static [Point]),
    /// Only its outline.
    Hollow(&'static [Point]),
    /// Two strokes.
    Strokes([[Point; 2]; 2]),
    Disc,
    Ring,
}

const SQUARE: &[Point] = &[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0), (-4.0, -4.0)];
const UP: &[Point] = &[(0.0, -5.0), (5.0, 4.0), (-5.0, 4.0), (0.0, -5.0)];
const DOWN: &[Point] = &[(0.0, 5.0), (5.0, -4.0), (-5.0, -4.0), (0.0, 5.0)];
const LOZENGE: &[Point] = &[(0.0, -6.0), (6.0, 0.0), (0.0, 6.0), (-6.0, 0.0), (0.0, -6.0)];
const CROSS: [[Point; 2]; 2] = [[(-4.0, -4.0), (4.0, 4.0)], [(-4.0, 4.0), (4.0, -4.0)]];
const PLUS: [[Point; 2]; 2] = [[(-5.0, 0.0), (5.0, 0.0)], [(0.0, -5.0), (0.0, 5.0)]];

/// Neighbours differ most; where points coincide, no shape hides the next.
const SHAPES: [Shape; 10] = [
    Shape::Disc,
    Shape::Hollow(SQUARE),
    Shape::Strokes(CROSS),
    Shape::Solid(UP),
    Shape::Hollow(LOZENGE),
    Shape::Strokes(PLUS),
    Shape::Solid(DOWN),
    Shape::Ring,
    Shape::Solid(SQUARE),
    Shape::Hollow(UP),
];

/// The colour and marker of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineStyle {
    pub(super) colour: RGBColor,
    shape: Shape,
}

impl LineStyle {
    /// Marks a point.
    pub(super) fn mark(self, canvas: &Canvas<'_>, (x, y): Point) {
        let ink = Ink::new(self.colour, 2);
        let around = |shape: &[Point]| -> Vec<Point> {
            shape.iter().map(|(right, down)| (x + right, y + down)).collect()
        };
        match self.shape {
            Shape::Solid(corners) => canvas.patch(&around(corners), ink),
            Shape::Hollow(corners) => canvas.path(&around(corners), ink),
            Shape::Strokes([one, other]) => {
                canvas.path(&around(&one), ink);
                canvas.path(&around(&other), ink);
            }
            Shape::Disc => canvas.disc((x, y), 4, ink),
            Shape::Ring => canvas.ring((x, y), 5, ink),
        }
    }
}

/// The styles of lines: a name has the same style in all plots that belong together.
#[derive(Clone, Debug, Default)]
pub struct Palette(Vec<String>);

impl Palette {
    /// Styles for all lines of these plots.
    pub fn of<'a>(plots: impl IntoIterator<Item = &'a Plot>) -> Self {
        let mut names: Vec<String> = Vec::new();
        for line in plots.into_iter().flat_map(|plot| &plot.lines) {
            if !names.contains(&line.label) {
                names.push(line.label.clone());
            }
        }
        Self(names)
    }

    /// The style of a name. A claim has the colour of the measurement of the same name.
    pub(super) fn style(&self, name: &str) -> LineStyle {
        let place = self.0.iter().position(|known| known == name).unwrap_or(self.0.len());
        LineStyle { colour: COLOURS[place % COLOURS.len()], shape: SHAPES[place % SHAPES.len()] }
    }
}

//! Plots, drawn.

use super::canvas::{Canvas, Ink, Point, Side, drawn};
use super::palette::Palette;
use super::scale::Scale;
use super::spread::spread;
use super::text::{LINE, SIZE, text_width, wrapped};
use crate::{Line, Plot};

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 330.0;
const TOP: f64 = 14.0;
/// Room for the name of an axis, beside or below its numbers.
const AXIS: f64 = 24.0;
/// Between a number of an axis and the plot.
const GAP: f64 = 8.0;
/// Between the plot and the names of its lines, where leaders run.
const LEADERS: f64 = 30.0;
/// A longer name is broken into lines.
const NAME_MAX: f64 = 140.0;
/// So many marks on a line are enough.
const MARKS_MAX: usize = 12;

impl Plot {
    /// The plot as an SVG element: each line has markers, and its name beside its end; claims are
    /// dashed. `None` if there is no point to show.
    pub fn svg(&self, palette: &Palette) -> Option<String> {
        let all = || self.lines.iter().flat_map(|line| &line.points);
        let x = Scale::of(&self.x, &all().map(|point| point.0).collect::<Vec<_>>(), false)?;
        let y = Scale::of(&self.y, &all().map(|point| point.1).collect::<Vec<_>>(), true)?;
        let names: Vec<Name> = self.lines.iter().map(Name::of).collect();
        let height = HEIGHT.max(names.iter().map(Name::height).sum::<f64>() + TOP + 2.0 * AXIS);
        let frame = Frame::around(x, y, &names, height);
        let drawing = Drawing { plot: self, palette, frame, names };
        Some(drawn((WIDTH, height), |canvas| drawing.draw(canvas)))
    }
}

/// The name of a line, in the lines of text beside it.
struct Name(Vec<String>);

impl Name {
    fn of(line: &Line) -> Self {
        let claimed = if line.claimed { ", claimed" } else { "" };
        Self(wrapped(&format!("{}{claimed}", line.label), NAME_MAX))
    }

    fn height(&self) -> f64 {
        self.0.len() as f64 * LINE + 2.0
    }

    fn width(&self) -> f64 {
        self.0.iter().map(|line| text_width(line, SIZE)).fold(0.0, f64::max)
    }
}

/// Where the axes are.
struct Frame {
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    bottom: f64,
}

impl Frame {
    /// As large as numbers and names leave it.
    fn around(x: Scale, y: Scale, names: &[Name], height: f64) -> Self {
        let numbers = y.ticks.iter().map(|at| text_width(&y.spelt(*at), SIZE)).fold(0.0, f64::max);
        let widest = names.iter().map(Name::width).fold(0.0, f64::max);
        let (left, right) = (AXIS + numbers + GAP, WIDTH - widest - LEADERS - 2.0);
        Self { x, y, left, right, bottom: height - 2.0 * AXIS }
    }

    fn across(&self, at: f64) -> f64 {
        self.left + share(&self.x, at) * (self.right - self.left)
    }

    fn down(&self, at: f64) -> f64 {
        self.bottom - share(&self.y, at) * (self.bottom - TOP)
    }

    fn point(&self, (x, y): (f64, f64)) -> Option<Point> {
        Some((self.across(self.x.place(x)?), self.down(self.y.place(y)?)))
    }
}

/// How far along a scale a place is, from 0 to 1.
fn share(scale: &Scale, at: f64) -> f64 {
    (at - scale.range.start) / (scale.range.end - scale.range.start)
}

struct Drawing<'a> {
    plot: &'a Plot,
    palette: &'a Palette,
    frame: Frame,
    names: Vec<Name>,
}

impl Drawing<'_> {
    fn draw(&self, canvas: &Canvas<'_>) {
        self.axes(canvas);
        self.labels(canvas);
        for line in &self.plot.lines {
            self.line(canvas, line);
        }
    }

    fn axes(&self, canvas: &Canvas<'_>) {
        let Frame { x, y, left, right, bottom, .. } = &self.frame;
        let (left, right, bottom) = (*left, *right, *bottom);
        for &at in &x.ticks {
            let across = self.frame.across(at);
            canvas.path(&[(across, TOP), (across, bottom)], Ink::FAINT);
            canvas.text(&x.spelt(at), (across, bottom + GAP + SIZE / 2.0), Side::Middle);
        }
        for &at in &y.ticks {
            let down = self.frame.down(at);
            canvas.path(&[(left, down), (right, down)], Ink::FAINT);
            canvas.text(&y.spelt(at), (left - GAP, down), Side::Left);
        }
        canvas.path(&[(left, TOP), (left, bottom), (right, bottom)], Ink::THIN);
        let below = bottom + AXIS + GAP + SIZE / 2.0;
        canvas.text(&self.plot.x.label, (f64::midpoint(left, right), below), Side::Middle);
        canvas.upward_text(&self.plot.y.label, (SIZE, f64::midpoint(TOP, bottom)));
    }

    /// The names of all lines, each level with the end of its line as far as there is room.
    fn labels(&self, canvas: &Canvas<'_>) {
        let ends: Vec<Point> = self.plot.lines.iter().map(|line| self.end(line)).collect();
        let heights: Vec<f64> = self.names.iter().map(Name::height).collect();
        let wanted: Vec<f64> = ends.iter().map(|end| end.1).collect();
        let levels = spread(&wanted, &heights, (0.0, self.frame.bottom + AXIS));
        let at = self.frame.right + LEADERS;
        for (place, line) in self.plot.lines.iter().enumerate() {
            let (style, level) = (self.palette.style(&line.label), levels[place]);
            canvas.dots(&[ends[place], (at - 18.0, level)], Ink::new(style.colour, 1));
            if line.claimed {
                canvas.dashes(&[(at - 18.0, level), (at - 4.0, level)], Ink::new(style.colour, 1));
            } else {
                style.mark(canvas, (at - 11.0, level));
            }
            let name = &self.names[place];
            let first = level - (name.0.len() as f64 - 1.0) * LINE / 2.0;
            for (row, text) in name.0.iter().enumerate() {
                canvas.text(text, (at, first + row as f64 * LINE), Side::Right);
            }
        }
    }

    fn points(&self, line: &Line) -> Vec<Point> {
        line.points.iter().filter_map(|point| self.frame.point(*point)).collect()
    }

    /// Where a line ends; one without a point, in the corner.
    fn end(&self, line: &Line) -> Point {
        self.points(line).pop().unwrap_or((self.frame.right, self.frame.bottom))
    }

    fn line(&self, canvas: &Canvas<'_>, line: &Line) {
        let (style, points) = (self.palette.style(&line.label), self.points(line));
        if line.claimed {
            return canvas.dashes(&points, Ink::new(style.colour, 1));
        }
        canvas.path(&points, Ink::new(style.colour, 2));
        let every = points.len().div_ceil(MARKS_MAX).max(1);
        for at in points.into_iter().step_by(every) {
            style.mark(canvas, at);
        }
    }
}

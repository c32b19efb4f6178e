//! Curves as SVG.

use std::ops::Range;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use crate::answer::Failure;

/// Colours that most eyes tell apart, on white and on black (after Okabe and Ito).
const COLOURS: [(u8, u8, u8); 7] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (128, 128, 128),
];
const SIZE: (u32, u32) = (820, 400);

/// What a plot shows.
pub(super) struct Plot<'a> {
    /// What stands at the vertical axis.
    pub(super) what: &'a str,
    /// Whether that axis goes in powers of ten.
    pub(super) powers: bool,
    /// The curves: number of sites and value; a kind keeps its place in all plots.
    pub(super) curves: Vec<Vec<(f64, f64)>>,
}

/// The colour and the mark of the curve at this place, for a legend.
pub(super) fn key(place: usize) -> (String, char) {
    let (red, green, blue) = COLOURS[place % COLOURS.len()];
    (format!("#{red:02X}{green:02X}{blue:02X}"), ['●', '▲', '✕'][mark(place)])
}

/// Kinds of one colour have different marks, and neighbours too: paper may have no colours.
fn mark(place: usize) -> usize {
    (place + place / COLOURS.len()) % 3
}

impl Plot<'_> {
    /// The plot as an SVG element.
    pub(super) fn svg(&self) -> Result<String, Failure> {
        let values = || self.curves.iter().flatten();
        let ends = |axis: fn(&(f64, f64)) -> f64| {
            values().map(axis).fold((f64::INFINITY, 0.0), |(least, most), value| {
                (f64::min(least, value), f64::max(most, value))
            })
        };
        let ((first, last), (least, most)) = (ends(|point| point.0), ends(|point| point.1));
        if !least.is_finite() {
            return Ok("<p>Nothing to draw.</p>".to_owned());
        }
        // One number of sites is no range.
        let sites = first - 0.5..last + 0.5;
        let mut text = String::new();
        let drawn = if self.powers {
            self.draw(&mut text, sites, (least / 1.5..most * 1.5).log_scale())
        } else {
            self.draw(&mut text, sites, 0.0..most * 1.08)
        };
        drawn.map_err(|error| Failure::Input(format!("the plot cannot be drawn: {error}")))?;
        Ok(text)
    }

    fn draw<Y>(&self, text: &mut String, sites: Range<f64>, height: Y) -> Result<(), String>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(70)
            .build_cartesian_2d(sites, height)
            .map_err(|error| said(&error))?;
        let number = |value: &f64| {
            // Steps of a tenth would show how binary fractions are rounded.
            let plain = (value * 1e3).round() / 1e3;
            if self.powers { format!("{value:.0e}") } else { format!("{plain}") }
        };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .x_desc("sites")
            .y_desc(self.what)
            .x_label_formatter(&|value| format!("{value:.0}"))
            .y_label_formatter(&number)
            .label_style(("sans-serif", 13))
            .draw()
            .map_err(|error| said(&error))?;
        for (place, curve) in self.curves.iter().enumerate() {
            let (red, green, blue) = COLOURS[place % COLOURS.len()];
            let colour = RGBColor(red, green, blue);
            let line = LineSeries::new(curve.iter().copied(), colour.stroke_width(2));
            chart.draw_series(line).map_err(|error| said(&error))?;
            let marks = curve.iter().copied().step_by((curve.len() / 12).max(1));
            let drawn = match mark(place) {
                0 => chart.draw_series(marks.map(|at| Circle::new(at, 4, colour.filled()))),
                1 => chart.draw_series(marks.map(|at| TriangleMarker::new(at, 6, colour.filled()))),
                _ => chart.draw_series(marks.map(|at| Cross::new(at, 4, colour.stroke_width(2)))),
            };
            drawn.map_err(|error| said(&error))?;
        }
        area.present().map_err(|error| said(&error))
    }
}

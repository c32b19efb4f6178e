//! Plots, as plain data.

/// Lines over a common pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Its title.
    pub title: String,
    /// Under which condition it was measured.
    pub condition: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is compared.
    pub lines: Vec<Line>,
}

/// An axis of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its quantity and unit.
    pub label: String,
    /// Whether it goes in powers of ten. All its values are positive then.
    pub powers: bool,
}

/// One line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub label: String,
    /// Whether it is a claim, not a measurement.
    pub claimed: bool,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Axis {
    /// An axis in equal steps.
    pub fn even(label: &str) -> Self {
        Self { label: label.to_owned(), powers: false }
    }

    /// An axis in powers of ten.
    pub fn powers(label: &str) -> Self {
        Self { label: label.to_owned(), powers: true }
    }
}

impl Plot {
    /// A plot without lines.
    pub fn new(title: &str, condition: &str, x: Axis, y: Axis) -> Self {
        Self { title: title.to_owned(), condition: condition.to_owned(), x, y, lines: Vec::new() }
    }

    /// Adds a point to the line of this name, which is begun if there is none.
    pub fn measured(&mut self, label: &str, x: f64, y: f64) {
        self.line(label, false).points.push((x, y));
    }

    /// Adds a point to a claimed line.
    pub fn claimed(&mut self, label: &str, x: f64, y: f64) {
        self.line(label, true).points.push((x, y));
    }

    fn line(&mut self, label: &str, claimed: bool) -> &mut Line {
        let known = |line: &Line| line.label == label && line.claimed == claimed;
        let at = self.lines.iter().position(known).unwrap_or_else(|| {
            self.lines.push(Line { label: label.to_owned(), claimed, points: Vec::new() });
            self.lines.len() - 1
        });
        &mut self.lines[at]
    }
}

//! Histories, drawn: sites side by side, time downwards.

use plotters::prelude::RGBColor;

use super::canvas::{Canvas, Ink, Point, Side, drawn};
use super::occupied::OccupiedAreas;
use super::palette::{BLUE, GREEN, ORANGE, PURPLE};
use super::text::{SIZE, text_width};
use crate::{Arrow, Delivery, Diagram, Interval, Moment, SiteState, Span};

const WIDTH: f64 = 520.0;
/// How far apart lines are at least; many sites make a wide diagram.
const LANE: f64 = 110.0;
/// Where the first line begins, below the names of the sites.
const TOP: f64 = 34.0;
const BOTTOM: f64 = 12.0;
/// Room for the time, and for the times that are marked.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 84.0;
/// How long a T is, if all names of messages find room; and at most.
const UNIT: f64 = 44.0;
const UNIT_MAX: f64 = 84.0;
/// The same for a step, where only the order counts.
const STEP: f64 = 20.0;
const STEP_MAX: f64 = 44.0;
/// Half the width of the bar of a caller that waits or is inside.
const BAR: f64 = 4.0;
/// The positions along an arrow for its name, the best first.
const PLACES: [f64; 9] = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82];

impl Diagram {
    /// The diagram as an SVG element. A solid bar is a caller inside, a hollow one a caller that
    /// waits; a site that is down has a dashed line; a cross ends what never arrives, and what was
    /// not seen again fades away.
    pub fn svg(&self) -> String {
        let (mut unit, most) = if self.timed { (UNIT, UNIT_MAX) } else { (STEP, STEP_MAX) };
        loop {
            let drawing = Drawing::of(self, unit);
            let all = drawing.names.iter().all(|name| name.at.is_some());
            if all || unit >= most {
                let height = TOP + self.end * unit + BOTTOM;
                return drawn((drawing.width, height), |canvas| drawing.draw(canvas));
            }
            unit += 8.0;
        }
    }
}

/// Messages that travel together, and the positions of their names, if there is room.
struct Name<'a> {
    arrow: &'a Arrow,
    text: String,
    at: Option<Point>,
}

struct Drawing<'a> {
    diagram: &'a Diagram,
    width: f64,
    unit: f64,
    names: Vec<Name<'a>>,
}

impl<'a> Drawing<'a> {
    fn of(diagram: &'a Diagram, unit: f64) -> Self {
        let gaps = diagram.sites.len().saturating_sub(1) as f64;
        let width = WIDTH.max(LEFT + gaps * LANE + RIGHT);
        let mut drawing = Self { diagram, width, unit, names: together(&diagram.arrows) };
        let mut occupied = OccupiedAreas::default();
        for moment in &diagram.moments {
            let (at, side) = drawing.moment(moment);
            occupied.add(&moment.what, at, side);
        }
        for span in &diagram.spans {
            let (from, until) = drawing.span(span);
            occupied.add(&span.label, (from.0 + 8.0, f64::midpoint(from.1, until.1)), Side::Right);
        }
        let mut names = std::mem::take(&mut drawing.names);
        for name in &mut names {
            let (from, to) = drawing.ends(name.arrow);
            let places = PLACES.map(|part| between(from, to, part));
            let has_room = |at: &&Point| occupied.has_room(&name.text, **at, Side::Middle);
            let is_clear = |at: &&Point| has_room(at) && drawing.is_clear(&name.text, at.0);
            name.at =
                places.iter().find(is_clear).or_else(|| places.iter().find(has_room)).copied();
            if let Some(at) = name.at {
                occupied.add(&name.text, at, Side::Middle);
            }
        }
        drawing.names = names;
        drawing
    }

    fn across(&self, site: usize) -> f64 {
        let gaps = self.diagram.sites.len().saturating_sub(1).max(1) as f64;
        LEFT + site as f64 * (self.width - LEFT - RIGHT) / gaps
    }

    /// Whether text around this place covers no line of a site.
    fn is_clear(&self, text: &str, across: f64) -> bool {
        let half = text_width(text, SIZE) / 2.0 + BAR;
        let sites = 0..self.diagram.sites.len();
        sites.map(|site| self.across(site)).all(|line| (line - across).abs() > half)
    }

    fn down(&self, at: f64) -> f64 {
        TOP + at * self.unit
    }

    /// From one line or the edge of its bar to another; what does not arrive ends on the way.
    fn ends(&self, arrow: &Arrow) -> (Point, Point) {
        let (from, to) = (self.across(arrow.from), self.across(arrow.to));
        let side = (to - from).signum();
        let start = from + side * self.edge(arrow.from, arrow.sent);
        let end = to - side * self.edge(arrow.to, arrow.arrives);
        let (start, end) = ((start, self.down(arrow.sent)), (end, self.down(arrow.arrives)));
        let end = match arrow.delivery {
            Delivery::Arrived => end,
            Delivery::Lost => between(start, end, 0.6),
            Delivery::InFlight => between(start, end, 0.4),
        };
        (start, end)
    }

    /// How far the line of a site reaches to either side.
    fn edge(&self, site: usize, at: f64) -> f64 {
        let barred = |interval: &Interval| {
            interval.site == site
                && interval.state != SiteState::Down
                && (interval.from..=interval.until).contains(&at)
        };
        if self.diagram.intervals.iter().any(barred) { BAR } else { 0.0 }
    }

    /// On the right, but for the last site and what would not fit there.
    fn moment(&self, moment: &Moment) -> (Point, Side) {
        let (across, down) = (self.across(moment.site), self.down(moment.at));
        let last = moment.site > 0 && moment.site + 1 == self.diagram.sites.len();
        if last || across + 16.0 + text_width(&moment.what, SIZE) > self.width {
            ((across - 12.0, down), Side::Left)
        } else {
            ((across + 12.0, down), Side::Right)
        }
    }

    fn span(&self, span: &Span) -> (Point, Point) {
        let across = self.width - RIGHT + 30.0;
        ((across, self.down(span.from)), (across, self.down(span.until)))
    }

    fn draw(&self, canvas: &Canvas<'_>) {
        self.clock(canvas);
        for site in 0..self.diagram.sites.len() {
            self.site(canvas, site);
        }
        for name in &self.names {
            self.arrow(canvas, name.arrow);
        }
        for moment in &self.diagram.moments {
            let (at, side) = self.moment(moment);
            cross(canvas, (self.across(moment.site), at.1), Ink { width: 2, ..Ink::THIN });
            canvas.text(&moment.what, at, side);
        }
        for span in &self.diagram.spans {
            self.mark(canvas, span);
        }
        for name in &self.names {
            if let Some(at) = name.at {
                canvas.text(&name.text, at, Side::Middle);
            }
        }
    }

    /// Each T has a line and a number.
    fn clock(&self, canvas: &Canvas<'_>) {
        if !self.diagram.timed {
            return;
        }
        let marks = (0..).map(f64::from).take_while(|at| *at <= self.diagram.end);
        for at in marks {
            let down = self.down(at);
            canvas.path(&[(LEFT - 34.0, down), (self.width - RIGHT + 34.0, down)], Ink::FAINT);
            let text = match at {
                0.0 => "0".to_owned(),
                1.0 => "T".to_owned(),
                _ => format!("{at}T"),
            };
            canvas.text(&text, (LEFT - 40.0, down), Side::Left);
        }
    }

    fn site(&self, canvas: &Canvas<'_>, site: usize) {
        let across = self.across(site);
        canvas.text(&self.diagram.sites[site], (across, SIZE), Side::Middle);
        let line = |from: f64, until: f64| [(across, self.down(from)), (across, self.down(until))];
        let mut intervals: Vec<&Interval> =
            self.diagram.intervals.iter().filter(|interval| interval.site == site).collect();
        intervals.sort_by(|one, other| one.from.total_cmp(&other.from));
        let mut idle = 0.0;
        for interval in intervals {
            if idle < interval.from {
                canvas.path(&line(idle, interval.from), Ink::THIN);
            }
            match interval.state {
                SiteState::Waiting => canvas.path(&self.bar(interval), Ink::THIN),
                SiteState::Inside => canvas.patch(&self.bar(interval), Ink::THIN),
                SiteState::Down => {
                    let faint = Ink { cover: 0.5, ..Ink::THIN };
                    canvas.dashes(&line(interval.from, interval.until), faint);
                }
            }
            idle = f64::max(idle, interval.until);
        }
        if idle < self.diagram.end {
            canvas.path(&line(idle, self.diagram.end), Ink::THIN);
        }
    }

    /// The corners of a bar, and the first again.
    fn bar(&self, interval: &Interval) -> [Point; 5] {
        let across = self.across(interval.site);
        let (left, right) = (across - BAR, across + BAR);
        let (upper, lower) = (self.down(interval.from), self.down(interval.until));
        [(left, upper), (right, upper), (right, lower), (left, lower), (left, upper)]
    }

    fn arrow(&self, canvas: &Canvas<'_>, arrow: &Arrow) {
        let (from, to) = self.ends(arrow);
        let ink = Ink::new(colour(arrow.kind), 1);
        match arrow.delivery {
            Delivery::InFlight => return canvas.dashes(&[from, to], ink),
            Delivery::Lost => cross(canvas, to, Ink { width: 2, ..ink }),
            Delivery::Arrived => head(canvas, from, to, ink),
        }
        canvas.path(&[from, to], ink);
    }

    fn mark(&self, canvas: &Canvas<'_>, span: &Span) {
        let ink = Ink::new(ORANGE, 2);
        let (from, until) = self.span(span);
        canvas.path(&[from, until], ink);
        for (across, down) in [from, until] {
            canvas.path(&[(across - 5.0, down), (across + 5.0, down)], ink);
        }
        let middle = f64::midpoint(from.1, until.1);
        canvas.text(&span.label, (from.0 + 8.0, middle), Side::Right);
    }
}

/// Messages that leave and arrive together share one arrow with all their names.
fn together(arrows: &[Arrow]) -> Vec<Name<'_>> {
    let mut names: Vec<Name<'_>> = Vec::new();
    for arrow in arrows {
        let same = |name: &&mut Name<'_>| {
            let Arrow { from, to, sent, arrives, delivery, .. } = name.arrow;
            (from, to, delivery) == (&arrow.from, &arrow.to, &arrow.delivery)
                && (sent, arrives) == (&arrow.sent, &arrow.arrives)
        };
        match names.iter_mut().find(same) {
            Some(name) => name.text = format!("{}, {}", name.text, arrow.kind),
            None => names.push(Name { arrow, text: arrow.kind.to_owned(), at: None }),
        }
    }
    names
}

/// The colour of a message: asking, granting, refusing, giving back. Its name says what it is.
fn colour(kind: &str) -> RGBColor {
    match kind {
        "request" | "prepare" => BLUE,
        "reply" | "locked" | "ok" | "token" | "start" | "enter" | "promise" => GREEN,
        "fail" | "failed" | "nack" | "cancel" | "inquire" => ORANGE,
        _ => PURPLE,
    }
}

/// The head of an arrow.
fn head(canvas: &Canvas<'_>, from: Point, to: Point, ink: Ink) {
    let (along, up) = (to.0 - from.0, to.1 - from.1);
    let length = along.hypot(up).max(1.0);
    let (along, up) = (along / length, up / length);
    let back = (to.0 - 9.0 * along, to.1 - 9.0 * up);
    let corner = |side: f64| (back.0 - side * 4.0 * up, back.1 + side * 4.0 * along);
    canvas.patch(&[to, corner(1.0), corner(-1.0)], ink);
}

fn cross(canvas: &Canvas<'_>, (x, y): Point, ink: Ink) {
    canvas.path(&[(x - 5.0, y - 5.0), (x + 5.0, y + 5.0)], ink);
    canvas.path(&[(x - 5.0, y + 5.0), (x + 5.0, y - 5.0)], ink);
}

fn between(from: Point, to: Point, part: f64) -> Point {
    (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
}

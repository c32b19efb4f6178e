//! Histories as pictures: sites side by side, messages as arrows from one to another.

mod recorder;

pub use self::recorder::{DiagramRecorder, StepRecorder};

/// A history, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagram {
    /// Its title.
    pub title: String,
    /// The condition of the run.
    pub condition: String,
    /// The names of the sites.
    pub sites: Vec<String>,
    /// Whether times are in T; otherwise only their order matters.
    pub timed: bool,
    /// When it ends.
    pub end: f64,
    /// The messages.
    pub arrows: Vec<Arrow>,
    /// The states of sites that are not idle.
    pub intervals: Vec<Interval>,
    /// Events at one site.
    pub moments: Vec<Moment>,
    /// Intervals to be marked.
    pub spans: Vec<Span>,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// The index of its sender.
    pub from: usize,
    /// The index of its receiver.
    pub to: usize,
    /// Its kind.
    pub kind: &'static str,
    /// When it was sent.
    pub sent: f64,
    /// When it arrives, or would have.
    pub arrives: f64,
    /// Whether it arrived.
    pub delivery: Delivery,
}

/// Whether a message arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It arrived.
    Arrived,
    /// It was lost.
    Lost,
    /// It had not arrived at the end.
    InFlight,
}

/// An interval that a site spends in one state.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The index of the site.
    pub site: usize,
    /// Its beginning.
    pub from: f64,
    /// Its end.
    pub until: f64,
    /// The state.
    pub state: SiteState,
}

/// The state of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteState {
    /// A caller waits.
    Waiting,
    /// A caller is inside.
    Inside,
    /// It does not run.
    Down,
}

/// An event at one site.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The index of the site.
    pub site: usize,
    /// The time.
    pub at: f64,
    /// Its description.
    pub what: String,
}

/// An interval to be marked.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Its beginning.
    pub from: f64,
    /// Its end.
    pub until: f64,
    /// What it is.
    pub label: String,
}

impl Diagram {
    /// The intervals in which a site is inside.
    pub fn inside(&self, site: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let inside = move |interval: &&Interval| {
            interval.site == site && interval.state == SiteState::Inside
        };
        self.intervals.iter().filter(inside).map(|interval| (interval.from, interval.until))
    }

    /// The most sites that are inside at one time.
    pub fn together(&self) -> usize {
        let inside = |at: f64| {
            let there = |interval: &&Interval| {
                interval.state == SiteState::Inside && (interval.from..interval.until).contains(&at)
            };
            self.intervals.iter().filter(there).count()
        };
        self.intervals.iter().map(|interval| inside(interval.from)).max().unwrap_or_default()
    }

    /// How many messages of these kinds were sent.
    pub fn messages(&self, kinds: &[&str]) -> usize {
        self.arrows.iter().filter(|arrow| kinds.contains(&arrow.kind)).count()
    }
}

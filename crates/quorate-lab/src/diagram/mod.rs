//! Histories as pictures: sites side by side, messages as arrows from one to another.

mod film;

pub use self::film::{Film, Steps};

/// A history, as data: how it looks is up to who shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagram {
    /// What it shows.
    pub title: String,
    /// Under which condition it happened.
    pub condition: String,
    /// The names of the sites.
    pub sites: Vec<String>,
    /// Whether moments are times in T; otherwise only their order counts.
    pub timed: bool,
    /// When it ends.
    pub end: f64,
    /// The messages.
    pub arrows: Vec<Arrow>,
    /// How sites stand, where they are not idle.
    pub stays: Vec<Stay>,
    /// What happens at a moment.
    pub moments: Vec<Moment>,
    /// Times to be marked.
    pub spans: Vec<Span>,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// The place of its sender.
    pub from: usize,
    /// The place of its receiver.
    pub to: usize,
    /// What it is.
    pub kind: &'static str,
    /// When it was sent.
    pub sent: f64,
    /// When it arrives, or would have.
    pub arrives: f64,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrived.
    Arrived,
    /// It never will.
    Lost,
    /// It was not seen again.
    UnderWay,
}

/// A time that a site spends in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Stay {
    /// The place of the site.
    pub site: usize,
    /// Its beginning.
    pub from: f64,
    /// Its end.
    pub until: f64,
    /// In which way.
    pub standing: Standing,
}

/// How a site stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A caller waits.
    Waits,
    /// A caller is inside.
    Inside,
    /// It does not run.
    Down,
}

/// Something that happens at one site.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The place of the site.
    pub site: usize,
    /// When.
    pub at: f64,
    /// What.
    pub what: String,
}

/// A time to be marked.
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
    /// When a site is inside, each time from when to when.
    pub fn inside(&self, site: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let inside = move |stay: &&Stay| stay.site == site && stay.standing == Standing::Inside;
        self.stays.iter().filter(inside).map(|stay| (stay.from, stay.until))
    }

    /// How many sites are inside at one time, at most.
    pub fn together(&self) -> usize {
        let inside = |at: f64| {
            let there = |stay: &&Stay| {
                stay.standing == Standing::Inside && (stay.from..stay.until).contains(&at)
            };
            self.stays.iter().filter(there).count()
        };
        self.stays.iter().map(|stay| inside(stay.from)).max().unwrap_or_default()
    }

    /// How many messages of these kinds were sent.
    pub fn messages(&self, kinds: &[&str]) -> usize {
        self.arrows.iter().filter(|arrow| kinds.contains(&arrow.kind)).count()
    }
}

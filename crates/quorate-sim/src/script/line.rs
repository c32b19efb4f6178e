//! A run as data, one line at a time.

use std::collections::BTreeMap;
use std::fmt;

use quorate_quorum::SiteId;

use crate::{Event, Observer};

/// One line of a run: a command of the script, or something that happened because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The command's line in the script, counted from 1.
    pub number: usize,
    /// How deep it is indented: 0 for the command itself, 1 for what it does, 2 for what follows
    /// from a message that arrives.
    pub depth: usize,
    /// A word for machines: `command`, `check`, or the kind of event.
    pub word: &'static str,
    /// The line without its indentation.
    pub text: String,
    /// The site where it happens.
    pub site: Option<SiteId>,
    /// For a message, the site at the other end.
    pub peer: Option<SiteId>,
    /// For a message, its kind.
    pub kind: Option<&'static str>,
}

impl Line {
    pub(super) fn of_event(number: usize, depth: usize, event: &Event<'_>) -> Self {
        let (peer, kind) = match event {
            Event::Sends { to: peer, message, .. }
            | Event::Receives { from: peer, message, .. } => (Some(*peer), Some(message.kind)),
            _ => (None, None),
        };
        let (word, text, site) = (event.word(), event.to_string(), Some(event.site()));
        Self { number, depth, word, text, site, peer, kind }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:width$}{}", "", self.text, width = 2 * self.depth)
    }
}

/// What was counted in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many messages of each kind were sent; those of a site to itself do not count.
    pub messages: BTreeMap<&'static str, u64>,
    /// How many claims were let in.
    pub served: u64,
}

impl Tally {
    /// How many messages were sent, of whatever kind.
    pub fn messages_total(&self) -> u64 {
        self.messages.values().sum()
    }
}

/// Counts all events, and keeps the lines that one command shows.
pub(super) struct Recorder<'a> {
    watch: &'a mut dyn Observer,
    pub(super) tally: Tally,
    pub(super) shown: Vec<Line>,
    number: usize,
    quietly: bool,
    /// Whether the events follow from a fault, whose line the script has instead.
    after_fault: bool,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(watch: &'a mut dyn Observer) -> Self {
        let (tally, shown) = (Tally::default(), Vec::new());
        Self { watch, tally, shown, number: 0, quietly: false, after_fault: false }
    }

    /// Gets ready for the command in line `number`.
    pub(super) fn begin(&mut self, number: usize, quietly: bool) {
        self.shown.clear();
        (self.number, self.quietly, self.after_fault) = (number, quietly, false);
    }
}

impl Observer for Recorder<'_> {
    fn see(&mut self, depth: usize, event: &Event<'_>) {
        self.watch.see(depth, event);
        match event {
            // The script says so itself.
            Event::Acquires(..) | Event::Releases(..) | Event::GivesUp(..) | Event::Arms(..) => {
                return;
            }
            Event::Suffers(_) => {
                self.after_fault = true;
                return;
            }
            Event::Sends { from, to, message } if from != to => {
                *self.tally.messages.entry(message.kind).or_default() += 1;
            }
            Event::Enters(..) => self.tally.served += 1,
            _ => {}
        }
        self.after_fault &= depth > 0;
        let depth = depth - usize::from(self.after_fault);
        if !self.quietly {
            self.shown.push(Line::of_event(self.number, depth + 1, event));
        } else if event.is_outcome() {
            self.shown.push(Line::of_event(self.number, 1, event));
        }
    }

    fn wants_estimates(&self) -> bool {
        !self.quietly
    }
}

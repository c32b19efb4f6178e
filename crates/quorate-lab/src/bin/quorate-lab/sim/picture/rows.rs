//! The events of a run as rows of a picture.

use std::collections::{BTreeMap, VecDeque};

use quorate_protocol::{ClaimId, Tick};
use quorate_quorum::SiteId;

use crate::sim::events::{Seen, What};

/// One row: an event, and the state of every site after it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The row in which the message was sent that arrives here.
    pub(super) sent_in: Option<usize>,
    pub(super) at: Tick,
    pub(super) lanes: Vec<Lane>,
    pub(super) mark: Mark,
    pub(super) text: String,
}

/// The state of a site's callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Idle,
    Waiting,
    Inside,
}

/// The addition of a row to the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A message of this kind arrives.
    Arrow { from: SiteId, to: SiteId, kind: &'static str },
    /// A lane begins to wait.
    Asks(SiteId),
    /// A lane is inside from here on.
    Enters(SiteId),
    /// A lane ends here.
    Ends(SiteId, Lane),
    /// Nothing.
    Remark,
}

/// The rows of a run on `n` sites. Messages of sites to themselves are left out unless `own`.
pub(super) fn rows(n: usize, events: &[Seen], own: bool) -> Vec<Row> {
    let mut drawing = Drawing {
        rows: Vec::new(),
        claims: vec![BTreeMap::new(); n],
        under_way: BTreeMap::new(),
        action: 0,
    };
    for seen in events {
        drawing.draw(seen, own);
    }
    drawing.rows
}

/// A picture that is being drawn.
struct Drawing {
    rows: Vec<Row>,
    /// The claims of each site that are not over.
    claims: Vec<BTreeMap<ClaimId, Lane>>,
    /// For each channel, the rows in which its messages were sent.
    under_way: BTreeMap<(SiteId, SiteId), VecDeque<usize>>,
    /// The row that began the present action.
    action: usize,
}

impl Drawing {
    fn draw(&mut self, seen: &Seen, own: bool) {
        match seen.what {
            What::Sends(from, to) => {
                self.under_way.entry((from, to)).or_default().push_back(self.action);
            }
            What::Receives(from, to, kind) => {
                let sent_in = self.under_way.get_mut(&(from, to)).and_then(VecDeque::pop_front);
                if from != to || own {
                    self.action = self.rows.len() + 1;
                    self.push(seen, sent_in, Mark::Arrow { from, to, kind });
                }
            }
            What::Acquires(site, claim) => {
                self.action = self.rows.len() + 1;
                self.claims[site.index()].insert(claim, Lane::Waiting);
                self.push(seen, None, Mark::Asks(site));
            }
            What::Enters(site, claim) => {
                self.claims[site.index()].insert(claim, Lane::Inside);
                self.push(seen, None, Mark::Enters(site));
            }
            What::Leaves(site, claim) => {
                if seen.depth == 0 {
                    self.action = self.rows.len() + 1;
                }
                let was = self.claims[site.index()].remove(&claim).unwrap_or(Lane::Idle);
                self.push(seen, None, Mark::Ends(site, was));
            }
            What::Ignores(_) => self.push(seen, None, Mark::Remark),
        }
    }

    fn push(&mut self, seen: &Seen, sent_in: Option<usize>, mark: Mark) {
        let lane = |claims: &BTreeMap<ClaimId, Lane>| {
            if claims.values().any(|lane| *lane == Lane::Inside) {
                Lane::Inside
            } else if claims.is_empty() {
                Lane::Idle
            } else {
                Lane::Waiting
            }
        };
        let lanes = self.claims.iter().map(lane).collect();
        self.rows.push(Row { sent_in, at: seen.at, lanes, mark, text: seen.text.clone() });
    }
}

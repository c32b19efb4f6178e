//! The space-time trace: sites side by side, time downwards, messages across.

mod lanes;
mod rows;

use quorate_quorum::{SiteId, SiteSet};

use self::lanes::{Glyphs, kind_style, lane_style, lanes};
use self::rows::{Lane, Mark, Row, rows};
use super::events::{Seen, in_t};
use crate::cluster::Cluster;
use quorate_terminal::paint::Paint;

/// With more sites than this there is no room for lanes.
const LANES_MAX: usize = 12;
/// How wide a picture may be.
const COLUMNS: usize = 100;

/// How a run is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picture<'a> {
    pub(super) cluster: &'a Cluster,
    /// Show messages of sites to themselves.
    pub(super) verbose: bool,
    pub(super) ascii: bool,
    pub(super) paint: Paint,
}

impl Picture<'_> {
    /// The run, one line per event.
    pub(super) fn draw(&self, events: &[Seen]) -> String {
        let n = self.cluster.n();
        let rows = rows(n, events, self.verbose);
        let mut text = Vec::new();
        if n <= LANES_MAX {
            text.extend(self.quorums());
            text.extend([self.legend(), String::new(), self.header()]);
            text.extend((1..).zip(&rows).map(|(number, row)| self.row(number, row)));
        } else {
            let plain = |row: &Row| format!("{:>10}  {}", in_t(row.at.0), self.words(row));
            text.extend(rows.iter().map(plain));
        }
        text.join("\n") + "\n"
    }

    fn glyphs(&self) -> Glyphs {
        if self.ascii { Glyphs::ASCII } else { Glyphs::BOX }
    }

    /// How far the lanes are apart.
    fn gap(&self) -> usize {
        match self.cluster.n() {
            0..=5 => 6,
            6..=8 => 4,
            _ => 3,
        }
    }

    /// The quorum of each site, if there is room.
    fn quorums(&self) -> Option<String> {
        let own = SiteId::all(self.cluster.n()).zip(&self.cluster.own);
        let quorum = |(site, own): (SiteId, &Option<SiteSet>)| {
            own.as_ref().map(|quorum| format!("{site} asks {quorum}"))
        };
        let text = own.filter_map(quorum).collect::<Vec<_>>().join("   ");
        (!text.is_empty() && text.len() <= COLUMNS).then(|| self.paint.faint(&text))
    }

    fn legend(&self) -> String {
        let Glyphs { idle, waiting, inside, line, right, sent_in, .. } = self.glyphs();
        let lane = |glyph: char, lane| self.paint.paint(lane_style(lane), &glyph.to_string());
        let lanes = [
            format!("{} idle", lane(idle, Lane::Idle)),
            format!("{} waiting", lane(waiting, Lane::Waiting)),
            format!("{} inside", lane(inside, Lane::Inside)),
        ];
        let lanes = lanes.join("   ");
        format!("{lanes}   {line}{line}{right} a message arrives; {sent_in}7: sent in row 7")
    }

    fn header(&self) -> String {
        let gap = self.gap();
        let sites = SiteId::all(self.cluster.n()).map(|site| site.to_string());
        let sites: Vec<_> = sites.map(|site| format!("{site:<gap$}")).collect();
        self.paint.strong(format!(" row      time    {}", sites.concat()).trim_end())
    }

    fn row(&self, number: usize, row: &Row) -> String {
        let sent_in = row.sent_in.map(|row| format!("{}{row}", self.glyphs().sent_in));
        let sent_in = self.paint.faint(&format!("{:>5}", sent_in.unwrap_or_default()));
        let number = self.paint.faint(&format!("{number:>4}"));
        let lanes = lanes(row, self.gap(), self.glyphs(), self.paint);
        let line =
            format!("{number} {:>9}    {lanes} {sent_in}  {}", in_t(row.at.0), self.words(row));
        line.trim_end().to_owned()
    }

    fn words(&self, row: &Row) -> String {
        let text = &row.text;
        match row.mark {
            Mark::Arrow { kind, .. } => match text.split_once(kind) {
                Some((before, after)) => {
                    format!("{before}{}{after}", self.paint.paint(kind_style(kind), kind))
                }
                None => text.clone(),
            },
            Mark::Asks(_) => self.paint.paint(lane_style(Lane::Waiting), text),
            Mark::Enters(_) => self.paint.paint(lane_style(Lane::Inside), text),
            Mark::Ends(..) => self.paint.strong(text),
            Mark::Remark => self.paint.faint(text),
        }
    }
}

//! One row of lanes: a column for each site, and arrows across them.

use owo_colors::Style;

use super::rows::{Lane, Mark, Row};
use quorate_terminal::paint::Paint;

/// The characters of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyphs {
    pub(super) idle: char,
    pub(super) waiting: char,
    pub(super) inside: char,
    pub(super) asks: char,
    pub(super) enters: char,
    pub(super) leaves: char,
    pub(super) gives_up: char,
    pub(super) line: char,
    pub(super) right: char,
    pub(super) left: char,
    /// An arrow that crosses a lane that waits, and one that is inside.
    pub(super) over_waiting: char,
    pub(super) over_inside: char,
    /// Stands before the number of the row in which a message was sent.
    pub(super) sent_in: char,
}

impl Glyphs {
    /// Lines that join.
    pub(super) const BOX: Glyphs = Glyphs {
        idle: '·',
        waiting: '┆',
        inside: '┃',
        asks: '╷',
        enters: '┳',
        leaves: '┻',
        gives_up: '╵',
        line: '─',
        right: '►',
        left: '◄',
        over_waiting: '┼',
        over_inside: '╂',
        sent_in: '‹',
    };

    /// For terminals and files without Unicode.
    pub(super) const ASCII: Glyphs = Glyphs {
        idle: '.',
        waiting: ':',
        inside: '#',
        asks: ':',
        enters: '#',
        leaves: '^',
        gives_up: '^',
        line: '-',
        right: '>',
        left: '<',
        over_waiting: '+',
        over_inside: '#',
        sent_in: '<',
    };

    fn lane(self, lane: Lane) -> char {
        match lane {
            Lane::Idle => self.idle,
            Lane::Waiting => self.waiting,
            Lane::Inside => self.inside,
        }
    }

    fn crossed(self, lane: Lane) -> char {
        match lane {
            Lane::Idle => self.line,
            Lane::Waiting => self.over_waiting,
            Lane::Inside => self.over_inside,
        }
    }
}

/// The colour of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ink {
    Lane(Lane),
    Arrow(&'static str),
}

/// The lanes of `row`, `gap` columns apart.
pub(super) fn lanes(row: &Row, gap: usize, glyphs: Glyphs, paint: Paint) -> String {
    let mut cells = vec![(' ', Ink::Lane(Lane::Idle)); (row.lanes.len() - 1) * gap + 1];
    for (site, lane) in row.lanes.iter().enumerate() {
        cells[site * gap] = (glyphs.lane(*lane), Ink::Lane(*lane));
    }
    match row.mark {
        Mark::Arrow { from, to, kind } if from != to => {
            let (start, end) = (from.index() * gap, to.index() * gap);
            draw_arrow(&mut cells, row, gap, (start, end), kind, glyphs);
        }
        Mark::Asks(site) => cells[site.index() * gap].0 = glyphs.asks,
        Mark::Enters(site) => cells[site.index() * gap].0 = glyphs.enters,
        Mark::Ends(site, was) => {
            let glyph = if was == Lane::Inside { glyphs.leaves } else { glyphs.gives_up };
            cells[site.index() * gap] = (glyph, Ink::Lane(was));
        }
        Mark::Arrow { .. } | Mark::Remark => {}
    }
    painted(&cells, paint)
}

/// Draws an arrow between two lanes; the lanes at both ends stay visible.
fn draw_arrow(
    cells: &mut [(char, Ink)],
    row: &Row,
    gap: usize,
    (start, end): (usize, usize),
    kind: &'static str,
    glyphs: Glyphs,
) {
    let (between, head) = if start < end {
        (start + 1..end, (end - 1, glyphs.right))
    } else {
        (end + 1..start, (end + 1, glyphs.left))
    };
    for place in between {
        let (site, in_lane) = (place / gap, place % gap == 0);
        let glyph = if in_lane { glyphs.crossed(row.lanes[site]) } else { glyphs.line };
        cells[place] = (glyph, Ink::Arrow(kind));
    }
    cells[head.0] = (head.1, Ink::Arrow(kind));
}

/// Colours neighbours of the same ink with one escape sequence.
fn painted(cells: &[(char, Ink)], paint: Paint) -> String {
    let strokes = cells.chunk_by(|one, next| one.1 == next.1);
    let stroke = |cells: &[(char, Ink)]| {
        let text: String = cells.iter().map(|(glyph, _)| glyph).collect();
        paint.paint(style(cells[0].1), &text)
    };
    strokes.map(stroke).collect()
}

fn style(ink: Ink) -> Style {
    match ink {
        Ink::Lane(lane) => lane_style(lane),
        Ink::Arrow(kind) => kind_style(kind),
    }
}

/// The colour of a lane.
pub(super) fn lane_style(lane: Lane) -> Style {
    match lane {
        Lane::Idle => Style::new().dimmed(),
        Lane::Waiting => Style::new().yellow(),
        Lane::Inside => Style::new().green().bold(),
    }
}

/// The colour of a message: asking, granting, refusing, giving back, and the rest.
pub(super) fn kind_style(kind: &str) -> Style {
    match kind {
        "request" => Style::new().cyan(),
        "reply" => Style::new().green(),
        "fail" => Style::new().red(),
        "release" | "cancel" => Style::new().blue(),
        _ => Style::new().magenta(),
    }
}

#[cfg(test)]
mod tests {
    use quorate_protocol::Tick;
    use quorate_quorum::SiteId;

    use super::*;

    fn drawn(mark: Mark, glyphs: Glyphs) -> String {
        let lanes_at = vec![Lane::Idle, Lane::Waiting, Lane::Inside, Lane::Idle];
        let row = Row { sent_in: None, at: Tick::ZERO, lanes: lanes_at, mark, text: String::new() };
        lanes(&row, 4, glyphs, Paint::none())
    }

    fn arrow(from: usize, to: usize) -> Mark {
        Mark::Arrow { from: SiteId::new(from), to: SiteId::new(to), kind: "reply" }
    }

    #[test]
    fn arrows_cross_the_lanes_between_their_ends() {
        assert_eq!(drawn(Mark::Remark, Glyphs::BOX), "·   ┆   ┃   ·");
        assert_eq!(drawn(arrow(0, 3), Glyphs::BOX), "·───┼───╂──►·");
        assert_eq!(drawn(arrow(3, 0), Glyphs::BOX), "·◄──┼───╂───·");
        assert_eq!(drawn(arrow(2, 1), Glyphs::BOX), "·   ┆◄──┃   ·");
        assert_eq!(drawn(arrow(0, 3), Glyphs::ASCII), ".---+---#-->.");
    }

    #[test]
    fn own_messages_draw_no_arrow() {
        assert_eq!(drawn(arrow(1, 1), Glyphs::BOX), drawn(Mark::Remark, Glyphs::BOX));
    }

    #[test]
    fn lanes_begin_and_end_with_a_mark() {
        assert_eq!(drawn(Mark::Asks(SiteId::new(1)), Glyphs::BOX), "·   ╷   ┃   ·");
        assert_eq!(drawn(Mark::Enters(SiteId::new(2)), Glyphs::BOX), "·   ┆   ┳   ·");
        assert_eq!(drawn(Mark::Ends(SiteId::new(0), Lane::Inside), Glyphs::BOX), "┻   ┆   ┃   ·");
        assert_eq!(drawn(Mark::Ends(SiteId::new(3), Lane::Waiting), Glyphs::BOX), "·   ┆   ┃   ╵");
    }
}

//! A quorum system drawn in the terminal, with one quorum marked.

use owo_colors::Style;
use quorate_quorum::{Shape, SiteId, SiteSet};

use quorate_terminal::paint::Paint;

const WIDTH: usize = 96;

/// Draws `shape`; the sites of `marked` are in brackets, and in colour on a terminal.
pub(super) fn drawn(shape: &Shape, marked: &SiteSet, paint: Paint) -> Vec<String> {
    let digits = shape.sites().iter().map(ToString::to_string).map(|site| site.len()).max();
    let renderer = Renderer { marked, paint, digits: digits.unwrap_or(1) };
    let block = renderer.block(shape);
    let block = match shape {
        Shape::Tree(..) if block.width > WIDTH => renderer.indented(shape),
        _ => block,
    };
    block.lines.into_iter().map(|line| format!("  {}", line.trim_end())).collect()
}

/// Lines of text, all of the same width on the screen.
struct Block {
    lines: Vec<String>,
    width: usize,
}

impl Block {
    fn beside(blocks: &[Block], gap: usize) -> Block {
        let height = blocks.iter().map(|block| block.lines.len()).max().unwrap_or_default();
        let blank = |block: &Block| " ".repeat(block.width);
        let line = |at: usize| {
            let part = |block: &Block| block.lines.get(at).cloned().unwrap_or_else(|| blank(block));
            blocks.iter().map(part).collect::<Vec<_>>().join(&" ".repeat(gap))
        };
        let gaps = gap * blocks.len().saturating_sub(1);
        let width = blocks.iter().map(|block| block.width).sum::<usize>() + gaps;
        Block { lines: (0..height).map(line).collect(), width }
    }

    fn above(blocks: Vec<Block>) -> Block {
        let width = blocks.iter().map(|block| block.width).max().unwrap_or_default();
        let padded = |block: Block| {
            let pad = " ".repeat(width - block.width);
            block.lines.into_iter().map(move |line| format!("{line}{pad}"))
        };
        Block { lines: blocks.into_iter().flat_map(padded).collect(), width }
    }

    /// The block, centred in `width`.
    fn centred(self, width: usize) -> Block {
        let (left, width) = (width.saturating_sub(self.width) / 2, width.max(self.width));
        let right = width - self.width - left;
        let pad = |line: String| format!("{}{line}{}", " ".repeat(left), " ".repeat(right));
        Block { lines: self.lines.into_iter().map(pad).collect(), width }
    }
}

struct Renderer<'a> {
    marked: &'a SiteSet,
    paint: Paint,
    digits: usize,
}

impl Renderer<'_> {
    fn block(&self, shape: &Shape) -> Block {
        match shape {
            Shape::Site(site) => self.site(*site),
            Shape::Group(parts) => self.wrapped(parts),
            Shape::Ring(parts) => self.ring(parts),
            Shape::Rows(rows) => {
                let row = |row: &Vec<Shape>| {
                    let cells: Vec<_> = row.iter().map(|part| self.cell(part)).collect();
                    Block::beside(&cells, 1)
                };
                Block::above(rows.iter().map(row).collect())
            }
            Shape::Tree(root, below) => self.tree(root, below),
        }
    }

    fn site(&self, site: SiteId) -> Block {
        let (width, name) = (self.digits, site.to_string());
        let cell = if self.marked.contains(site) {
            let text = format!("{:>1$}", format!("[{name}]"), width + 2);
            self.paint.paint(Style::new().green().bold(), &text)
        } else {
            format!("{name:>0$} ", width + 1)
        };
        Block { lines: vec![cell], width: width + 2 }
    }

    /// A site, or a part of several sites between bars.
    fn cell(&self, part: &Shape) -> Block {
        match part {
            Shape::Site(site) => self.site(*site),
            several => framed(self.block(several)),
        }
    }

    /// Parts side by side, in as many lines as needed.
    fn wrapped(&self, parts: &[Shape]) -> Block {
        let blocks = parts.iter().map(|part| self.cell(part));
        let mut lines: Vec<Vec<Block>> = vec![Vec::new()];
        let mut used = 0;
        for block in blocks {
            if used + block.width > WIDTH {
                lines.push(Vec::new());
                used = 0;
            }
            used += block.width + 1;
            lines.last_mut().expect("there is a line").push(block);
        }
        Block::above(lines.into_iter().map(|line| Block::beside(&line, 1)).collect())
    }

    /// Parts around a rectangle, clockwise from the upper left.
    fn ring(&self, parts: &[Shape]) -> Block {
        let n = parts.len();
        let blocks: Vec<Block> = parts.iter().map(|part| self.block(part)).collect();
        let cell = blocks.iter().map(|block| block.width).max().unwrap_or_default();
        let simple = blocks.iter().all(|block| block.lines.len() == 1);
        let across = n.div_ceil(3).max(2);
        if n < 4 || !simple || across * (cell + 1) > WIDTH {
            return self.wrapped(parts);
        }
        let down = (n - across.min(n)).saturating_sub(across).div_ceil(2) + 2;
        let mut cells = vec![vec![" ".repeat(cell); across]; down];
        for (place, block) in around(across, down).zip(blocks) {
            cells[place.0][place.1].clone_from(&block.lines[0]);
        }
        let lines = cells.into_iter().map(|row| row.join(" ")).collect();
        Block { lines, width: across * (cell + 1) - 1 }
    }

    fn tree(&self, root: &Shape, below: &[Shape]) -> Block {
        let blocks: Vec<Block> = below.iter().map(|part| self.block(part)).collect();
        let mut middles = Vec::new();
        let mut at = 0;
        for block in &blocks {
            middles.push(at + block.width / 2);
            at += block.width;
        }
        let children = Block::beside(&blocks, 0);
        let root = self.block(root).centred(children.width);
        let (first, last) = (middles.first().copied(), middles.last().copied());
        let (Some(first), Some(last)) = (first, last) else { return root };
        let stem = root.width / 2;
        let mark = |at: usize| match (middles.contains(&at), at == stem) {
            (true, true) if first == last => '|',
            (true, _) if at == first => '/',
            (true, _) if at == last => '\\',
            (_, true) => '^',
            (true, false) => '|',
            _ if (first..last).contains(&at) => '-',
            _ => ' ',
        };
        let line: String = (0..children.width).map(mark).collect();
        let width = children.width;
        Block::above(vec![root, Block { lines: vec![line], width }, children])
    }

    /// A tree too wide for the screen: a line for each part, children further right.
    fn indented(&self, shape: &Shape) -> Block {
        let Shape::Tree(root, below) = shape else { return self.block(shape) };
        let child = |part: &Shape| {
            let block = self.indented(part);
            let lines = block.lines.into_iter().map(|line| format!("    {line}")).collect();
            Block { lines, width: block.width + 4 }
        };
        Block::above(std::iter::once(self.block(root)).chain(below.iter().map(child)).collect())
    }
}

/// The block between bars.
fn framed(block: Block) -> Block {
    let lines = block.lines.into_iter().map(|line| format!("|{line}|")).collect();
    Block { lines, width: block.width + 2 }
}

/// The cells of a rectangle's edge, clockwise from the upper left.
fn around(across: usize, down: usize) -> impl Iterator<Item = (usize, usize)> {
    let top = (0..across).map(|at| (0, at));
    let right = (1..down - 1).map(move |at| (at, across - 1));
    let bottom = (0..across).rev().map(move |at| (down - 1, at));
    let left = (1..down - 1).rev().map(|at| (at, 0));
    top.chain(right).chain(bottom).chain(left)
}

#[cfg(test)]
mod tests {
    use quorate_quorum::{Kind, build};

    use super::*;

    fn picture(kind: Kind, n: usize) -> Vec<String> {
        let system = build(kind, n).unwrap();
        let own = system.pick_for(SiteId::new(0), &SiteSet::full(n)).unwrap();
        drawn(&system.shape(), &own, Paint::none())
    }

    #[test]
    fn a_grid_has_rows() {
        let rows = picture(Kind::Grid, 8);
        assert_eq!(rows, ["  [1] [2] [3]", "  [4]  5   6", "  [7]  8"]);
    }

    #[test]
    fn a_tree_has_its_root_on_top() {
        let lines = picture(Kind::Tree, 7);
        assert_eq!(lines.len(), 5, "{lines:#?}");
        assert!(lines[0].contains("[1]") && lines[1].contains("/-"), "{lines:#?}");
        assert!(lines[4].contains('4') && lines[4].contains('7'), "{lines:#?}");
        let wide = picture(Kind::Tree, 63);
        assert_eq!(wide.len(), 63, "one line for each site");
    }

    #[test]
    fn every_site_is_drawn_once_and_the_quorum_marked() {
        for kind in Kind::all() {
            for n in [1, 2, 3, 4, 5, 9, 12, 13, 31] {
                let text = picture(*kind, n).join("\n");
                let marked = text.matches('[').count();
                let own = build(*kind, n).unwrap();
                let own = own.pick_for(SiteId::new(0), &SiteSet::full(n)).unwrap();
                assert_eq!(marked, own.len(), "{kind} of {n}:\n{text}");
                let parts = text.split(|letter: char| !letter.is_ascii_digit());
                let mut sites: Vec<usize> = parts.filter_map(|part| part.parse().ok()).collect();
                sites.sort_unstable();
                assert_eq!(sites, (1..=n).collect::<Vec<_>>(), "{kind} of {n}:\n{text}");
            }
        }
    }
}

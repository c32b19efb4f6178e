//! The constructions by their definitions, as plain as can be: which sets contain a quorum.

use quorate_quorum::{Kind, SiteId, build};

/// Whether the sites of `mask` contain a quorum of `kind` over `n` sites, by definition.
pub(crate) fn contains_quorum(kind: Kind, n: usize, mask: u32) -> bool {
    let live: Vec<bool> = (0..n).map(|site| mask >> site & 1 == 1).collect();
    match kind {
        Kind::Majority => 2 * mask.count_ones() as usize > n,
        Kind::Weighted => votes(&live),
        Kind::Grid => grid(&live),
        Kind::Cover => {
            // As many rows as a grid has, the first of them longer by one if need be.
            let count = n.div_ceil(width(n));
            let long = n % count * n.div_ceil(count);
            let rows = live[..long].chunks(n.div_ceil(count));
            let rows: Vec<_> = rows.chain(live[long..].chunks(n / count)).collect();
            assert_eq!(rows.len(), count);
            rows.iter().all(|row| any(row)) && rows.iter().any(|row| all(row))
        }
        Kind::Plane => {
            let (points, line): (usize, &[usize]) =
                if n <= 7 { (7, &[0, 1, 3]) } else { (13, &[0, 1, 3, 9]) };
            let lies_in = |by: usize| line.iter().all(|at| live[(at + by) % points % n]);
            (0..points).any(lies_in)
        }
        Kind::Cyclic => {
            let block = build(kind, n).unwrap().quorums().next().unwrap();
            let block: Vec<_> = block.iter().map(SiteId::index).collect();
            (0..n).any(|by| block.iter().all(|at| live[(at + by) % n]))
        }
        Kind::Tree => tree(&live, 0),
        Kind::Hqc => match n {
            6 => most([votes(&live[..4]), live[4], live[5]]),
            7 => most([votes(&live[..3]), votes(&live[3..6]), live[6]]),
            8 => most([votes(&live[..4]), votes(&live[4..7]), live[7]]),
            9 => most([votes(&live[..3]), votes(&live[3..6]), votes(&live[6..])]),
            10 => most([votes(&live[..4]), votes(&live[4..7]), votes(&live[7..])]),
            11 => most([votes(&live[..5]), votes(&live[5..8]), votes(&live[8..])]),
            12 => most([votes(&live[..5]), votes(&live[5..9]), votes(&live[9..])]),
            _ => votes(&live),
        },
        Kind::GridSet if n < 3 => grid(&live),
        Kind::GridSet => {
            let [a, b] = [n.div_ceil(3), n.div_ceil(3) + (n - 1).div_ceil(3)];
            most([grid(&live[..a]), grid(&live[a..b]), grid(&live[b..])])
        }
        Kind::Rst => {
            // Groups of three; what is left over goes to the first ones.
            let groups = (n / 3).max(1);
            let size = |group: usize| n / groups + usize::from(group < n % groups);
            let mut rest = &live[..];
            let won = (0..groups).map(|group| {
                let (here, after) = rest.split_at(size(group));
                rest = after;
                votes(here)
            });
            grid(&won.collect::<Vec<_>>())
        }
        Kind::Triangle => wall(&live, TRIANGLES[n - 1]),
        Kind::CwLog => wall(&live, LOGARITHMS[n - 1]),
        Kind::Wheel => wall(&live, &if n == 1 { vec![1] } else { vec![1, n - 1] }),
        other => panic!("{other} has no twin"),
    }
}

/// The rows of a triangle for 1 to 12 sites.
const TRIANGLES: [&[usize]; 12] = [
    &[1],
    &[1, 1],
    &[1, 2],
    &[1, 3],
    &[1, 2, 2],
    &[1, 2, 3],
    &[1, 2, 4],
    &[1, 2, 2, 3],
    &[1, 2, 3, 3],
    &[1, 2, 3, 4],
    &[1, 2, 3, 5],
    &[1, 2, 4, 5],
];

/// The rows of a logarithmic wall for 1 to 12 sites.
const LOGARITHMS: [&[usize]; 12] = [
    &[1],
    &[1, 1],
    &[1, 2],
    &[1, 3],
    &[1, 2, 2],
    &[1, 2, 3],
    &[1, 3, 3],
    &[1, 2, 2, 3],
    &[1, 2, 2, 4],
    &[1, 2, 3, 4],
    &[1, 2, 2, 3, 3],
    &[1, 2, 2, 3, 4],
];

fn all(sites: &[bool]) -> bool {
    sites.iter().all(|live| *live)
}

fn any(sites: &[bool]) -> bool {
    sites.iter().any(|live| *live)
}

fn most(groups: [bool; 3]) -> bool {
    groups.iter().filter(|won| **won).count() >= 2
}

/// More than half of the votes, one each and two for the first site if they are even.
fn votes(sites: &[bool]) -> bool {
    let even = usize::from(sites.len().is_multiple_of(2));
    let won = sites.iter().filter(|live| **live).count() + even * usize::from(sites[0]);
    2 * won > sites.len() + even
}

/// The least number whose square is `n` or more.
fn width(n: usize) -> usize {
    (1..=n).find(|width| width * width >= n).unwrap()
}

/// A full row and a full column.
fn grid(sites: &[bool]) -> bool {
    let width = width(sites.len());
    let column = |at: usize| sites.iter().skip(at).step_by(width).all(|live| *live);
    sites.chunks(width).any(all) && (0..width).any(column)
}

/// A full row and a site of every row below.
fn wall(sites: &[bool], widths: &[usize]) -> bool {
    assert_eq!(widths.iter().sum::<usize>(), sites.len());
    let mut rest = sites;
    let rows: Vec<_> = widths
        .iter()
        .map(|width| {
            let (row, after) = rest.split_at(*width);
            rest = after;
            row
        })
        .collect();
    (0..rows.len()).any(|row| all(rows[row]) && rows[row + 1..].iter().all(|row| any(row)))
}

/// A heap: a leaf itself; an inner node with a quorum of one child, or a quorum of each child. With
/// an even number of sites above two the last one is the third child of the last inner node.
fn tree(sites: &[bool], node: usize) -> bool {
    let n = sites.len();
    let third = n.is_multiple_of(2) && n > 2;
    let heap = if third { n - 1 } else { n };
    let mut children: Vec<_> =
        [2 * node + 1, 2 * node + 2].into_iter().filter(|c| *c < heap).collect();
    if third && children.contains(&(heap - 1)) {
        children.push(n - 1);
    }
    let won: Vec<_> = children.iter().map(|child| tree(sites, *child)).collect();
    if won.is_empty() {
        return sites[node];
    }
    sites[node] && any(&won) || all(&won)
}

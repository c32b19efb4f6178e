//! Blocks of sites whose rotations are an (h,k)-arbiter.

use crate::PoolError;

/// The blocks for 1, 2, … of `k` units in a circle of `n` sites.
pub(super) fn blocks(n: usize, k: usize) -> Result<&'static [&'static [usize]], PoolError> {
    let (first, rows): (usize, &[&[&[usize]]]) = match k {
        2 => (2, &OF_TWO),
        3 => (2, &OF_THREE),
        _ => return Err(PoolError::NoBlocks { n, k, known: "k=1 to 3".to_owned() }),
    };
    let row = n.checked_sub(first).and_then(|place| rows.get(place));
    let last = first + rows.len() - 1;
    let known = || format!("k={k}: {first} to {last} sites");
    row.copied().ok_or_else(|| PoolError::NoBlocks { n, k, known: known() })
}

// Found by exhaustive search: the smallest block for 1 unit, then with it that for all
// units, then those between. Each row is the first such choice; one row for each n from 2 on.

const OF_TWO: [&[&[usize]]; 15] = [
    &[&[0, 1], &[0, 1]],
    &[&[0, 1, 2], &[0, 1]],
    &[&[0, 1, 2], &[0, 1, 2]],
    &[&[0, 1, 2, 3], &[0, 1, 2]],
    &[&[0, 1, 2, 4], &[0, 1, 3]],
    &[&[0, 1, 2, 3, 4], &[0, 1, 3]],
    &[&[0, 1, 2, 3, 5], &[0, 1, 2, 4]],
    &[&[0, 1, 2, 3, 4, 6], &[0, 1, 2, 4]],
    &[&[0, 1, 2, 3, 4, 6], &[0, 1, 2, 5]],
    &[&[0, 1, 2, 4, 5, 7], &[0, 1, 2, 5]],
    &[&[0, 1, 2, 3, 4, 5, 8], &[0, 1, 3, 7]],
    &[&[0, 1, 2, 3, 4, 6, 9], &[0, 1, 3, 9]],
    &[&[0, 1, 2, 3, 4, 5, 6, 9], &[0, 1, 2, 3, 7]],
    &[&[0, 1, 2, 4, 5, 8, 10], &[0, 1, 2, 4, 7]],
    &[&[0, 1, 2, 3, 4, 7, 10, 12], &[0, 1, 2, 5, 8]],
];

const OF_THREE: [&[&[usize]]; 12] = [
    &[&[0, 1], &[0, 1], &[0, 1]],
    &[&[0, 1, 2], &[0, 1], &[0, 1]],
    &[&[0, 1, 2, 3], &[0, 1, 2], &[0, 1, 2]],
    &[&[0, 1, 2, 3], &[0, 1, 2], &[0, 1, 2]],
    &[&[0, 1, 2, 3, 4], &[0, 1, 3], &[0, 1, 3]],
    &[&[0, 1, 2, 3, 4, 5], &[0, 1, 3], &[0, 1, 3]],
    &[&[0, 1, 2, 3, 4, 5, 6], &[0, 1, 2, 4], &[0, 1, 2, 4]],
    &[&[0, 1, 2, 3, 4, 5, 6], &[0, 1, 2, 4], &[0, 1, 2, 4]],
    &[&[0, 1, 2, 3, 5, 6, 7], &[0, 1, 3, 5], &[0, 1, 3, 5]],
    &[&[0, 1, 2, 3, 4, 5, 6, 8], &[0, 1, 3, 7], &[0, 1, 3, 7]],
    &[&[0, 1, 2, 3, 4, 5, 6, 7, 9], &[0, 1, 3, 7], &[0, 1, 3, 7]],
    &[&[0, 1, 2, 3, 4, 5, 6, 7, 9], &[0, 1, 3, 6, 9], &[0, 1, 3, 9]],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critical_patterns;

    /// The set of sites as bits, turned by each number of places.
    fn rotations(block: u32, n: usize) -> Vec<u32> {
        let all = (1 << n) - 1;
        (0..n).map(|by| (block << by | block >> (n - by)) & all).collect()
    }

    fn minimal(mut sets: Vec<u32>) -> Vec<u32> {
        sets.sort_unstable_by_key(|set| set.count_ones());
        let mut kept: Vec<u32> = Vec::new();
        for set in sets {
            if !kept.iter().any(|other| other & set == *other) {
                kept.push(set);
            }
        }
        kept
    }

    /// What rotations of the blocks chosen so far leave for a request of `h` units to hit: the
    /// smallest intersections over all critical patterns with one `h` taken out.
    fn to_hit(n: usize, chosen: &[Option<u32>], h: usize) -> Option<Vec<u32>> {
        let mut all = Vec::new();
        for mut pattern in critical_patterns(chosen.len()) {
            let Some(place) = pattern.iter().position(|other| *other == h) else { continue };
            pattern.remove(place);
            let Some(blocks) =
                pattern.iter().map(|other| chosen[other - 1]).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            let mut common = vec![(1 << n) - 1];
            for block in blocks {
                let turned = rotations(block, n);
                common =
                    common.iter().flat_map(|set| turned.iter().map(move |t| set & t)).collect();
                common = minimal(common);
            }
            all.extend(common);
        }
        let all = minimal(all);
        (!all.contains(&0)).then_some(all)
    }

    /// The blocks of `size` sites with 0 among them that fit those chosen.
    fn fitting(n: usize, chosen: &[Option<u32>], h: usize, size: u32) -> Vec<u32> {
        let candidates = (1..1 << n).step_by(2).filter(|block: &u32| block.count_ones() == size);
        let fits = |block: &u32| {
            let mut with = chosen.to_vec();
            with[h - 1] = Some(*block);
            to_hit(n, &with, h).is_some_and(|sets| sets.iter().all(|set| set & block != 0))
        };
        candidates.filter(fits).collect()
    }

    fn bits(block: &[usize]) -> u32 {
        block.iter().map(|at| 1 << at).sum()
    }

    #[test]
    fn blocks_fit_each_other_and_cannot_be_smaller() {
        for (k, most) in [(2, 13), (3, 10)] {
            for n in 2..=most {
                let known = blocks(n, k).unwrap();
                let mut chosen = vec![None; k];
                for h in [1].into_iter().chain((2..=k).rev()) {
                    let block = bits(known[h - 1]);
                    let fitting_now = fitting(n, &chosen, h, block.count_ones());
                    assert!(fitting_now.contains(&block), "n={n} k={k} h={h}");
                    let smaller = fitting(n, &chosen, h, block.count_ones() - 1);
                    assert_eq!(smaller, [0; 0], "n={n} k={k} h={h}");
                    chosen[h - 1] = Some(block);
                }
            }
        }
    }
}

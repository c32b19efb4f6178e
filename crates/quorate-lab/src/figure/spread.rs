//! Labels beside each other without overlap.

/// Moves `wanted` middles apart, so that blocks of these heights do not overlap between `top` and
/// `bottom`, keeping their order and moving each as little as a pass in either direction needs.
/// The blocks must fit.
pub(super) fn spread(wanted: &[f64], heights: &[f64], (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|one, other| wanted[*one].total_cmp(&wanted[*other]).then(one.cmp(other)));
    let mut middles = wanted.to_vec();
    let mut free = top;
    for &at in &order {
        middles[at] = middles[at].max(free + heights[at] / 2.0);
        free = middles[at] + heights[at] / 2.0;
    }
    let mut free = bottom;
    for &at in order.iter().rev() {
        middles[at] = middles[at].min(free - heights[at] / 2.0);
        free = middles[at] - heights[at] / 2.0;
    }
    centre_runs(&order, wanted, heights, &mut middles, (top, bottom));
    middles
}

/// Blocks that touch hang below the first; moves them all so that they lie around what they want.
fn centre_runs(
    order: &[usize],
    wanted: &[f64],
    heights: &[f64],
    middles: &mut [f64],
    (top, bottom): (f64, f64),
) {
    let upper = |middles: &[f64], at: usize| middles[at] - heights[at] / 2.0;
    let lower = |middles: &[f64], at: usize| middles[at] + heights[at] / 2.0;
    let mut start = 0;
    while start < order.len() {
        let mut end = start + 1;
        while end < order.len()
            && upper(middles, order[end]) - lower(middles, order[end - 1]) < 1e-6
        {
            end += 1;
        }
        let run = &order[start..end];
        let above = if start == 0 { top } else { lower(middles, order[start - 1]) };
        let below = order.get(end).map_or(bottom, |&next| upper(middles, next));
        let off: f64 = run.iter().map(|&at| wanted[at] - middles[at]).sum();
        let (first, last) = (run[0], run[run.len() - 1]);
        let least = above - upper(middles, first);
        let most = below - lower(middles, last);
        let shift = (off / run.len() as f64).clamp(least.min(0.0), most.max(0.0));
        for &at in run {
            middles[at] += shift;
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(middles: &[f64], height: f64) -> bool {
        let mut sorted = middles.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.windows(2).all(|pair| pair[1] - pair[0] >= height - 1e-6)
    }

    #[test]
    fn blocks_do_not_overlap_and_stay_between_the_ends() {
        for wanted in [vec![50.0; 8], vec![0.0; 8], vec![100.0; 8], vec![10.0, 12.0, 90.0, 91.0]] {
            let heights = vec![10.0; wanted.len()];
            let middles = spread(&wanted, &heights, (0.0, 100.0));
            assert!(apart(&middles, 10.0), "{middles:?}");
            assert!(middles.iter().all(|at| (5.0..=95.0).contains(at)), "{middles:?}");
        }
    }

    #[test]
    fn labels_with_room_stay_and_others_spread_around_their_place() {
        let middles = spread(&[20.0, 50.0, 50.0], &[10.0; 3], (0.0, 100.0));
        assert_eq!(middles, [20.0, 45.0, 55.0]);
    }
}

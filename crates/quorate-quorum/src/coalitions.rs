//! Sets of sites with enough votes: all of them, and how likely one is up.

use crate::{SiteId, SiteSet};

/// The probability that `need` votes are up, given each site's votes and its probability.
pub(crate) fn reach(need: usize, sites: impl IntoIterator<Item = (usize, f64)>) -> f64 {
    let mut exactly = vec![0.0; need];
    exactly[0] = 1.0;
    let mut reached = 0.0;
    for (votes, up) in sites.into_iter().filter(|(votes, _)| *votes > 0) {
        reached += up * exactly[need.saturating_sub(votes)..].iter().sum::<f64>();
        for sum in (0..need).rev() {
            let before = if sum >= votes { exactly[sum - votes] } else { 0.0 };
            exactly[sum] = exactly[sum] * (1.0 - up) + before * up;
        }
    }
    reached.min(1.0) // sums of rounded terms may exceed it a little
}

/// All minimal winning sets: each site in the order of falling votes is taken or not, until the
/// last one taken wins. It has the fewest votes of all members, so none can be spared.
pub(crate) struct Coalitions {
    /// Sites with a vote, the most first.
    order: Vec<(SiteId, usize)>,
    /// The votes from each place of `order` to its end.
    after: Vec<usize>,
    need: usize,
    taken: Vec<usize>,
    sum: usize,
    next: usize,
}

impl Coalitions {
    pub(crate) fn new(votes: &[usize], need: usize) -> Self {
        let mut order: Vec<_> = SiteId::all(votes.len()).zip(votes.iter().copied()).collect();
        order.retain(|(_, votes)| *votes > 0);
        order.sort_by_key(|(site, votes)| (std::cmp::Reverse(*votes), *site));
        let mut after = vec![0; order.len() + 1];
        for place in (0..order.len()).rev() {
            after[place] = after[place + 1] + order[place].1;
        }
        Self { need, order, after, taken: Vec::new(), sum: 0, next: 0 }
    }

    fn untake(&mut self) -> Option<()> {
        let last = self.taken.pop()?;
        self.sum -= self.order[last].1;
        self.next = last + 1;
        Some(())
    }
}

impl Iterator for Coalitions {
    type Item = SiteSet;

    fn next(&mut self) -> Option<SiteSet> {
        loop {
            if self.sum + self.after[self.next] < self.need {
                self.untake()?;
                continue;
            }
            self.taken.push(self.next);
            self.sum += self.order[self.next].1;
            self.next += 1;
            if self.sum >= self.need {
                let quorum = self.taken.iter().map(|place| self.order[*place].0).collect();
                self.untake()?;
                return Some(quorum);
            }
        }
    }
}

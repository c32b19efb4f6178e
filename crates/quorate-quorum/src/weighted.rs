//! Weighted voting: more than half of the votes.

use crate::measure::{self, LoadBounds, ratio};
use crate::price::{Prices, from_site, nearest};
use crate::{QuorumError, QuorumSystem, SiteId, SiteSet, check_sites};

/// The most votes that all sites may have together, so that exact answers stay within reach.
pub const VOTES_MAX: usize = 1 << 17;

/// Sites that together have more than half of all votes (Gifford 1979).
///
/// A site without a vote is allowed, and never needed.
///
/// ```
/// use quorate_quorum::{QuorumSystem, Weighted};
/// let system = Weighted::new(&[2, 1, 1, 1])?;
/// let quorums: Vec<_> = system.quorums().map(|quorum| quorum.to_string()).collect();
/// assert_eq!(quorums, ["{1 2}", "{1 3}", "{1 4}", "{2 3 4}"]);
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    votes: Vec<usize>,
    /// The least sum of votes that is more than half.
    need: usize,
}

impl Weighted {
    /// Voting in which the site at place i has `votes[i]`.
    ///
    /// # Errors
    ///
    /// No sites or too many, no votes at all, or more than [`VOTES_MAX`] together.
    pub fn new(votes: &[u32]) -> Result<Self, QuorumError> {
        check_sites(votes.len())?;
        let total: u64 = votes.iter().map(|votes| u64::from(*votes)).sum();
        match usize::try_from(total) {
            Ok(0) => Err(QuorumError::NoVotes),
            Ok(total) if total <= VOTES_MAX => {
                let votes = votes.iter().map(|votes| *votes as usize).collect();
                Ok(Self { votes, need: total / 2 + 1 })
            }
            _ => Err(QuorumError::TooManyVotes(total)),
        }
    }

    /// One vote each, and for even `n` two for the first site, so that no tie is possible.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn without_ties(n: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        let mut votes = vec![1; n];
        if n.is_multiple_of(2) {
            votes[0] = 2;
        }
        Self::new(&votes)
    }

    fn votes(&self, site: SiteId) -> usize {
        self.votes.get(site.index()).copied().unwrap_or(0)
    }

    fn total(&self) -> usize {
        self.votes.iter().sum()
    }

    /// The votes of all sites, the most first.
    fn descending(&self) -> Vec<usize> {
        let mut votes = self.votes.clone();
        votes.sort_unstable_by(|a, b| b.cmp(a));
        votes
    }

    /// Takes sites of `order` until they win, then drops from the end whom the others can spare;
    /// never `keep`.
    fn gather(
        &self,
        order: impl IntoIterator<Item = SiteId>,
        keep: Option<SiteId>,
    ) -> Option<SiteSet> {
        let (mut taken, mut sum) = (Vec::new(), 0);
        for site in order {
            if sum >= self.need {
                break;
            }
            taken.push(site);
            sum += self.votes(site);
        }
        if sum < self.need {
            return None;
        }
        let mut quorum: SiteSet = taken.iter().copied().collect();
        for site in taken.into_iter().rev().filter(|site| Some(*site) != keep) {
            if sum - self.votes(site) >= self.need {
                sum -= self.votes(site);
                quorum.remove(site);
            }
        }
        Some(quorum)
    }
}

impl QuorumSystem for Weighted {
    fn name(&self) -> String {
        format!("weighted of {}, {} votes", self.n(), self.total())
    }

    fn n(&self) -> usize {
        self.votes.len()
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        set.iter().map(|site| self.votes(site)).sum::<usize>() >= self.need
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        Box::new(Coalitions::new(&self.votes, self.need))
    }

    fn min_size(&self) -> usize {
        let mut sum = 0;
        let short = self.descending().into_iter().take_while(|votes| {
            let short = sum < self.need;
            sum += votes;
            short
        });
        short.count()
    }

    /// The most members of a quorum that can spare none.
    ///
    /// Of such a quorum take the member with the fewest votes; the others have just too few. For
    /// each candidate the table tells how many sites with no fewer votes can have each such sum.
    fn max_size(&self) -> usize {
        let mut most: Vec<Option<usize>> = vec![None; self.need];
        most[0] = Some(0);
        let mut best = 0;
        for votes in self.descending().into_iter().filter(|votes| *votes > 0) {
            let just_short = &most[self.need.saturating_sub(votes)..];
            best = best.max(just_short.iter().flatten().max().map_or(0, |others| others + 1));
            for sum in (votes..self.need).rev() {
                most[sum] = most[sum].max(most[sum - votes].map(|others| others + 1));
            }
        }
        best
    }

    /// Preferred sites first until they win, then without those that became superfluous.
    ///
    /// So no quorum lies among earlier sites of `prefer`, and none inside the one returned; a sum
    /// of places below this one is possible where votes differ.
    fn pick(&self, live: &SiteSet, prefer: &[SiteId]) -> Option<SiteSet> {
        self.gather(Prices::new(self.n(), live, prefer).cheapest(), None)
    }

    /// `site` and those that follow it in a circle, until they win.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n() {
            return None;
        }
        let own = self.gather(from_site(site, self.n()), Some(site));
        nearest(self, site, own.expect("all sites together win"), live)
    }

    fn resilience(&self) -> Result<usize, QuorumError> {
        let mut left = self.total();
        let spared = self.descending().into_iter().take_while(|votes| {
            left -= votes;
            left >= self.need
        });
        Ok(spared.count())
    }

    fn availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n(), up)?;
        Ok(reach(self.need, self.votes.iter().copied().zip(up.iter().copied())))
    }

    /// Sites weighed by their votes show that the load is at least the winning share.
    fn load_bounds(&self) -> LoadBounds {
        let LoadBounds { lower, upper } = measure::load_by_size(self);
        LoadBounds { lower: lower.max(ratio(self.need, self.total())), upper }
    }
}

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

//! Weighted voting: more than half of the votes.

use fixedbitset::FixedBitSet;

use crate::coalitions::{Coalitions, reach};
use crate::measure::{self, LoadBounds, ratio};
use crate::price::{by_distance, from_site};
use crate::{Prices, QuorumError, QuorumSystem, Reads, SiteId, SiteSet, check_sites};

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
    /// The votes that win: more than half.
    need: usize,
    /// The votes that are enough to read: as many as meet every winner.
    read: usize,
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
                let need = total / 2 + 1;
                Ok(Self { votes, need, read: total + 1 - need })
            }
            _ => Err(QuorumError::TooManyVotes(total)),
        }
    }

    /// Voting in which `write` votes win and `read` are enough to read: fewer for readers, if more
    /// for writers.
    ///
    /// ```
    /// use quorate_quorum::{QuorumSystem, Reads, Weighted};
    /// let system = Weighted::with_reads(&[1; 5], 2, 4)?;
    /// assert_eq!((system.read_size(), system.min_size()), (2, 4));
    ///
    /// let error = Weighted::with_reads(&[1; 5], 2, 3).unwrap_err().to_string();
    /// assert_eq!(error, "2 of 5 votes cannot be what reads if 3 write: take 3 to 5");
    /// # Ok::<(), quorate_quorum::QuorumError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), or `write` is not above half or above all votes, or `read` does
    /// not meet every `write` or is above all votes.
    pub fn with_reads(votes: &[u32], read: usize, write: usize) -> Result<Self, QuorumError> {
        let plain = Self::new(votes)?;
        let total = plain.total();
        let (least_read, least_write) = (total + 1 - write.min(total), plain.need);
        if !(least_write..=total).contains(&write) {
            return Err(QuorumError::BadWrite { write, least: least_write, total });
        }
        if !(least_read..=total).contains(&read) {
            return Err(QuorumError::BadRead { read, write, least: least_read, total });
        }
        Ok(Self { need: write, read, ..plain })
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

    /// The fewest sites that together have `need` votes.
    fn fewest(&self, need: usize) -> usize {
        let mut sum = 0;
        let short = self.descending().into_iter().take_while(|votes| {
            let short = sum < need;
            sum += votes;
            short
        });
        short.count()
    }

    /// The cheapest of `sites`, each with its cost, that together have `need` votes.
    fn win(
        &self,
        need: usize,
        sites: impl Iterator<Item = (SiteId, u64)>,
    ) -> Option<(u64, SiteSet)> {
        // The least cost of each sum, where all above `need` count as that; and for each site in
        // which sums it was taken last.
        let mut best: Vec<Option<u64>> = vec![None; need + 1];
        best[0] = Some(0);
        let mut taken: Vec<(SiteId, FixedBitSet)> = Vec::new();
        for (site, cost) in sites.filter(|(site, _)| self.votes(*site) > 0) {
            let mut sums = FixedBitSet::with_capacity(need + 1);
            for sum in (1..=need).rev() {
                let with = best[sum.saturating_sub(self.votes(site))].map(|before| before + cost);
                if with.is_some_and(|with| best[sum].is_none_or(|without| with < without)) {
                    best[sum] = with;
                    sums.insert(sum);
                }
            }
            taken.push((site, sums));
        }
        let (cost, mut sum, mut members) = (best[need]?, need, SiteSet::new());
        for (site, sums) in taken.into_iter().rev() {
            if sums.contains(sum) {
                members.insert(site);
                sum = sum.saturating_sub(self.votes(site));
            }
        }
        Some((cost, members))
    }

    /// Takes sites of `order` until they win, then drops dispensable ones from the end, but never
    /// `keep`.
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
        self.fewest(self.need)
    }

    /// The most members of a quorum that can spare none.
    ///
    /// Of such a quorum take the member with the fewest votes; the others have just too few. For
    /// each candidate the table has how many sites with no fewer votes can have each such sum.
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
        let prices = Prices::by_preference(self.n(), live, prefer);
        self.gather(prices.sorted(SiteId::all(self.n())), None)
    }

    /// Exactly the cheapest, other than [`pick`](Self::pick): it weighs all sums of votes, which
    /// takes time in proportion to sites times votes.
    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let live = SiteId::all(self.n()).filter_map(|site| Some((site, prices.of(site)?)));
        Some(self.win(self.need, live)?.1)
    }

    /// `site` and those that follow it in a circle, until they win.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n() {
            return None;
        }
        let own = self.gather(from_site(site, self.n()), Some(site));
        let own = own.expect("all sites together win");
        if own.is_subset(live) {
            return Some(own);
        }
        self.gather(by_distance(self.n(), site, &own, live), None)
    }

    fn resilience(&self) -> Result<usize, QuorumError> {
        let mut left = self.total();
        let spared = self.descending().into_iter().take_while(|votes| {
            left -= votes;
            left >= self.need
        });
        Ok(spared.count())
    }

    /// The rest must no longer win.
    fn transversal(&self, costs: &[u64]) -> Result<u64, QuorumError> {
        let all = SiteId::all(self.n()).zip(costs.iter().copied());
        let stopped = self.win(self.total() - self.need + 1, all);
        Ok(stopped.expect("all sites together are enough").0)
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

impl Reads for Weighted {
    fn is_read_quorum(&self, set: &SiteSet) -> bool {
        set.iter().map(|site| self.votes(site)).sum::<usize>() >= self.read
    }

    fn read_quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        Box::new(Coalitions::new(&self.votes, self.read))
    }

    fn read_size(&self) -> usize {
        self.fewest(self.read)
    }

    fn pick_read(&self, prices: &Prices) -> Option<SiteSet> {
        let live = SiteId::all(self.n()).filter_map(|site| Some((site, prices.of(site)?)));
        Some(self.win(self.read, live)?.1)
    }

    fn read_availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n(), up)?;
        Ok(reach(self.read, self.votes.iter().copied().zip(up.iter().copied())))
    }
}

//! Measures of any quorum system, by search; constructions with a formula override them.

use fixedbitset::FixedBitSet;

use crate::{QuorumError, QuorumSystem, SiteId, SiteSet};

/// How far the exact searches below go.
const SITES_BRANCHED_MAX: usize = 24;
const QUORUMS_HIT_MAX: usize = 20_000;
const WORK_MAX: usize = 200_000_000;

/// Two numbers between which the load of a quorum system lies.
///
/// The load is the share of accesses that reach the busiest site when quorums are chosen as
/// cleverly as possible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadBounds {
    /// No choice of quorums does better.
    pub lower: f64,
    /// Some choice of quorums does as well as this.
    pub upper: f64,
}

impl LoadBounds {
    /// The load is known.
    pub(crate) fn exactly(load: f64) -> Self {
        Self { lower: load, upper: load }
    }
}

/// `part / whole` of counts of sites or votes, all of which are far below 2^32.
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    let small = |count| u32::try_from(count).expect("counts of sites are below 2^32");
    f64::from(small(part)) / f64::from(small(whole))
}

/// Refuses anything but one probability for each of `n` sites.
pub(crate) fn check_probabilities(n: usize, up: &[f64]) -> Result<(), QuorumError> {
    if up.len() != n {
        return Err(QuorumError::UpLength { given: up.len(), n });
    }
    match up.iter().position(|up| !(0.0..=1.0).contains(up)) {
        Some(at) => Err(QuorumError::NotAProbability { site: SiteId::new(at), up: up[at] }),
        None => Ok(()),
    }
}

/// Lower: a smallest quorum of c sites gives max(1/c, c/N). Upper: every site uses its own quorum
/// equally often.
pub(crate) fn load_by_size<S: QuorumSystem + ?Sized>(system: &S) -> LoadBounds {
    let (n, least) = (system.n(), system.min_size());
    let all = SiteSet::full(n);
    let mut uses = vec![0; n];
    let mut owners = 0;
    for quorum in SiteId::all(n).filter_map(|site| system.pick_for(site, &all)) {
        owners += 1;
        for site in quorum.iter() {
            uses[site.index()] += 1;
        }
    }
    let busiest = uses.into_iter().max().unwrap_or(0);
    LoadBounds {
        lower: ratio(1, least).max(ratio(least, n)),
        upper: if owners == 0 { 1.0 } else { ratio(busiest, owners) },
    }
}

/// The probability of a live quorum, deciding one site after the other until the rest no longer
/// matters.
pub(crate) fn availability_by_branching<S: QuorumSystem + ?Sized>(
    system: &S,
    up: &[f64],
) -> Result<f64, QuorumError> {
    check_probabilities(system.n(), up)?;
    if system.n() > SITES_BRANCHED_MAX {
        return Err(QuorumError::TooLarge {
            what: "the availability of this construction",
            limit: format!("up to {SITES_BRANCHED_MAX} sites"),
        });
    }
    let (mut decided, mut possible) = (SiteSet::new(), SiteSet::full(system.n()));
    Ok(branch(system, up, 0, &mut decided, &mut possible))
}

/// The probability of a live quorum when the sites before `at` are up just if in `decided`, and
/// `possible` adds those that may still be up.
fn branch<S: QuorumSystem + ?Sized>(
    system: &S,
    up: &[f64],
    at: usize,
    decided: &mut SiteSet,
    possible: &mut SiteSet,
) -> f64 {
    if system.is_quorum(decided) {
        return 1.0;
    }
    if !system.is_quorum(possible) {
        return 0.0;
    }
    let site = SiteId::new(at);
    decided.insert(site);
    let with = branch(system, up, at + 1, decided, possible);
    decided.remove(site);
    possible.remove(site);
    let without = branch(system, up, at + 1, decided, possible);
    possible.insert(site);
    up[at] * with + (1.0 - up[at]) * without
}

/// What the cheapest sites cost that together hit every quorum.
pub(crate) fn transversal_by_search<S: QuorumSystem + ?Sized>(
    system: &S,
    costs: &[u64],
) -> Result<u64, QuorumError> {
    let quorums: Vec<_> = system.quorums().take(QUORUMS_HIT_MAX + 1).collect();
    if quorums.len() > QUORUMS_HIT_MAX {
        return Err(too_many());
    }
    let mut search = Transversals::new(&quorums, costs);
    let mut unhit = FixedBitSet::with_capacity(quorums.len());
    unhit.insert_range(..);
    // A quorum hits all others, so the search ends at the cheapest quorum.
    for budget in 1.. {
        if search.hit_all(&unhit, budget)? {
            return Ok(budget);
        }
    }
    unreachable!("any quorum meets all quorums")
}

fn too_many() -> QuorumError {
    QuorumError::TooLarge {
        what: "the resilience of this construction",
        limit: format!(
            "up to {QUORUMS_HIT_MAX} quorums, and while the search for a set that hits all is short"
        ),
    }
}

/// The search for a cheap set that hits all quorums.
struct Transversals<'a> {
    costs: &'a [u64],
    /// The members of each quorum.
    members: Vec<Vec<usize>>,
    /// The quorums that each site hits.
    hits: Vec<FixedBitSet>,
    /// The words of bits looked at so far.
    work: usize,
}

impl<'a> Transversals<'a> {
    fn new(quorums: &[SiteSet], costs: &'a [u64]) -> Self {
        let mut hits = vec![FixedBitSet::with_capacity(quorums.len()); costs.len()];
        for (at, quorum) in quorums.iter().enumerate() {
            for site in quorum.iter() {
                hits[site.index()].insert(at);
            }
        }
        let members = quorums.iter().map(|q| q.iter().map(SiteId::index).collect()).collect();
        Self { costs, members, hits, work: 0 }
    }

    /// Whether sites within `budget` can hit all of `unhit`.
    fn hit_all(&mut self, unhit: &FixedBitSet, budget: u64) -> Result<bool, QuorumError> {
        let Some(first) = unhit.ones().next() else {
            return Ok(true);
        };
        self.work += self.hits.len() * (1 + unhit.len() / 64);
        if self.work > WORK_MAX {
            return Err(too_many());
        }
        // Even if all sites hit as many for their cost as the best, the budget has to suffice.
        let left = unhit.count_ones(..) as u64;
        let mut rates = self.costs.iter().zip(&self.hits);
        if !rates.any(|(cost, hits)| {
            budget * hits.intersection_count(unhit) as u64 >= left.saturating_mul(*cost)
        }) {
            return Ok(false);
        }
        for member in 0..self.members[first].len() {
            let site = self.members[first][member];
            let Some(rest) = budget.checked_sub(self.costs[site]) else { continue };
            let mut left = unhit.clone();
            left.difference_with(&self.hits[site]);
            if self.hit_all(&left, rest)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

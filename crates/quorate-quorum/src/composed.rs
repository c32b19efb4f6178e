//! Composition: a whole quorum system in the place of each site of another.

use std::iter::once;
use std::ops::Range;
use std::sync::Arc;

use crate::measure::{self, LoadBounds};
use crate::{Prices, QuorumError, QuorumSystem, Shape, SiteId, SiteSet, check_sites};

/// A quorum system whose sites are groups, each with a quorum system of its own.
///
/// A quorum is a quorum of groups, with a quorum inside each of them. Two such quorums have a group
/// in common and meet inside it. All measures follow from those of the two levels; the quorums of a
/// group are never listed to pick one.
///
/// ```
/// use std::sync::Arc;
/// use quorate_quorum::{Composed, Kind, QuorumSystem, build};
/// let racks = build(Kind::Plane, 7)?;
/// let system = Composed::new("racks", racks, vec![build(Kind::Majority, 3)?; 7])?;
/// assert_eq!((system.n(), system.min_size(), system.resilience()?), (21, 6, 5));
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Composed {
    name: &'static str,
    outer: Arc<dyn QuorumSystem>,
    groups: Vec<Arc<dyn QuorumSystem>>,
    /// The first site of each group, and the number of sites.
    first: Vec<usize>,
}

impl Composed {
    /// The system `outer` of `groups`, whose sites are numbered one group after the other.
    ///
    /// # Errors
    ///
    /// There is not one group for each site of `outer`, or there are too many sites.
    pub fn new(
        name: &'static str,
        outer: Arc<dyn QuorumSystem>,
        groups: Vec<Arc<dyn QuorumSystem>>,
    ) -> Result<Self, QuorumError> {
        if groups.len() != outer.n() {
            return Err(QuorumError::OtherGroups { given: groups.len(), needed: outer.n() });
        }
        let ends = groups.iter().scan(0, |end, group| {
            *end += group.n();
            Some(*end)
        });
        let first: Vec<_> = once(0).chain(ends).collect();
        check_sites(first[groups.len()])?;
        Ok(Self { name, outer, groups, first })
    }

    fn sites(&self, group: usize) -> Range<usize> {
        self.first[group]..self.first[group + 1]
    }

    fn group_of(&self, site: SiteId) -> usize {
        self.first.partition_point(|first| *first <= site.index()) - 1
    }

    /// Sites of a group, as the group numbers them.
    fn inside(&self, group: usize, set: &SiteSet) -> SiteSet {
        let sites = self.sites(group);
        if set.contains_range(sites.clone()) {
            return SiteSet::full(sites.len());
        }
        let inside = sites.enumerate().filter(|(_, at)| set.contains(SiteId::new(*at)));
        inside.map(|(place, _)| SiteId::new(place)).collect()
    }

    /// The groups inside which `set` has a quorum.
    fn won(&self, set: &SiteSet) -> SiteSet {
        let won = |group: &SiteId| {
            let group = group.index();
            set.contains_range(self.sites(group))
                || self.groups[group].is_quorum(&self.inside(group, set))
        };
        SiteId::all(self.groups.len()).filter(won).collect()
    }

    /// Sites of a group, as the cluster numbers them.
    fn outside<'a>(
        &self,
        group: usize,
        set: &'a SiteSet,
    ) -> impl Iterator<Item = SiteId> + use<'a> {
        let first = self.first[group];
        set.iter().map(move |site| SiteId::new(first + site.index()))
    }

    /// The groups, each with the values of its sites.
    fn groups_with<'a, T>(
        &'a self,
        values: &'a [T],
    ) -> impl Iterator<Item = (&'a Arc<dyn QuorumSystem>, &'a [T])> {
        self.groups.iter().enumerate().map(|(at, group)| (group, &values[self.sites(at)]))
    }

    /// `so_far` with a quorum inside each of `groups`.
    fn of_each(
        &self,
        mut groups: Vec<SiteId>,
        so_far: SiteSet,
    ) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        let Some(group) = groups.pop().map(SiteId::index) else {
            return Box::new(once(so_far));
        };
        Box::new(self.groups[group].quorums().flat_map(move |quorum| {
            let more = so_far.iter().chain(self.outside(group, &quorum)).collect();
            self.of_each(groups.clone(), more)
        }))
    }
}

impl QuorumSystem for Composed {
    fn name(&self) -> String {
        format!("{} of {}", self.name, self.n())
    }

    fn n(&self) -> usize {
        self.first[self.groups.len()]
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        self.outer.is_quorum(&self.won(set))
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        let groups = self.outer.quorums();
        Box::new(groups.flat_map(|groups| self.of_each(groups.iter().collect(), SiteSet::new())))
    }

    fn min_size(&self) -> usize {
        let all = Prices::of_all(&vec![1; self.n()]);
        self.cheapest(&all).expect("all sites are live").len()
    }

    fn max_size(&self) -> usize {
        let heaviest = self.heaviest(&vec![1; self.n()]);
        usize::try_from(heaviest).expect("at most all sites")
    }

    /// Solves each group, then chooses among those that have a solution.
    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let solve = |group: usize| {
            let prices = prices.part(self.sites(group));
            let quorum = self.groups[group].cheapest(&prices)?;
            Some((prices.total(quorum.iter())?, quorum))
        };
        let solved: Vec<_> = (0..self.groups.len()).map(solve).collect();
        let price = |solved: &Option<(u64, SiteSet)>| solved.as_ref().map(|(price, _)| *price);
        let chosen = self.outer.cheapest(&Prices::of_groups(solved.iter().map(price)))?;
        let members = chosen.iter().flat_map(|group| {
            let group = group.index();
            let quorum = solved[group].as_ref().map(|(_, quorum)| self.outside(group, quorum));
            quorum.into_iter().flatten()
        });
        Some(members.collect())
    }

    /// The quorum of groups that the site's group picks among those that can win, and in each of
    /// these the quorum that the site in its place picks. So a failure inside a group changes
    /// nothing elsewhere.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n() {
            return None;
        }
        let home = self.group_of(site);
        let place = site.index() - self.first[home];
        let groups = self.outer.pick_for(SiteId::new(home), &self.won(live))?;
        let mut picked = SiteSet::new();
        for group in groups.iter().map(SiteId::index) {
            let place = SiteId::new(place % self.groups[group].n());
            let quorum = self.groups[group].pick_for(place, &self.inside(group, live))?;
            for member in self.outside(group, &quorum) {
                picked.insert(member);
            }
        }
        Some(picked)
    }

    fn transversal(&self, costs: &[u64]) -> Result<u64, QuorumError> {
        let groups = self.groups_with(costs).map(|(group, costs)| group.transversal(costs));
        self.outer.transversal(&groups.collect::<Result<Vec<_>, _>>()?)
    }

    fn heaviest(&self, weights: &[u64]) -> u64 {
        let groups = self.groups_with(weights).map(|(group, weights)| group.heaviest(weights));
        let groups: Vec<_> = groups.collect();
        if groups.iter().all(|weight| *weight == groups[0]) {
            return groups[0] * self.outer.max_size() as u64;
        }
        self.outer.heaviest(&groups)
    }

    fn availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n(), up)?;
        let groups = self.groups_with(up).map(|(group, up)| group.availability(up));
        self.outer.availability(&groups.collect::<Result<Vec<_>, _>>()?)
    }

    /// The loads of the two levels multiply, and with groups that are alike nothing does better:
    /// the busiest group has the load of the outer system, and its busiest site that share of it.
    fn load_bounds(&self) -> LoadBounds {
        let (outer, size) = (self.outer.load_bounds(), measure::load_by_size(self));
        let inner: Vec<_> = self.groups.iter().map(|group| group.load_bounds()).collect();
        let least = inner.iter().map(|load| load.lower).fold(1.0, f64::min);
        let most = inner.iter().map(|load| load.upper).fold(0.0, f64::max);
        LoadBounds {
            lower: (outer.lower * least).max(size.lower),
            upper: (outer.upper * most).min(size.upper),
        }
    }

    fn shape(&self) -> Shape {
        self.outer.shape().map(&|group| {
            let first = self.first[group.index()];
            let shift = |site: SiteId| Shape::Site(SiteId::new(first + site.index()));
            self.groups[group.index()].shape().map(&shift)
        })
    }
}

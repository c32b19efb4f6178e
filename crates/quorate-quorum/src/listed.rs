//! Listed quorums, one for each site.

use crate::price::nearest;
use crate::{Prices, QuorumError, QuorumSystem, SiteId, SiteSet, check_sites};

/// An explicit quorum for each site; one that has none is only an arbiter.
///
/// This is the form behind quorum files and scripts ([`str::parse`] reads it, see [`QuorumLine`]),
/// and the only one that may be wrong: it is refused unless all quorums meet. A site's own quorum
/// is the set as it was given, whether or not the site is in it, and whether or not it could be
/// smaller.
///
/// ```
/// use quorate_quorum::{Listed, QuorumSystem};
/// let system: Listed = "quorum 1: 1 2\nquorum 2: 2 3\nquorum 3: 3 1".parse()?;
/// assert_eq!(system.resilience()?, 1);
///
/// let refused = "quorum 1: 1 2\nquorum 3: 3 4".parse::<Listed>();
/// let error = refused.unwrap_err().to_string();
/// assert_eq!(error, "{1 2} of site 1 and {3 4} of site 3 do not meet");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
///
/// [`QuorumLine`]: crate::QuorumLine
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    own: Vec<Option<SiteSet>>,
    minimal: Vec<SiteSet>,
}

impl Listed {
    /// The system in which the site at place i uses `own[i]`.
    ///
    /// Only sets that are listed are ever picked, so it is enough that these meet.
    ///
    /// # Errors
    ///
    /// No sites or too many, no quorum at all, an empty one, one with a member beyond the end of
    /// `own`, or two that do not meet.
    pub fn new(own: Vec<Option<SiteSet>>) -> Result<Self, QuorumError> {
        let n = own.len();
        check_sites(n)?;
        let listed =
            || SiteId::all(n).zip(&own).filter_map(|(site, set)| Some((site, set.as_ref()?)));
        for (site, quorum) in listed() {
            match quorum.iter().last() {
                None => return Err(QuorumError::EmptyQuorum(site)),
                Some(last) if last.index() >= n => {
                    return Err(QuorumError::UnknownSite { site: last, n });
                }
                Some(_) => {}
            }
        }
        check_meets(listed())?;
        let minimal = minimal(listed().map(|(_, quorum)| quorum));
        if minimal.is_empty() {
            return Err(QuorumError::NoQuorum);
        }
        Ok(Self { own, minimal })
    }

    /// The system of these quorums, which are known to meet, spread over `n` sites.
    ///
    /// Each site gets one with itself in it, or any if there is none: of those that the fewest
    /// sites have got so far the smallest.
    pub(crate) fn spread(n: usize, sets: &[SiteSet]) -> Self {
        let minimal = minimal(sets);
        let sizes: Vec<_> = minimal.iter().map(SiteSet::len).collect();
        let mut uses = vec![0; minimal.len()];
        let own = SiteId::all(n).map(|site| {
            let rank = |at: &usize| (!minimal[*at].contains(site), uses[*at], sizes[*at]);
            let best = (0..minimal.len()).min_by_key(rank)?;
            uses[best] += 1;
            Some(minimal[best].clone())
        });
        Self { own: own.collect(), minimal: minimal.clone() }
    }
}

/// Refuses quorums of which two have no common site, and names those two and their owners.
///
/// # Errors
///
/// [`QuorumError::DoNotMeet`] with the first such pair, or [`QuorumError::EmptyQuorum`], since an
/// empty set meets nothing.
pub fn check_meets<'a>(
    quorums: impl IntoIterator<Item = (SiteId, &'a SiteSet)>,
) -> Result<(), QuorumError> {
    let mut before: Vec<(SiteId, &SiteSet)> = Vec::new();
    for (site, quorum) in quorums {
        if quorum.is_empty() {
            return Err(QuorumError::EmptyQuorum(site));
        }
        if let Some((owner, other)) = before.iter().find(|(_, other)| other.is_disjoint(quorum)) {
            let (one, other) = ((*owner, (*other).clone()), (site, quorum.clone()));
            return Err(QuorumError::DoNotMeet { one, other });
        }
        before.push((site, quorum));
    }
    Ok(())
}

/// The sets that contain no other, each once.
pub(crate) fn minimal<'a>(sets: impl IntoIterator<Item = &'a SiteSet>) -> Vec<SiteSet> {
    let mut minimal: Vec<SiteSet> = Vec::new();
    for set in sets {
        if !minimal.iter().any(|other| other.is_subset(set)) {
            minimal.retain(|other| !set.is_subset(other));
            minimal.push(set.clone());
        }
    }
    minimal
}

impl QuorumSystem for Listed {
    fn name(&self) -> String {
        format!("listed quorums of {}", self.n())
    }

    fn n(&self) -> usize {
        self.own.len()
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        self.minimal.iter().any(|quorum| quorum.is_subset(set))
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        Box::new(self.minimal.iter().cloned())
    }

    fn min_size(&self) -> usize {
        self.minimal.iter().map(SiteSet::len).min().expect("a listed system has a quorum")
    }

    fn max_size(&self) -> usize {
        self.minimal.iter().map(SiteSet::len).max().expect("a listed system has a quorum")
    }

    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let price = |quorum: &SiteSet| prices.total(quorum.iter());
        let live = self.minimal.iter().filter_map(|quorum| Some((price(quorum)?, quorum)));
        live.min_by_key(|(price, _)| *price).map(|(_, quorum)| quorum.clone())
    }

    /// The quorum listed for `site`, or the nearest live one listed for others.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        let own = self.own.get(site.index())?.clone()?;
        nearest(self, site, own, live)
    }
}

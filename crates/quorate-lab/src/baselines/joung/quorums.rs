//! Quorums for groups: those of different groups meet, those of one group need not.

use std::fmt::Debug;
use std::sync::Arc;

use quorate_protocol::Shared;
use quorate_protocol::group::{Claim, Group};
use quorate_quorum::{QuorumSystem, SiteId, SiteSet, Threshold};
use quorate_sim::{Quorums, Shape, coterie};

/// The name of the quorums of [`Lines`].
pub(super) const PARALLEL: &str = "parallel";

/// An m-group quorum system.
#[derive(Clone, Debug)]
pub enum MGroup {
    /// The same quorums for all groups, any two of which meet.
    Coterie(Arc<dyn QuorumSystem>),
    /// Parallel lines for each group.
    Lines(Lines),
}

/// The managers as points of a square, k by k for a prime k, and for each group all lines of one
/// direction: rows for the first, columns for the second, then the diagonals. Lines of different
/// directions meet in one point, parallel ones do not. With k = 2 these are the quorums of the
/// second example in Manabe & Park 2004, section 3.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lines {
    n: usize,
    k: usize,
}

impl Lines {
    /// The largest square that fits into `n` sites; the other sites only ask.
    ///
    /// # Errors
    ///
    /// There are fewer than four sites.
    pub fn new(n: usize) -> Result<Self, String> {
        let prime = |k: &usize| *k > 1 && (2..*k).all(|divisor| !k.is_multiple_of(divisor));
        let k = (2..=n.isqrt()).rev().find(prime);
        let k = k.ok_or_else(|| format!("{PARALLEL} quorums need 4 sites or more, not {n}"))?;
        Ok(Self { n, k })
    }

    /// The line of a group through the point of a site.
    pub fn quorum(&self, site: SiteId, group: &Group) -> SiteSet {
        let k = self.k;
        let (x, y) = (site.index() % (k * k) / k, site.index() % k);
        let slope = number(group).checked_sub(1);
        let along = |step: usize| match slope {
            None => k * x + step,
            Some(slope) => k * step + (y + slope * (k + step - x)) % k,
        };
        (0..k).map(along).map(SiteId::new).collect()
    }

    fn check(&self, claims: &[Claim]) -> Result<(), String> {
        let mut groups = claims.iter().flat_map(|claim| claim.groups.iter());
        match groups.find(|group| number(group) > self.k) {
            None => Ok(()),
            Some(group) => {
                let last = char::from(b'a' + u8::try_from(self.k).unwrap_or(25));
                let managers = self.k * self.k;
                Err(format!("{managers} managers have lines for a to {last}, not for {group}"))
            }
        }
    }
}

/// The number of a group: its place among the letters.
pub(super) fn number(group: &Group) -> usize {
    group.name().bytes().next().map_or(0, |letter| usize::from(letter.saturating_sub(b'a')))
}

impl MGroup {
    pub(super) fn of(shape: &Shape, claims: &[Claim]) -> Result<Self, String> {
        match shape {
            Shape::Kind(name, n) if name == PARALLEL => {
                let lines = Lines::new(*n)?;
                lines.check(claims)?;
                Ok(Self::Lines(lines))
            }
            _ => coterie(shape).map(Self::Coterie),
        }
    }

    pub(super) fn lines(&self) -> Option<Lines> {
        match self {
            Self::Coterie(_) => None,
            Self::Lines(lines) => Some(lines.clone()),
        }
    }
}

impl Quorums for MGroup {
    fn name(&self) -> String {
        match self {
            Self::Coterie(quorums) => (**quorums).name(),
            Self::Lines(lines) => format!("parallel lines of {}", lines.k * lines.k),
        }
    }

    fn n(&self) -> usize {
        match self {
            Self::Coterie(quorums) => (**quorums).n(),
            Self::Lines(lines) => lines.n,
        }
    }

    fn own(&self, site: SiteId) -> Option<SiteSet> {
        match self {
            Self::Coterie(quorums) => quorums.pick_for(site, &SiteSet::full(quorums.n())),
            Self::Lines(_) => None,
        }
    }

    fn may_ask(&self, site: SiteId) -> bool {
        matches!(self, Self::Lines(_)) || self.own(site).is_some()
    }

    fn shared(&self, site: SiteId) -> Shared {
        match self {
            Self::Coterie(quorums) => Shared::new(site, Arc::clone(quorums)),
            Self::Lines(lines) => {
                let all = Threshold::new(lines.n, lines.n).expect("there are sites");
                Shared::new(site, Arc::new(all))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_different_groups_meet_and_parallel_ones_do_not() {
        for n in [4, 7, 9, 25, 30] {
            let lines = Lines::new(n).expect("a square fits");
            let groups: Vec<_> =
                ('a'..).take(lines.k + 1).map(|c| Group::new(&c.to_string())).collect();
            for one in &groups {
                for other in &groups {
                    for (a, b) in SiteId::all(n).flat_map(|a| SiteId::all(n).map(move |b| (a, b))) {
                        let (mine, yours) = (lines.quorum(a, one), lines.quorum(b, other));
                        let common = mine.intersection(&yours).len();
                        if one == other {
                            assert!(mine == yours || common == 0, "{n}: {mine} {yours}");
                        } else {
                            assert_eq!(common, 1, "{n}, {one} and {other}: {mine} {yours}");
                        }
                    }
                }
            }
        }
        assert!(Lines::new(3).is_err());
    }
}

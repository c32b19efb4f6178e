//! Quorums as one site turns and sees them.

use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use crate::Shared;

/// A quorum system, turned for the resource at hand, with an eye to who can be reached.
pub(crate) struct Choice<'a> {
    site: &'a Shared,
    quorums: &'a dyn QuorumSystem,
    turn: usize,
}

impl<'a> Choice<'a> {
    pub(crate) fn new(site: &'a Shared, quorums: &'a dyn QuorumSystem, turn: usize) -> Self {
        assert_eq!(site.n(), quorums.n(), "all quorums are of the same sites");
        Self { site, quorums, turn }
    }

    /// As [`Shared::quorum`].
    pub(crate) fn quorum(&self) -> Option<SiteSet> {
        let own = self.pick_for(&self.site.live());
        own.or_else(|| if self.may_ask() { self.replacement(&[]) } else { None })
    }

    /// As [`Shared::may_ask`].
    pub(crate) fn may_ask(&self) -> bool {
        self.pick_for(&SiteSet::full(self.n())).is_some()
    }

    /// As [`Shared::can_ask_at`].
    pub(crate) fn can_ask_at(&self, site: SiteId) -> bool {
        self.quorums.pick_for(self.place_of(site), &SiteSet::full(self.n())).is_some()
    }

    /// The site whose place `site` takes when quorums are turned.
    pub(crate) fn place_of(&self, site: SiteId) -> SiteId {
        self.along(site, self.n() - self.turn)
    }

    /// As [`Shared::replacement`].
    pub(crate) fn replacement(&self, prefer: &[SiteId]) -> Option<SiteSet> {
        let pick = |live| self.pick(&live, prefer);
        pick(self.site.live()).or_else(|| pick(self.site.patient()))
    }

    /// As [`Shared::is_quorum`].
    pub(crate) fn is_quorum(&self, sites: &SiteSet) -> bool {
        match self.turn {
            0 => self.quorums.is_quorum(sites),
            turn => self.quorums.is_quorum(&self.moved(sites, self.n() - turn)),
        }
    }

    fn n(&self) -> usize {
        self.quorums.n()
    }

    fn pick_for(&self, live: &SiteSet) -> Option<SiteSet> {
        let site = self.site.site();
        if self.turn == 0 {
            return self.quorums.pick_for(site, live);
        }
        let back = self.n() - self.turn;
        let quorum = self.quorums.pick_for(self.along(site, back), &self.moved(live, back))?;
        Some(self.moved(&quorum, self.turn))
    }

    fn pick(&self, live: &SiteSet, prefer: &[SiteId]) -> Option<SiteSet> {
        if self.turn == 0 {
            return self.quorums.pick(live, prefer);
        }
        let back = self.n() - self.turn;
        let prefer: Vec<SiteId> = prefer.iter().map(|&site| self.along(site, back)).collect();
        let quorum = self.quorums.pick(&self.moved(live, back), &prefer)?;
        Some(self.moved(&quorum, self.turn))
    }

    /// The site so many places further on.
    fn along(&self, site: SiteId, places: usize) -> SiteId {
        SiteId::new((site.index() + places) % self.n())
    }

    fn moved(&self, sites: &SiteSet, places: usize) -> SiteSet {
        sites.iter().map(|site| self.along(site, places)).collect()
    }
}

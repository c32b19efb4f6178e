//! Picks quorums for one site and one resource.

use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use crate::Shared;

/// Picks quorums of one quorum system: rotated for the present resource, and among the sites that
/// this site can reach.
pub(crate) struct QuorumPicker<'a> {
    site: &'a Shared,
    quorums: &'a dyn QuorumSystem,
    rotation: usize,
}

impl<'a> QuorumPicker<'a> {
    pub(crate) fn new(site: &'a Shared, quorums: &'a dyn QuorumSystem, rotation: usize) -> Self {
        assert_eq!(site.n(), quorums.n(), "all quorums are of the same sites");
        Self { site, quorums, rotation }
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

    /// The site whose place `site` takes when quorums are rotated.
    pub(crate) fn place_of(&self, site: SiteId) -> SiteId {
        self.rotate(site, self.n() - self.rotation)
    }

    /// As [`Shared::replacement`].
    pub(crate) fn replacement(&self, prefer: &[SiteId]) -> Option<SiteSet> {
        let pick = |live| self.pick(&live, prefer);
        pick(self.site.live()).or_else(|| pick(self.site.answering()))
    }

    /// A quorum of sites at which we have a session, silent or not, with as many of `prefer` as
    /// possible.
    pub(crate) fn reachable(&self, prefer: &[SiteId]) -> Option<SiteSet> {
        self.pick(&self.site.reachable(), prefer)
    }

    /// As [`Shared::is_quorum`].
    pub(crate) fn is_quorum(&self, sites: &SiteSet) -> bool {
        match self.rotation {
            0 => self.quorums.is_quorum(sites),
            rotation => self.quorums.is_quorum(&self.rotated(sites, self.n() - rotation)),
        }
    }

    /// As [`Shared::is_cover`].
    pub(crate) fn is_cover(&self, sites: &SiteSet) -> bool {
        self.quorums.is_cover(&self.rotated(sites, self.n() - self.rotation))
    }

    fn n(&self) -> usize {
        self.quorums.n()
    }

    fn pick_for(&self, live: &SiteSet) -> Option<SiteSet> {
        let site = self.site.site();
        if self.rotation == 0 {
            return self.quorums.pick_for(site, live);
        }
        let back = self.n() - self.rotation;
        let quorum = self.quorums.pick_for(self.rotate(site, back), &self.rotated(live, back))?;
        Some(self.rotated(&quorum, self.rotation))
    }

    fn pick(&self, live: &SiteSet, prefer: &[SiteId]) -> Option<SiteSet> {
        if self.rotation == 0 {
            return self.quorums.pick(live, prefer);
        }
        let back = self.n() - self.rotation;
        let prefer: Vec<SiteId> = prefer.iter().map(|&site| self.rotate(site, back)).collect();
        let quorum = self.quorums.pick(&self.rotated(live, back), &prefer)?;
        Some(self.rotated(&quorum, self.rotation))
    }

    /// The site `places` further on.
    fn rotate(&self, site: SiteId, places: usize) -> SiteId {
        SiteId::new((site.index() + places) % self.n())
    }

    fn rotated(&self, sites: &SiteSet, places: usize) -> SiteSet {
        sites.iter().map(|site| self.rotate(site, places)).collect()
    }
}

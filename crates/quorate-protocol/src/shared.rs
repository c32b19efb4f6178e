//! What all resources of one site have in common.

#[cfg(feature = "mutations")]
mod errata;

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use crate::choice::Choice;
use crate::sessions::Sessions;
use crate::{Clock, Fence, Out, Protocol, Record, SessionNo, Ticket};

/// How far a fence ceiling is moved on at a time, unless somebody says otherwise.
pub const FENCE_BLOCK: u64 = 1 << 20;

type Assured = Option<BTreeSet<Ticket>>;

/// What all resources of one site have in common: who it is, its Lamport clock, its fences, its
/// sessions and the cluster's quorum system.
#[derive(Clone, Debug)]
pub struct Shared {
    site: SiteId,
    incarnation: u32,
    /// Stamps the site's tickets.
    pub clock: Clock,
    /// What became of the sessions; the driver keeps it up to date.
    pub sessions: Sessions,
    /// The requests of other sites of which we were told that they are good, and for how long that
    /// lasts has not run out. `None` where validity is a matter of sessions alone; the driver keeps
    /// it up to date.
    pub assured: Assured,
    /// Whether the site has restarted and lends nothing yet; the driver keeps it up to date.
    pub quarantined: bool,
    floor: Fence,
    ceil: Fence,
    fence_block: u64,
    /// The highest loan of a resource that was forgotten.
    loans: u64,
    /// By how much quorums are turned for the resource at hand.
    turn: usize,
    quorums: Arc<dyn QuorumSystem>,
}

impl Shared {
    /// The beginnings of `site` in a cluster with these quorums.
    pub fn new(site: SiteId, quorums: Arc<dyn QuorumSystem>) -> Self {
        Self {
            site,
            incarnation: 0,
            clock: Clock::default(),
            sessions: Sessions::default(),
            assured: None,
            quarantined: false,
            floor: Fence(1),
            ceil: Fence(1 + FENCE_BLOCK),
            fence_block: FENCE_BLOCK,
            loans: 0,
            turn: 0,
            quorums,
        }
    }

    /// The site in some later life: its Lamport clock and its fences go on where those of the
    /// former lives ended.
    pub fn with_past(mut self, incarnation: u32, clock: Clock, floor: Fence) -> Self {
        self.incarnation = incarnation;
        self.clock = clock;
        self.floor = floor.max(self.floor);
        self.ceil = self.floor.plus(self.fence_block);
        self
    }

    /// Turns the quorums for the resource at hand: with `hash` of its name, many resources load
    /// all sites evenly. The quorum of site i is that of the site `hash` places before it, moved
    /// on by as many places.
    pub fn turn_by(&mut self, hash: u64) {
        self.turn = self.turn_of(hash);
    }

    /// Whether `sites` contain one of `quorums`, turned for a resource with this hash of its name.
    pub fn is_quorum_of(&self, quorums: &dyn QuorumSystem, hash: u64, sites: &SiteSet) -> bool {
        Choice::new(self, quorums, self.turn_of(hash)).is_quorum(sites)
    }

    /// Whether one of `quorums` can be asked now for a resource with this hash of its name.
    pub fn can_ask(&self, quorums: &dyn QuorumSystem, hash: u64) -> bool {
        Choice::new(self, quorums, self.turn_of(hash)).quorum().is_some()
    }

    /// The quorums of the cluster.
    pub fn quorums(&self) -> &dyn QuorumSystem {
        &*self.quorums
    }

    /// The number after which the loans of a new resource begin: no loan of one that had its name
    /// before is as high.
    pub fn loans(&self) -> u64 {
        self.loans
    }

    /// Notes the highest loan of a resource that is forgotten.
    pub fn note_loans(&mut self, highest: u64) {
        self.loans = self.loans.max(highest);
    }

    /// Moves fence ceilings on in steps of `block`.
    pub fn with_fence_block(mut self, block: u64) -> Self {
        self.fence_block = block;
        self.ceil = self.floor.plus(block);
        self
    }

    /// The site after a restart: all it has is what was on disk. Its fences go on above the
    /// ceiling, and it lends nothing until its quarantine is over.
    pub fn restarted(&self, clock: Clock, ceil: Fence) -> Self {
        Self {
            incarnation: self.incarnation + 1,
            clock,
            sessions: Sessions::default(),
            quarantined: true,
            floor: ceil,
            ceil: ceil.plus(self.fence_block),
            ..self.clone()
        }
    }

    /// The site itself.
    pub fn site(&self) -> SiteId {
        self.site
    }

    /// How often it has restarted.
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// The sites whose permission this one asks for: its own quorum when all are up, another
    /// otherwise; `None` if no quorum can be reached.
    pub fn quorum(&self) -> Option<SiteSet> {
        self.own().quorum()
    }

    /// Whether this site has a quorum when all are up, and so may ask.
    pub fn may_ask(&self) -> bool {
        self.own().may_ask()
    }

    /// Whether `site` has a quorum when all are up.
    pub(crate) fn can_ask_at(&self, site: SiteId) -> bool {
        self.own().can_ask_at(site)
    }

    /// The place of `site` when quorums are turned for the resource at hand.
    pub(crate) fn place_of(&self, site: SiteId) -> usize {
        self.own().place_of(site).index()
    }

    /// A live quorum with as many of `prefer` as can be; if there is none, one that counts on
    /// sites in quarantine.
    pub fn replacement(&self, prefer: &[SiteId]) -> Option<SiteSet> {
        self.own().replacement(prefer)
    }

    /// Whether `sites` contain a quorum.
    pub fn is_quorum(&self, sites: &SiteSet) -> bool {
        self.own().is_quorum(sites)
    }

    /// Quorums other than the cluster's own, as this site turns and sees them.
    pub(crate) fn among<'a>(&'a self, quorums: &'a dyn QuorumSystem) -> Choice<'a> {
        Choice::new(self, quorums, self.turn)
    }

    /// The sites at which we have a session, whatever else is true of them.
    pub fn reachable(&self) -> SiteSet {
        self.sites(|ours| ours.number.is_some())
    }

    /// The sites at which we have no session.
    pub fn unreachable(&self) -> SiteSet {
        let mut sites = self.sessions.gone();
        sites.remove(self.site);
        sites
    }

    /// How many sites the cluster has.
    pub fn n(&self) -> usize {
        self.quorums.n()
    }

    /// The number of our session at `site`; a site has always one at itself.
    pub fn session_at(&self, site: SiteId) -> Option<SessionNo> {
        if site == self.site { Some(SessionNo(0)) } else { self.sessions.ours(site).number }
    }

    /// The number of `site`'s session here; a site has always one at itself.
    pub fn session_of(&self, site: SiteId) -> Option<SessionNo> {
        if site == self.site { Some(SessionNo(0)) } else { self.sessions.theirs(site) }
    }

    /// Whether a request that counts on `site` has reason to hope.
    pub fn is_silent(&self, site: SiteId) -> bool {
        site != self.site && self.sessions.ours(site).silent
    }

    /// Whether a request that is inside, as its site told us, is known to be so still.
    pub fn is_assured(&self, request: Ticket) -> bool {
        let told = || self.assured.as_ref().is_none_or(|assured| assured.contains(&request));
        request.site == self.site || told()
    }

    /// The lowest fence that an entry with this site's permission may use.
    pub fn floor(&self) -> Fence {
        self.floor
    }

    /// All fences used with this site's permission lie below this one.
    pub fn ceil(&self) -> Fence {
        self.ceil
    }

    /// How far a ceiling is raised beyond what is needed now.
    pub fn fence_block(&self) -> u64 {
        self.fence_block
    }

    /// Puts later entries above every fence below `floor`.
    pub fn raise_floor<P: Protocol>(&mut self, floor: Fence, out: &mut Out<P>) {
        self.floor = self.floor.max(floor);
        if self.floor >= self.ceil {
            self.raise_ceil(self.floor.plus(self.fence_block), out);
        }
    }

    /// Puts later entries above every fence that may have been used with this site's permission:
    /// the holder is given up, and nobody knows its fence.
    pub fn skip_fences<P: Protocol>(&mut self, out: &mut Out<P>) {
        self.raise_floor(self.ceil, out);
    }

    /// Lets fences below `ceil` be used with this site's permission.
    pub fn raise_ceil<P: Protocol>(&mut self, ceil: Fence, out: &mut Out<P>) {
        if ceil > self.ceil {
            self.ceil = ceil;
            out.persist(Record::FenceCeil(ceil));
        }
        assert!(self.floor < self.ceil, "there is a fence to use");
    }

    /// Takes note of a ticket seen in a message.
    pub fn observe(&mut self, ticket: Ticket) {
        self.clock.observe(ticket.time);
    }

    fn turn_of(&self, hash: u64) -> usize {
        usize::try_from(hash % self.n() as u64).expect("a place in the cluster")
    }

    fn own(&self) -> Choice<'_> {
        self.among(&*self.quorums)
    }

    /// The sites that can be counted on at once.
    pub(crate) fn live(&self) -> SiteSet {
        self.sites(|ours| ours.number.is_some() && !ours.silent && !ours.quarantined)
    }

    /// The sites that can be counted on, some of them only after their quarantine.
    pub(crate) fn patient(&self) -> SiteSet {
        self.sites(|ours| ours.number.is_some() && !ours.silent)
    }

    fn sites(&self, good: impl Fn(crate::Ours) -> bool) -> SiteSet {
        let mut sites = self.sessions.sites(self.quorums.n(), good);
        sites.insert(self.site);
        sites
    }

    fn state(&self) -> (SiteId, u32, Clock, &Sessions, &Assured, bool, Fence, Fence) {
        let Self { site, incarnation, clock, sessions, assured, quarantined, floor, ceil, .. } =
            self;
        (*site, *incarnation, *clock, sessions, assured, *quarantined, *floor, *ceil)
    }
}

// The quorum system is the same in all states of one run: it tells no two of them apart.
impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        self.state() == other.state()
    }
}

impl Eq for Shared {}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.state().hash(state);
    }
}

//! The state that all resources of one site share.
#[cfg(feature = "mutations")]
mod mutations;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use crate::group::Group;
use crate::plausible::Jumps;
use crate::quorum_picker::QuorumPicker;
use crate::sessions::Sessions;
use crate::{Clock, Fence, Out, Protocol, Record, SessionNo, Ticket};

/// How far a fence ceiling is raised at a time, by default.
pub const FENCE_BLOCK: u64 = 1 << 20;

type ValidDelegations = Option<BTreeSet<Ticket>>;

/// The state that all resources of one site share: its id, its Lamport clock, its fences, its
/// sessions and the cluster's quorum system.
#[derive(Clone, Debug)]
pub struct Shared {
    site: SiteId,
    incarnation: u32,
    /// Stamps the site's tickets.
    pub clock: Clock,
    /// The site's sessions; the driver keeps them up to date.
    pub sessions: Sessions,
    /// Remote requests whose delegated validity has not expired; `None` if validity depends on
    /// sessions alone. The driver keeps it up to date.
    pub delegated: ValidDelegations,
    /// Whether the site has restarted and lends nothing yet; the driver keeps it up to date.
    pub quarantined: bool,
    /// The time that the next ticket may take instead of a new one.
    earlier: Option<u64>,
    /// The time of the ticket made last.
    made: u64,
    /// The latest ticket time of all forgotten resources.
    last_ticket: u64,
    floor: Fence,
    ceil: Fence,
    /// The ceiling when a session of another site here was closed last.
    ended_ceil: Fence,
    fence_block: u64,
    /// The highest loan of all forgotten resources.
    loans: u64,
    /// By how many places quorums are rotated for the present resource.
    rotation: usize,
    quorums: Arc<dyn QuorumSystem>,
    /// The sites that are to host the stages of role locks, where the hash must not decide.
    hosts: Arc<BTreeMap<Group, SiteId>>,
    /// How far the numbers of other sites may lie above ours.
    pub(crate) jumps: Jumps,
    /// Whether numbers of other sites are not checked.
    #[cfg(feature = "mutations")]
    trusts_numbers: bool,
}

impl Shared {
    /// The initial state of `site` in a cluster with these quorums.
    pub fn new(site: SiteId, quorums: Arc<dyn QuorumSystem>) -> Self {
        Self {
            site,
            incarnation: 0,
            clock: Clock::default(),
            sessions: Sessions::default(),
            delegated: None,
            quarantined: false,
            earlier: None,
            made: 0,
            last_ticket: 0,
            floor: Fence(1),
            ceil: Fence(1 + FENCE_BLOCK),
            ended_ceil: Fence::default(),
            fence_block: FENCE_BLOCK,
            loans: 0,
            rotation: 0,
            quorums,
            hosts: Arc::default(),
            jumps: Jumps::default(),
            #[cfg(feature = "mutations")]
            trusts_numbers: false,
        }
    }

    /// Whether numbers of other sites are checked: always.
    #[cfg(not(feature = "mutations"))]
    pub const fn checks_numbers(&self) -> bool {
        true
    }

    /// Makes `host` the preferred host of the stages of `group`, in place of the one by hash.
    pub fn prefer_host(&mut self, group: Group, host: SiteId) {
        Arc::make_mut(&mut self.hosts).insert(group, host);
    }

    /// The preferred host of `group`, if one was set.
    pub(crate) fn preferred_host(&self, group: &Group) -> Option<SiteId> {
        self.hosts.get(group).copied()
    }

    /// The state of a later incarnation, which continues the Lamport clock and the fences of the
    /// earlier ones.
    pub fn with_past(mut self, incarnation: u32, clock: Clock, floor: Fence) -> Self {
        self.incarnation = incarnation;
        self.clock = clock;
        self.last_ticket = clock.time();
        self.floor = floor.max(self.floor);
        self.ceil = self.floor.plus(self.fence_block);
        self
    }

    /// Rotates the quorums for the resource whose name has this hash, so that many resources load
    /// all sites evenly. The quorum of site i is that of the site `hash` places before it, moved
    /// forward by as many places.
    pub fn rotate_quorums(&mut self, hash: u64) {
        self.rotation = self.rotation_of(hash);
    }

    /// Whether `sites` contain one of `quorums`, rotated for the resource with this hash.
    pub fn is_quorum_of(&self, quorums: &dyn QuorumSystem, hash: u64, sites: &SiteSet) -> bool {
        QuorumPicker::new(self, quorums, self.rotation_of(hash)).is_quorum(sites)
    }

    /// Whether `sites` meet every quorum of the cluster, rotated for the resource with this hash.
    pub fn is_cover(&self, hash: u64, sites: &SiteSet) -> bool {
        QuorumPicker::new(self, &*self.quorums, self.rotation_of(hash)).is_cover(sites)
    }

    /// Whether one of `quorums` can be asked now for the resource with this hash.
    pub fn can_ask(&self, quorums: &dyn QuorumSystem, hash: u64) -> bool {
        QuorumPicker::new(self, quorums, self.rotation_of(hash)).quorum().is_some()
    }

    /// The quorums of the cluster.
    pub fn quorums(&self) -> &dyn QuorumSystem {
        &*self.quorums
    }

    /// The number after which the loans of a new resource begin: above those of any forgotten
    /// resource, which may have had the same name.
    pub fn loans(&self) -> u64 {
        self.loans
    }

    /// Records the highest loan of a resource that is forgotten.
    pub fn note_loans(&mut self, highest: u64) {
        self.loans = self.loans.max(highest);
    }

    /// The time of a new ticket: later than everything seen so far, unless the driver allows an
    /// earlier one.
    pub fn ticket_time(&mut self) -> u64 {
        let earlier = self.earlier.take().filter(|&time| time <= self.clock.time());
        self.made = earlier.unwrap_or_else(|| self.clock.advance());
        self.made
    }

    /// The time of the ticket that was made last.
    pub fn made_time(&self) -> u64 {
        self.made
    }

    /// Lets the next ticket have the time `earlier`, because its caller waited at another site
    /// since then. The driver must make sure that tickets stay unique.
    pub fn allow_earlier(&mut self, earlier: Option<u64>) {
        self.earlier = earlier;
    }

    /// The latest time of a ticket of this site for a resource that is forgotten.
    pub fn last_ticket(&self) -> u64 {
        self.last_ticket
    }

    /// Records the latest ticket time of a resource that is forgotten.
    pub fn note_last_ticket(&mut self, time: u64) {
        self.last_ticket = self.last_ticket.max(time);
    }

    /// Raises fence ceilings in steps of `block`.
    pub fn with_fence_block(mut self, block: u64) -> Self {
        self.fence_block = block;
        self.ceil = self.floor.plus(block);
        self
    }

    /// The state after a restart, which keeps only what was on disk. Fences continue above the
    /// ceiling, and the site lends nothing until its quarantine is over.
    pub fn restarted(&self, clock: Clock, ceil: Fence) -> Self {
        Self {
            incarnation: self.incarnation + 1,
            clock,
            last_ticket: clock.time(),
            sessions: Sessions::default(),
            quarantined: true,
            floor: ceil,
            ceil: ceil.plus(self.fence_block),
            ..self.clone()
        }
    }

    /// The id of this site.
    pub fn site(&self) -> SiteId {
        self.site
    }

    /// How often it has restarted.
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// The sites whose permission this one asks for: its own quorum if all of it is live, or
    /// another; `None` if no quorum can be reached.
    pub fn quorum(&self) -> Option<SiteSet> {
        self.picker().quorum()
    }

    /// Whether this site has a quorum when all sites are up, and so may ask.
    pub fn may_ask(&self) -> bool {
        self.picker().may_ask()
    }

    /// Whether `site` has a quorum when all sites are up.
    pub(crate) fn can_ask_at(&self, site: SiteId) -> bool {
        self.picker().can_ask_at(site)
    }

    /// The place of `site` when quorums are rotated for the present resource.
    pub(crate) fn place_of(&self, site: SiteId) -> usize {
        self.picker().place_of(site).index()
    }

    /// A live quorum with as many of `prefer` as possible; if there is none, one that includes
    /// sites in quarantine.
    pub fn replacement(&self, prefer: &[SiteId]) -> Option<SiteSet> {
        self.picker().replacement(prefer)
    }

    /// Whether `sites` contain a quorum.
    pub fn is_quorum(&self, sites: &SiteSet) -> bool {
        self.picker().is_quorum(sites)
    }

    /// A picker for quorums that may be other than the cluster's own.
    pub(crate) fn picker_for<'a>(&'a self, quorums: &'a dyn QuorumSystem) -> QuorumPicker<'a> {
        QuorumPicker::new(self, quorums, self.rotation)
    }

    /// The sites at which we have a session, silent or not, and this site.
    pub fn reachable(&self) -> SiteSet {
        self.sites(|session| session.number.is_some())
    }

    /// The sites at which we have no session.
    pub fn unreachable(&self) -> SiteSet {
        let mut sites = self.sessions.closed();
        sites.remove(self.site);
        sites
    }

    /// How many sites the cluster has.
    pub fn n(&self) -> usize {
        self.quorums.n()
    }

    /// The number of our session at `site`; a site always has one at itself.
    pub fn session_at(&self, site: SiteId) -> Option<SessionNo> {
        if site == self.site { Some(SessionNo(0)) } else { self.sessions.outbound(site).number }
    }

    /// The number of `site`'s session here; a site always has one at itself.
    pub fn session_of(&self, site: SiteId) -> Option<SessionNo> {
        if site == self.site { Some(SessionNo(0)) } else { self.sessions.inbound(site) }
    }

    /// Whether `site` has not replied for half a lease.
    pub fn is_silent(&self, site: SiteId) -> bool {
        site != self.site && self.sessions.outbound(site).silent
    }

    /// Whether the delegation about `request` has not expired. Our own requests need none.
    pub fn is_delegation_valid(&self, request: Ticket) -> bool {
        let valid = || self.delegated.as_ref().is_none_or(|delegated| delegated.contains(&request));
        request.site == self.site || valid()
    }

    /// The lowest fence that an entry with this site's permission may use.
    pub fn floor(&self) -> Fence {
        self.floor
    }

    /// All fences used with this site's permission lie below this one.
    pub fn ceil(&self) -> Fence {
        self.ceil
    }

    /// How far a ceiling is raised beyond the present need.
    pub fn fence_block(&self) -> u64 {
        self.fence_block
    }

    /// Raises the floor, so that later entries use no fence below it.
    pub fn raise_floor<P: Protocol>(&mut self, floor: Fence, out: &mut Out<P>) {
        self.floor = self.floor.max(floor);
        if self.floor >= self.ceil {
            self.raise_ceil(self.floor.plus(self.fence_block), out);
        }
    }

    /// Raises the floor above every fence that may have been used with this site's permission in a
    /// session that has ended, because a holder was given up and its fence is unknown.
    ///
    /// What was lent in ended sessions can only have used fences below the ceiling at the end of
    /// the last of them. So all resources that a lost site held take one block of fences together:
    /// the first raises the ceiling, and the others find the floor where they need it.
    pub fn skip_fences<P: Protocol>(&mut self, out: &mut Out<P>) {
        self.raise_floor(self.ended_ceil, out);
    }

    /// The session of `client` here is closed: nothing that is announced from now on counts in it.
    pub fn close_session_of(&mut self, client: SiteId) {
        self.sessions.set_inbound(client, None);
        self.ended_ceil = self.ceil;
    }

    /// Raises the ceiling, so that fences below it may be used with this site's permission.
    pub fn raise_ceil<P: Protocol>(&mut self, ceil: Fence, out: &mut Out<P>) {
        if ceil > self.ceil {
            self.ceil = ceil;
            out.persist(Record::FenceCeil(ceil));
        }
        assert!(self.floor < self.ceil, "I4: the floor is below the ceiling");
    }

    /// Advances the Lamport clock to the time of a ticket in a message.
    pub fn observe(&mut self, ticket: Ticket) {
        self.clock.observe(ticket.time);
    }

    fn rotation_of(&self, hash: u64) -> usize {
        usize::try_from(hash % self.n() as u64).expect("a place in the cluster")
    }

    fn picker(&self) -> QuorumPicker<'_> {
        self.picker_for(&*self.quorums)
    }

    /// The sites that can lend now.
    pub(crate) fn live(&self) -> SiteSet {
        self.sites(|session| session.number.is_some() && !session.silent && !session.quarantined)
    }

    /// The sites that can lend now or after their quarantine.
    pub(crate) fn answering(&self) -> SiteSet {
        self.sites(|session| session.number.is_some() && !session.silent)
    }

    fn sites(&self, predicate: impl Fn(crate::OutboundSession) -> bool) -> SiteSet {
        let mut sites = self.sessions.sites(self.quorums.n(), predicate);
        sites.insert(self.site);
        sites
    }

    fn state(&self) -> (SiteId, u32, Clock, &Sessions, &ValidDelegations, bool, [Fence; 3]) {
        let Self {
            site, incarnation, clock, sessions, delegated, quarantined, floor, ceil, ..
        } = self;
        // Below the floor it changes nothing.
        let ended_ceil = self.ended_ceil.max(*floor);
        let fences = [*floor, *ceil, ended_ceil];
        (*site, *incarnation, *clock, sessions, delegated, *quarantined, fences)
    }
}

// The quorum system is constant in a run, so states are compared without it.
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

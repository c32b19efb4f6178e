//! The inputs and effects of a whole site.

use std::time::Duration;

use quorate_protocol::token::Regeneration;
use quorate_protocol::{Fence, Tick, Violation};
use quorate_quorum::SiteId;
use quorate_session::client::{ClientId, QuorumStatus};
use quorate_session::{
    Answer, AskId, BreakRequest, CallId, ClaimRequest, Denial, Granted, Loss, Name, Question,
    ReasonText,
};

use crate::disk::{Disk, Kept};
use crate::identity::{IdentityRefusal, SitePacket};

/// Everything that can happen to a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A connection to the peer is up. It replaces an earlier one.
    Up(SiteId),
    /// The connection to the peer is gone.
    Down(SiteId),
    /// A packet from the peer. None of an earlier connection comes after [`Input::Up`].
    Packet(SiteId, SitePacket),
    /// A caller of a client claims a lock. Clients take turns if many claims wait; the claims of a
    /// client for one name are in the order of their numbers.
    Claim(CallId, ClientId, ClaimRequest),
    /// A caller leaves, or stops waiting. If its call is over already nothing happens.
    Leave(CallId),
    /// The same of several callers, which must be few: this is one step.
    LeaveAll(Vec<CallId>),
    /// A grant is to be ended that its holder does not release.
    Break(BreakRequest),
    /// The site is to stop within this time. Its waiting callers go to other sites at once, and
    /// those inside have this time to leave.
    Drain(Duration),
    /// A question to all sites.
    Ask(AskId, Question),
    /// This record, or a later one, is on disk.
    Saved(Disk),
    /// Nothing but the time.
    Time,
}

/// Everything a site can ask of its driver, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Send this to the peer on the present connection. If that has just gone, drop it.
    Packet(SiteId, SitePacket),
    /// Close the connection with the peer, whose folder is not the one that it had. The packets
    /// before this are sent first.
    Refuse(SiteId, IdentityRefusal),
    /// For the log: the peer refuses this site, because its folder is not the one that it had.
    RefusedBy(SiteId, IdentityRefusal),
    /// For the log: enough sites have registered this one, and it takes part from now on.
    Joined,
    /// The caller is inside.
    Grant(CallId, Grant),
    /// All grants that are not degraded are valid until then.
    CommonDeadline(Tick),
    /// The grant depends on a silent site or a delegation: it is valid until then, and the common
    /// deadline does not hold for it until it is restored.
    Degraded(CallId, Tick),
    /// The grant is not degraded any more: the common deadline holds for it again.
    Restored(CallId),
    /// The grant was broken for this reason: it ends then, and the common deadline does not hold
    /// for it. If the caller has not left by then, [`Effect::Lost`] follows.
    Broken(CallId, Tick, ReasonText),
    /// The grant is over.
    Lost(CallId, Loss),
    /// The claim is over without a grant, and why.
    Denied(CallId, Denial),
    /// The claim does not wait here any more, because the site is about to stop. It has waited
    /// since this Lamport time.
    Moved(CallId, u64),
    /// The site is about to stop, and stops at this time at the latest.
    Draining(Tick),
    /// No caller is left, and nobody relies on this site: it can stop.
    Drained,
    /// This must be on disk before later effects leave the site.
    Persist(Disk),
    /// Write this when there is time; no effect waits for it. Answered by [`Input::Saved`].
    Save(Disk),
    /// This record of a lock must be on disk before later effects leave the site. It replaces the
    /// earlier one of that name.
    Keep(Name, Kept),
    /// The record of all locks that have none of their own: it must be on disk, and those of these
    /// locks must be gone, in one write, before later effects leave the site.
    Fold(Kept, Vec<Name>),
    /// The question went to these sites, whose answers follow. The others cannot be reached.
    Asked(AskId, Vec<SiteId>),
    /// The answer of a site, and whether that site is in quarantine.
    Answer(AskId, SiteId, Answer, bool),
    /// The site reaches a quorum again, or does not any more.
    Quorum(QuorumStatus),
    /// Call again at this time. It replaces the time asked for before.
    Wake(Tick),
    /// For the audit log.
    Audit(Audit),
    /// For the log: the token of this lock was replaced.
    Regenerated(Name, Regeneration),
    /// For the log: a note about this peer.
    Note(SiteId, &'static str),
    /// For operators: this peer sent what cannot be true. The stream in which it came is over.
    Violation(SiteId, Violation),
}

/// The progress of a request to break a grant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Audit {
    /// It was made here, and sent to all reachable sites.
    Asked(BreakRequest),
    /// The holder is at this site: it is told to stop, and its grant ends by then.
    Ending(BreakRequest, CallId, Tick),
    /// The holder's site is ending the grant; it is over within a lease.
    Acknowledged(BreakRequest, SiteId),
}

/// What a caller is granted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// Above the fence of every conflicting grant before it.
    pub fence: Fence,
    /// What it holds besides.
    pub granted: Granted,
    /// The grant is valid before, and not at, this time of the site's clock. Later deadlines follow
    /// as effects.
    pub until: Tick,
}

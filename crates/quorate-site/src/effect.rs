//! What can happen to a whole site, and what it asks of its driver.

use std::sync::Arc;

use quorate_protocol::token::{self, Regeneration};
use quorate_protocol::{Fence, Tick};
use quorate_quorum::SiteId;
use quorate_session::session::Packet;
use quorate_session::{
    Answer, AskId, Break, CallId, ClaimRequest, Denial, Got, Loss, Name, Question,
};

use crate::disk::Disk;
use crate::said::Said;

/// Everything that can happen to a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A connection with the peer is up. It takes the place of one that was.
    Up(SiteId),
    /// The connection with the peer is gone.
    Down(SiteId),
    /// The peer says this. Nothing said on an earlier connection comes after [`Input::Up`].
    Packet(SiteId, Packet<Said>),
    /// A caller wants something.
    Claim(CallId, ClaimRequest),
    /// A caller leaves, or does not wait any longer; one that is over already is left alone.
    Leave(CallId),
    /// Somebody wants a grant to end that its holder does not release.
    Break(Break),
    /// Somebody wants to know something of all sites.
    Ask(AskId, Question),
    /// This record, or a later one, is on disk.
    Saved(Disk),
    /// Nothing but the time.
    Time,
}

/// Everything a site can ask of its driver, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Say this to the peer, on the connection that is up; if it has just gone, to nobody.
    Packet(SiteId, Packet<Said>),
    /// Tell the caller that it is inside.
    Grant(CallId, Grant),
    /// All grants are good until then that are not waning.
    Horizon(Tick),
    /// A site that vouches for the grant is silent: until further notice it is good until then, and
    /// no horizon counts for it.
    Waning(CallId, Tick),
    /// The grant is not waning any more: the horizon counts for it again.
    Steady(CallId),
    /// Tell the caller that its grant was broken, for this reason: it ends then, and no horizon
    /// counts for it. If it has not left by then it is told that the grant is lost.
    Broken(CallId, Tick, Arc<str>),
    /// Tell the caller that its grant is over.
    Lost(CallId, Loss),
    /// Tell the caller that it gets nothing, and why.
    Denied(CallId, Denial),
    /// This must be on disk before later effects leave the site.
    Persist(Disk),
    /// Write this when there is time; nothing waits for it. Answered by [`Input::Saved`].
    Save(Disk),
    /// This must be on disk, under the name of its lock, before later effects leave the site; it
    /// replaces what was.
    Keep(Name, token::Durable),
    /// A question went to these sites; the others cannot be reached. Their answers follow.
    Asked(AskId, Vec<SiteId>),
    /// What a site says to a question.
    Answer(AskId, SiteId, Answer),
    /// Call again at this time; it replaces the time asked for before.
    Wake(Tick),
    /// For the log that people keep for ever: who broke what.
    Audit(Audit),
    /// For the log: the token of this lock was replaced.
    Regenerated(Name, Regeneration),
    /// For the log: something about this peer.
    Note(SiteId, &'static str),
}

/// What became of a wish to break a grant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Audit {
    /// It was asked for here, and passed on to all sites within reach.
    Asked(Break),
    /// The holder is at this site: it is told, and its grant ends by then at the latest.
    Ending(Break, CallId, Tick),
    /// The holder's site says that the grant is being ended; it is over within a lease.
    Heard(Break, SiteId),
}

/// What a caller got.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// Above the fence of every conflicting grant before it.
    pub fence: Fence,
    /// What it has besides.
    pub got: Got,
    /// The grant is good before, and not at, this time of the site's clock; later times are told
    /// as they become true.
    pub until: Tick,
}

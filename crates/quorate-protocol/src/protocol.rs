//! The contract between a protocol and its driver.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use quorate_quorum::{QuorumSystem, SiteId};

use crate::pool::Units;
use crate::{ClaimId, ClaimView, Field, Out, SessionNo, Shared, Tick, Ticket, ValidityBasis, View};

/// One site's part in a lock protocol, as a pure state machine.
///
/// The driver feeds [`step`](Self::step) one [`Input`] at a time and carries out the
/// [`Effect`](crate::Effect)s in the order pushed. The state is a plain value:
/// `Clone + Eq + Hash` lets the checker store it, and ordered collections make equal histories
/// give equal bytes.
pub trait Protocol: Clone + Debug + Eq + Hash {
    /// The messages between sites.
    type Message: Clone + Debug + Display + Eq + Hash;
    /// What a caller asks for: the lock, any of some groups, a role, a number of units.
    type Claim: Clone + Debug + Eq + Hash;
    /// What it gets; every grant carries its fence.
    type Grant: Clone + Debug + Display + Eq + Hash;
    /// Deadlines, by name; [`Infallible`](std::convert::Infallible) where the paper has none.
    type Timer: Copy + Debug + Display + Eq + Hash + Ord;

    /// Whether a site may have several claims under way at once.
    const CONCURRENT_CLAIMS: bool = false;

    /// Handles one input, to completion.
    ///
    /// `now` is an argument, never a reading. A protocol keeps a [`Tick`] only if its paper
    /// reasons about elapsed time; a deadline is an armed timer, and lives in the driver.
    ///
    /// # Errors
    ///
    /// A peer or a caller broke the contract: the state is unchanged, and `out` is empty.
    fn step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation>;

    /// What a grant's validity depends on: permissions of a quorum, or one site's delegation.
    fn validity_basis(&self, claim: ClaimId) -> ValidityBasis;

    /// The delegations this site has given: to which site, and about which request. The receiver
    /// is inside, or admits others, because of it.
    fn delegations(&self) -> Vec<(SiteId, Ticket)> {
        Vec::new()
    }

    /// What the validity of our delegation about a request depends on.
    fn delegation_basis(&self, _about: Ticket) -> ValidityBasis {
        ValidityBasis::Nothing
    }

    /// The requests of callers, here or elsewhere, for which a request of ours was made.
    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        vec![request]
    }

    /// The quorums of which a claim needs one: those of the cluster, unless they depend on the
    /// claim.
    fn quorums_of<'a>(&'a self, site: &'a Shared, _claim: ClaimId) -> &'a dyn QuorumSystem {
        site.quorums()
    }

    /// The holders, the waiters in order, and which of them block which: for `show` and `explain`.
    fn view(&self) -> View;

    /// One claim as [`view`](Self::view) shows it. A protocol with many claims finds it without
    /// looking at all.
    fn claim_view(&self, claim: ClaimId) -> Option<ClaimView> {
        self.view().claims.into_iter().find(|view| view.ticket.claim == claim)
    }

    /// What [`view`](Self::view) shows beside the claims, at most `most` of each list. A protocol
    /// with long lists does not make them first.
    fn view_without_claims(&self, most: usize) -> View {
        let mut view = View { claims: Vec::new(), ..self.view() };
        view.lent.truncate(most);
        view.queue.truncate(most);
        view.etas.truncate(most);
        view
    }

    /// Whether another site is known to wait for what a claim of this site holds.
    fn is_wanted(&self) -> bool;

    /// Whether there is no claim, no loan and no waiter here. The resource can then be forgotten,
    /// after [`retire`](Self::retire).
    fn is_vacant(&self) -> bool;

    /// Records what a later resource of the same name must continue from, before a vacant resource
    /// is forgotten.
    fn retire(&self, site: &mut Shared);
}

/// The inputs of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input<P: Protocol> {
    /// A caller asks for a grant.
    Acquire(ClaimId, P::Claim),
    /// A caller that is inside leaves.
    Release(ClaimId),
    /// A caller that waits gives up.
    Abandon(ClaimId),
    /// The caller inside has left and another caller of its site follows under the same claim: the
    /// grant is repeated with the next fence.
    Turn(ClaimId),
    /// A message arrived from a site.
    Deliver(SiteId, P::Message),
    /// An armed timer has expired.
    Expire(P::Timer),
    /// Requester half: no reply from the site for half a lease.
    Silent(SiteId),
    /// Requester half: our session at the site has ended, and with it what it lent us.
    Lost(SiteId),
    /// Requester half: we have a session at the site.
    Open(SiteId, SessionNo),
    /// Arbiter half: the site's session here has ended, and what we lent in it is ours again.
    Closed(SiteId),
    /// Arbiter half: the site has a session here.
    Opened(SiteId, SessionNo),
    /// Arbiter half: the delegation about this request is valid again, or for the first time.
    DelegationValid(Ticket),
    /// Arbiter half: the quarantine after a restart is over, and we may lend.
    Cleared,
}

/// A peer or a caller broke the contract. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Violation {
    /// The site has a claim of this resource in progress, and this protocol takes one at a time.
    #[error("the site has a claim of this lock under way already")]
    Busy,
    /// The claim to be released is not inside.
    #[error("claim {} is not inside", .0.0)]
    NotInside(ClaimId),
    /// The claim to be given up does not wait.
    #[error("claim {} is not waiting", .0.0)]
    NotWaiting(ClaimId),
    /// The cluster has no quorum for this site: it is an arbiter only.
    #[error("the site has no quorum to ask")]
    NoQuorum,
    /// The message is about a ticket of a site other than its sender.
    #[error("ticket {0} is another site's")]
    NotYours(Ticket),
    /// The site was not asked for the permission that it sent, or that the message is about.
    #[error("site {0} was not asked for its permission")]
    NotAsked(SiteId),
    /// The sender of the message has no session here.
    #[error("site {0} has no session here")]
    NoSession(SiteId),
    /// No claim can have so many units of a pool of this size.
    #[error("invalid units: {0}")]
    Units(Units),
    /// A request named units that do not exist, or not as many as it asked for.
    #[error("ticket {0} names units it cannot have")]
    Numbers(Ticket),
    /// This protocol takes every caller as a claim of its own.
    #[error("each caller of this lock needs a claim of its own")]
    NoTurns,
    /// A claim names no group.
    #[error("a claim names no group; expected at least one")]
    NoGroups,
    /// A request was let in with a group that it did not claim.
    #[error("ticket {0} was let in with a group it did not claim")]
    NotClaimed(Ticket),
    /// A field of a message cannot be true.
    #[error("an implausible {0}")]
    Implausible(Field),
    /// A number is so far above ours that it is not believed yet.
    #[error("a {0} far above ours")]
    Far(Field),
    /// A message of a holder came from a request that does not have our vote.
    #[error("ticket {0} does not have our vote")]
    NotHolder(Ticket),
}

//! The contract between a protocol and whoever drives it.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;

use quorate_quorum::{QuorumSystem, SiteId};

use crate::pool::Units;
use crate::{Basis, ClaimId, Out, SessionNo, Shared, Tick, Ticket, View};

/// One site's part in a lock protocol, as a pure state machine.
///
/// The driver feeds [`step`](Self::step) one [`Input`] at a time and carries out the
/// [`Effect`](crate::Effect)s in the order pushed. The state is a plain value:
/// `Clone + Eq + Hash` lets the checker store it, and ordered collections make equal histories
/// give equal bytes.
pub trait Protocol: Clone + Debug + Eq + Hash {
    /// What sites say to each other.
    type Message: Clone + Debug + Display + Eq + Hash;
    /// What a caller asks for: the lock, any of some groups, a role, a number of units.
    type Claim: Clone + Debug + Eq + Hash;
    /// What it gets; every grant carries its fence.
    type Grant: Clone + Debug + Display + Eq + Hash;
    /// Deadlines, by name; [`Infallible`](std::convert::Infallible) where the paper has none.
    type Timer: Copy + Debug + Display + Eq + Hash + Ord;

    /// Whether a site may have several claims under way at once.
    const SEVERAL: bool = false;

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

    /// What a grant rests on: permissions of a quorum, or one giver's word.
    fn rests_on(&self, claim: ClaimId) -> Basis;

    /// Whom others, or claims of ours, are inside or let somebody in on our word about: to which
    /// site the word was given, and which request it is about.
    fn words(&self) -> Vec<(SiteId, Ticket)> {
        Vec::new()
    }

    /// What our word about a request rests on.
    fn word_on(&self, _about: Ticket) -> Basis {
        Basis::Nothing
    }

    /// The requests of callers, here or elsewhere, for which a request of ours was made.
    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        vec![request]
    }

    /// The quorums of which a claim needs one: those of the cluster, unless it depends on what is
    /// asked for.
    fn quorums_of<'a>(&'a self, site: &'a Shared, _claim: ClaimId) -> &'a dyn QuorumSystem {
        site.quorums()
    }

    /// Who is inside, who waits in which place, who blocks whom: for `show` and `explain`.
    fn view(&self) -> View;

    /// Whether another site is known to wait for what a claim of ours holds.
    fn is_wanted(&self) -> bool;

    /// Whether nothing is going on here: no claim, no loan, nobody in a queue. The resource can be
    /// forgotten, once its numbers are [noted](Self::retire).
    fn is_vacant(&self) -> bool;

    /// Notes what must outlive a vacant resource, so that a later one of its name goes on from it.
    fn retire(&self, site: &mut Shared);
}

/// Everything that can happen to a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input<P: Protocol> {
    /// A caller wants in.
    Acquire(ClaimId, P::Claim),
    /// A caller that is inside leaves.
    Release(ClaimId),
    /// A caller that waits gives up.
    Abandon(ClaimId),
    /// The caller inside is followed by another one of its site, under the same claim: the grant
    /// is repeated, with the next fence.
    Turn(ClaimId),
    /// A message arrived from a site.
    Deliver(SiteId, P::Message),
    /// An armed timer ran out.
    Expire(P::Timer),
    /// Requester half: nothing was heard of the site for half a lease.
    Silent(SiteId),
    /// Requester half: our session at the site is over, and with it what it lent us.
    Lost(SiteId),
    /// Requester half: we have a session at the site.
    Open(SiteId, SessionNo),
    /// Arbiter half: the site's session here is over, and what we lent it is ours again.
    Closed(SiteId),
    /// Arbiter half: the site has a session here.
    Opened(SiteId, SessionNo),
    /// Arbiter half: what the site of this request told us of it holds again, after its time had
    /// run out or before we knew of any.
    Assured(Ticket),
    /// Arbiter half: the quarantine after a restart is over, and we may lend.
    Cleared,
}

/// A peer or a caller broke the contract. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Violation {
    /// The site has a claim of this resource under way; this protocol takes one at a time.
    Busy,
    /// The claim to be released is not inside.
    NotInside(ClaimId),
    /// The claim to be given up does not wait.
    NotWaiting(ClaimId),
    /// The cluster has no quorum for this site: it can arbitrate, not ask.
    NoQuorum,
    /// A site spoke for another site's ticket.
    NotYours(Ticket),
    /// A permission of a site that was not asked for it.
    NotAsked(SiteId),
    /// A site spoke that has no session here.
    NoSession(SiteId),
    /// Nobody can have so many units of a pool of this size.
    Units(Units),
    /// A request named units that it cannot have, or not as many as it asked for.
    Numbers(Ticket),
    /// This protocol takes every caller as a claim of its own.
    NoTurns,
    /// Nobody can be let in with any of no groups.
    NoGroups,
    /// A request was let in with a group that it did not claim.
    NotClaimed(Ticket),
    /// A request spoke as if it had the vote of this site.
    NotHolder(Ticket),
}

impl Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Busy => f.write_str("the site has a claim of this lock under way already"),
            Violation::NotInside(claim) => write!(f, "claim {} is not inside", claim.0),
            Violation::NotWaiting(claim) => write!(f, "claim {} is not waiting", claim.0),
            Violation::NoQuorum => f.write_str("the site has no quorum to ask"),
            Violation::NotYours(ticket) => write!(f, "ticket {ticket} is another site's"),
            Violation::NotAsked(site) => write!(f, "site {site} was not asked for its permission"),
            Violation::NoSession(site) => write!(f, "site {site} has no session here"),
            Violation::Units(units) => write!(f, "invalid units: {units}"),
            Violation::Numbers(ticket) => write!(f, "ticket {ticket} names units it cannot have"),
            Violation::NoTurns => f.write_str("each caller of this lock needs a claim of its own"),
            Violation::NoGroups => f.write_str("a claim names no group; expected at least one"),
            Violation::NotClaimed(ticket) => {
                write!(f, "ticket {ticket} was let in with a group it did not claim")
            }
            Violation::NotHolder(ticket) => write!(f, "ticket {ticket} does not have our vote"),
        }
    }
}

impl std::error::Error for Violation {}

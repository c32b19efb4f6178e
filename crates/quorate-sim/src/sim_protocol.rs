//! What the simulator must know of a protocol to drive it, check it and print it.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::pool::Units;
use quorate_protocol::{ClaimId, Fence, Protocol, Record, SessionNo, Tick, Ticket};
use quorate_quorum::{SiteId, SiteSet};

use crate::{AnySetup, Quorums, Setup, Shape};

/// A protocol that can be simulated.
pub trait SimProtocol:
    Protocol<Message: Send + Sync, Claim: Send + Sync, Grant: Send + Sync, Timer: Send + Sync>
    + Send
    + Sync
    + 'static
{
    /// Its name in scripts and on the command line.
    const NAME: &'static str;

    /// Its default construction of quorums.
    const QUORUM: &'static str;

    /// Whether it works where messages overtake each other, if its switches are set for that.
    const ANY_ORDER: bool;

    /// Whether it works where messages are lost and sites forget, without sessions that tell it.
    const LOSSY: bool = false;

    /// Whether its grants are units of something that has several.
    const POOLED: bool = false;

    /// Whether it has a token.
    const TOKENS: bool = false;

    /// Whether it knows only the world of its paper, where no session ends and nobody gives up.
    const IDEAL: bool = false;

    /// The kinds of its messages, as [`kind`](Self::kind) names them; none if they are not listed.
    const KINDS: &'static [&'static str] = &[];

    /// Whether its sites lend permissions and queue requests, and their view tells of it.
    const ARBITERS: bool = true;

    /// Whether groups have hosts that can be set.
    const HOSTS: bool = false;

    /// Its switches.
    type Options: Clone + Debug + Send + Sync;

    /// The quorums it decides by.
    type Quorums: Quorums;

    /// The same cluster without its type: always `Arc::new(setup)`.
    ///
    /// Each protocol implements it so that its world is compiled there, once, and not in every
    /// crate that makes one.
    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup>;

    /// Builds the quorums of this shape, for these claims.
    ///
    /// # Errors
    ///
    /// There are none; the text says what there is.
    fn quorums(shape: &Shape, claims: &[Self::Claim]) -> Result<Self::Quorums, String>;

    /// One site at which nothing has happened yet.
    fn new_site(quorums: &Self::Quorums, options: &Self::Options) -> Self;

    /// The same where it depends on the site.
    fn at(_: SiteId, quorums: &Self::Quorums, options: &Self::Options) -> Self {
        Self::new_site(quorums, options)
    }

    /// A site that starts again with what it has
    /// [persisted](quorate_protocol::Effect::Persist), but for its fences.
    fn restarted(
        site: SiteId,
        quorums: &Self::Quorums,
        options: &Self::Options,
        _: Option<&Record>,
    ) -> Self {
        Self::at(site, quorums, options)
    }

    /// Whether safety depends on the time at which a timer runs out. In a search such timers run
    /// out in the order of their times; others at any moment.
    fn is_deadline(_: Self::Timer) -> bool {
        false
    }

    /// Until when a grant is valid, if time ends it.
    fn valid_until(&self, _: ClaimId) -> Option<Tick> {
        None
    }

    /// Reads a claim as scripts spell it after `acquires`.
    ///
    /// # Errors
    ///
    /// The words are no claim of this protocol; the text says what is.
    fn parse_claim(words: &[&str]) -> Result<Self::Claim, String>;

    /// The message's name in the paper.
    fn kind(message: &Self::Message) -> &'static str;

    /// Whether the message is for the arbiter half; all others are for the requester.
    fn is_for_arbiter(message: &Self::Message) -> bool;

    /// Whether two sites ever send each other a message.
    fn communicate(_: &Self::Quorums, _: SiteId, _: SiteId) -> bool {
        true
    }

    /// Whether two grants must not be inside together.
    fn conflict(one: &Self::Grant, other: &Self::Grant) -> bool;

    /// How many units a grant takes, of how many.
    fn units(_: &Self::Grant) -> Units {
        Units { count: 1, of: 1 }
    }

    /// The grant's fence.
    fn fence(grant: &Self::Grant) -> Fence;

    /// Which fences a grant's fence must be above.
    fn fence_order(_: &Self::Grant) -> FenceOrder {
        FenceOrder { above: vec![0], level: vec![], own: vec![0] }
    }

    /// The fence of the stage that a grant is part of, where grants of one stage need not be in
    /// order: it must be above all fences of the stages before.
    fn stage_fence(_: &Self::Grant) -> Option<Fence> {
        None
    }

    /// The group that a fence belongs to: grants of different owners never share a fence.
    fn fence_owner(_: &Self::Grant) -> u64 {
        0
    }

    /// The epoch of the token at this site, where a protocol has tokens.
    fn held_token(&self) -> Option<u64> {
        None
    }

    /// The epoch of the token that a message carries.
    fn carried_token(_: &Self::Message) -> Option<u64> {
        None
    }

    /// How long the caller declared to stay, if it had to.
    fn declared_time(_: &Self::Grant) -> Option<Duration> {
        None
    }

    /// Whether these sites contain a quorum for a grant.
    fn is_quorum_for(quorums: &Self::Quorums, grant: &Self::Grant, sites: &SiteSet) -> bool;

    /// The delegation that a grant depends on, if it does not depend on permissions.
    fn delegation(_: &Self::Grant) -> Option<Delegation> {
        None
    }

    /// Our requests by which others may be inside, and the sites whose permissions support each.
    fn delegation_roots(&self) -> Vec<(Ticket, SiteSet)> {
        Vec::new()
    }

    /// Whether the permissions of these sites are enough for a request that others follow.
    fn can_delegate(_: &Self::Quorums, _: &SiteSet) -> bool {
        false
    }

    /// Whether some claims must not wait while others are inside; see [`must_join`].
    ///
    /// [`must_join`]: Self::must_join
    fn joined(_: &Self::Options) -> bool {
        false
    }

    /// Whether a claim must not wait while `grant` is inside, once no message is under way.
    fn must_join(_: &Self::Options, _: &Self::Claim, _: &Self::Grant) -> bool {
        false
    }

    /// Whether these switches let messages overtake each other.
    fn is_unordered(_: &Self::Options) -> bool {
        Self::ANY_ORDER
    }

    /// What a site of this protocol shows besides what all sites do, by name, for
    /// `expect S shows NAME TEXT`. An empty text reads `none`.
    fn show(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Whether a grant is as a script says behind `inside`.
    ///
    /// # Errors
    ///
    /// The words do not describe a grant of this protocol; the text says what would.
    fn grant_matches(_: &Self::Grant, words: &[&str]) -> Result<bool, String> {
        Err(format!("a {} is not held with `{}`; expected `inside`", Self::NAME, words.join(" ")))
    }
}

/// A grant by one site's decision, which has the right to decide from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delegation {
    /// The site that decided.
    pub giver: SiteId,
    /// The request that it depends on; nobody is inside by this delegation when that is over.
    pub root: Ticket,
    /// The session of the giver at the request's site in which it got the right.
    pub right: SessionNo,
}

/// The order of a grant's fence among those of other grants.
///
/// Grants are of several kinds, which have numbers. A grant's fence must be above the fences of all
/// earlier grants of some kinds, and later ones compare with it by the kinds it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FenceOrder {
    /// The kinds its fence must be above.
    pub above: Vec<usize>,
    /// The kinds its fence must not be below.
    pub level: Vec<usize>,
    /// The kinds it is of.
    pub own: Vec<usize>,
}

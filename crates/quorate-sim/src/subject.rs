//! What the simulator must know of a protocol to drive it, judge it and speak of it.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::pool::Units;
use quorate_protocol::{ClaimId, Fence, Protocol, Record, SessionNo, Tick, Ticket};
use quorate_quorum::{SiteId, SiteSet};

use crate::{AnySetup, Quorums, Setup, Shape};

/// A protocol that can be simulated.
pub trait Subject:
    Protocol<Message: Send + Sync, Claim: Send + Sync, Grant: Send + Sync, Timer: Send + Sync>
    + Send
    + Sync
    + 'static
{
    /// Its name in scripts and on the command line.
    const NAME: &'static str;

    /// The construction of quorums it uses if nothing is said.
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

    /// Its switches.
    type Options: Clone + Debug + Send + Sync;

    /// The quorums it decides by.
    type Quorums: Quorums;

    /// The same cluster without its type: always `Arc::new(setup)`.
    ///
    /// It stands with each protocol so that a world of it is compiled there, once, and not in
    /// every crate that makes one.
    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup>;

    /// The quorums that are meant, for these claims.
    ///
    /// # Errors
    ///
    /// There are none such; the text says what there is.
    fn quorums(shape: &Shape, claims: &[Self::Claim]) -> Result<Self::Quorums, String>;

    /// One site at which nothing has happened yet.
    fn new_site(quorums: &Self::Quorums, options: &Self::Options) -> Self;

    /// The same at a site of the cluster, where it matters at which.
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

    /// Whether safety rests on the time at which a timer runs out. In a search such timers run out
    /// in the order of their times; others at any moment.
    fn is_deadline(_: Self::Timer) -> bool {
        false
    }

    /// Until when the caller of a claim inside believes in its grant, if time ends it.
    fn believes_until(&self, _: ClaimId) -> Option<Tick> {
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

    /// Whether the arbiter half is spoken to; everything else is the requester's.
    fn is_for_arbiter(message: &Self::Message) -> bool;

    /// Whether two sites ever have anything to say to each other.
    fn speak(_: &Self::Quorums, _: SiteId, _: SiteId) -> bool {
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

    /// Which fences a grant's must be above.
    fn marks(_: &Self::Grant) -> Marks {
        Marks { above: vec![0], level: vec![], own: vec![0] }
    }

    /// The fence of the stage that a grant is part of, where grants of one stage need not be in
    /// order: it must be above all fences of the stages before.
    fn stage_fence(_: &Self::Grant) -> Option<Fence> {
        None
    }

    /// Whom a fence serves: two of different parties never have the same one.
    fn party(_: &Self::Grant) -> u64 {
        0
    }

    /// The epoch of the token that a site has, where a protocol has tokens.
    fn holds(&self) -> Option<u64> {
        None
    }

    /// The epoch of the token that a message carries.
    fn carries(_: &Self::Message) -> Option<u64> {
        None
    }

    /// How long the caller said that it would stay, if it had to say so.
    fn stays(_: &Self::Grant) -> Option<Duration> {
        None
    }

    /// Whether these sites vouch for a grant: they contain a quorum for it.
    fn vouch(quorums: &Self::Quorums, grant: &Self::Grant, sites: &SiteSet) -> bool;

    /// On whose word a grant is, if it does not rest on permissions.
    fn warrant(_: &Self::Grant) -> Option<Warrant> {
        None
    }

    /// Our requests on which the word of others rests, and those who vouch for each.
    fn leads(&self) -> Vec<(Ticket, SiteSet)> {
        Vec::new()
    }

    /// Whether these sites are enough for a request that others follow.
    fn carry(_: &Self::Quorums, _: &SiteSet) -> bool {
        false
    }

    /// Whether some claims must not wait while others are inside; see [`must_join`].
    ///
    /// [`must_join`]: Self::must_join
    fn joined(_: &Self::Options) -> bool {
        false
    }

    /// Whether a claim must not wait while somebody is inside with `grant`, once all is quiet.
    fn must_join(_: &Self::Options, _: &Self::Claim, _: &Self::Grant) -> bool {
        false
    }

    /// What a site shows of itself under a name, for `expect S shows NAME TEXT`.
    ///
    /// # Errors
    ///
    /// A site of this protocol shows nothing of that name; the text says what it does.
    fn shown(&self, what: &str) -> Result<String, String> {
        Err(format!("a site of a {} shows no `{what}`, nor anything else", Self::NAME))
    }

    /// Whether a grant is as a script says behind `inside`.
    ///
    /// # Errors
    ///
    /// The words say nothing of a grant of this protocol; the text says what does.
    fn is_as(_: &Self::Grant, words: &[&str]) -> Result<bool, String> {
        Err(format!("a {} is not held with `{}`; expected `inside`", Self::NAME, words.join(" ")))
    }
}

/// The word of one site, which has the right to give it from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Warrant {
    /// Who gave it.
    pub giver: SiteId,
    /// The request for whose sake it was given; nobody is inside on this word when that is over.
    pub lead: Ticket,
    /// The session of the giver at the request's site in which it was told that it may.
    pub right: SessionNo,
}

/// Where a grant stands among those that fences put in order.
///
/// Grants are of several kinds, which have numbers. A grant's fence must be above those of all
/// grants before it of some kinds, and counts for others as one of its own kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    /// The kinds its fence must be above.
    pub above: Vec<usize>,
    /// The kinds its fence must not be below.
    pub level: Vec<usize>,
    /// The kinds it is of.
    pub own: Vec<usize>,
}

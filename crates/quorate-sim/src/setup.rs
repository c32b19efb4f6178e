//! Protocols by name, and clusters of them, behind types that do not depend on the protocol.
//!
//! Drivers of worlds work through these and through [`AnyWorld`], so a driver is compiled once, and
//! a world once for each protocol.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::sync::Arc;

use quorate_quorum::{SiteId, SiteSet};

use crate::world::World;
use crate::{AnyWorld, Claim, Contract, Order, Quorums, Shape, SimProtocol};

/// The properties of a protocol that do not depend on its quorums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Facts {
    /// Its name in scripts and on the command line.
    pub name: &'static str,
    /// Its default construction of quorums.
    pub quorum: &'static str,
    /// Whether a site may have several claims at a time.
    pub several: bool,
    /// Whether it works where messages overtake each other, if its switches are set for that.
    pub any_order: bool,
    /// Whether it works where messages are lost and sites forget, without sessions that tell it.
    pub lossy: bool,
    /// Whether its grants are units of something that has several.
    pub pooled: bool,
    /// Whether it has a token.
    pub tokens: bool,
    /// Whether some claims must not wait while others are inside.
    pub joined: bool,
    /// Whether it knows only the world of its paper, where no session ends and nobody gives up.
    pub ideal: bool,
    /// Whether its switches are set for messages that overtake each other.
    pub unordered: bool,
    /// Whether groups have hosts that can be set.
    pub hosts: bool,
    /// The kinds of its messages; none if they are not listed.
    pub kinds: &'static [&'static str],
}

impl Facts {
    /// Of protocol `P`, with these switches set.
    fn of<P: SimProtocol>(options: &P::Options) -> Self {
        Self {
            name: P::NAME,
            quorum: P::QUORUM,
            several: P::CONCURRENT_CLAIMS,
            any_order: P::ANY_ORDER,
            lossy: P::LOSSY,
            pooled: P::POOLED,
            tokens: P::TOKENS,
            joined: P::joined(options),
            ideal: P::IDEAL,
            unordered: P::is_unordered(options),
            hosts: P::HOSTS,
            kinds: P::KINDS,
        }
    }
}

/// A protocol with its switches set, as a catalogue finds it by name.
pub trait AnyProtocol: Debug + Send + Sync {
    /// What is known of it.
    fn facts(&self) -> Facts;

    /// Reads a claim as scripts spell it after `acquires`.
    ///
    /// # Errors
    ///
    /// The words are no claim of this protocol; the text says what is.
    fn parse_claim(&self, words: &[&str]) -> Result<Claim, String>;

    /// A cluster with these quorums, for these claims.
    ///
    /// # Errors
    ///
    /// There are no such quorums; the text says what there is.
    fn setup(&self, shape: &Shape, claims: &[Claim]) -> Result<Arc<dyn AnySetup>, String>;
}

/// Finds a protocol by its name, with these switches set.
///
/// Its error says that there is no such protocol, switch or value, and what there is.
pub type Catalogue = fn(&str, &[Setting]) -> Result<Arc<dyn AnyProtocol>, String>;

/// A switch of a protocol, as people spell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Which switch.
    pub name: String,
    /// What it is set to.
    pub value: String,
}

/// Protocol `P` with its switches set.
#[derive(Debug)]
pub struct Configured<P: SimProtocol> {
    /// The switches.
    pub options: P::Options,
}

impl<P: SimProtocol> Configured<P> {
    /// The same for a catalogue.
    pub fn erased(options: P::Options) -> Arc<dyn AnyProtocol> {
        Arc::new(Self { options })
    }
}

impl<P: SimProtocol> AnyProtocol for Configured<P> {
    fn facts(&self) -> Facts {
        Facts::of::<P>(&self.options)
    }

    fn parse_claim(&self, words: &[&str]) -> Result<Claim, String> {
        P::parse_claim(words).map(Claim::of)
    }

    fn setup(&self, shape: &Shape, claims: &[Claim]) -> Result<Arc<dyn AnySetup>, String> {
        let claims: Vec<P::Claim> =
            claims.iter().map(|claim| claim.downcast::<P::Claim>().clone()).collect();
        Ok(setup::<P>(P::quorums(shape, &claims)?, self.options.clone()))
    }
}

/// A cluster of one protocol: what all worlds of it share.
pub trait AnySetup: Debug + Send + Sync {
    /// What is known of the protocol.
    fn facts(&self) -> Facts;

    /// How many sites the cluster has.
    fn n(&self) -> usize;

    /// The construction of its quorums and its size, for people.
    fn quorum_name(&self) -> String;

    /// Whom `site` asks when all are up, if that does not depend on its claim.
    fn own_quorum(&self, site: SiteId) -> Option<SiteSet>;

    /// Whether `site` has a quorum to ask.
    fn may_ask(&self, site: SiteId) -> bool;

    /// Its quorums, of the protocol's type.
    fn quorums(&self) -> &dyn Any;

    /// The cluster in its initial state: with sessions that can end as the contract says, or with
    /// channels that never fail and deliver in this order.
    fn world(self: Arc<Self>, contract: Option<Contract>, order: Order) -> Box<dyn AnyWorld>;
}

impl dyn AnySetup {
    /// The same quorums for protocol `P`, with these switches set.
    ///
    /// # Panics
    ///
    /// The protocol has quorums of another type.
    pub fn of<P: SimProtocol>(&self, options: P::Options) -> Arc<dyn AnySetup> {
        let quorums: Option<&P::Quorums> = self.quorums().downcast_ref();
        setup::<P>(quorums.expect("the protocol has the same quorums").clone(), options)
    }
}

/// A cluster of protocol `P`.
pub fn setup<P: SimProtocol>(quorums: P::Quorums, options: P::Options) -> Arc<dyn AnySetup> {
    P::erase(Setup::new(quorums, options))
}

/// A cluster of protocol `P`.
pub struct Setup<P: SimProtocol> {
    pub(crate) options: P::Options,
    pub(crate) quorums: P::Quorums,
    /// The pairs of sites that never send each other a message, both ways.
    pub(crate) isolated: BTreeSet<(SiteId, SiteId)>,
}

impl<P: SimProtocol> Setup<P> {
    /// Of these quorums, with these switches set.
    pub fn new(quorums: P::Quorums, options: P::Options) -> Self {
        let sites = || SiteId::all(quorums.n());
        let mut isolated = BTreeSet::new();
        // Where every site asks, every site is asked.
        if !sites().all(|site| quorums.may_ask(site)) {
            let pairs = sites().flat_map(|one| sites().map(move |other| (one, other)));
            isolated.extend(pairs.filter(|&(one, other)| !P::communicate(&quorums, one, other)));
        }
        Self { options, quorums, isolated }
    }
}

impl<P: SimProtocol> Debug for Setup<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", P::NAME, self.quorums.name())
    }
}

impl<P: SimProtocol> AnySetup for Setup<P> {
    fn facts(&self) -> Facts {
        Facts::of::<P>(&self.options)
    }

    fn n(&self) -> usize {
        self.quorums.n()
    }

    fn quorum_name(&self) -> String {
        self.quorums.name()
    }

    fn own_quorum(&self, site: SiteId) -> Option<SiteSet> {
        self.quorums.own(site)
    }

    fn may_ask(&self, site: SiteId) -> bool {
        self.quorums.may_ask(site)
    }

    fn quorums(&self) -> &dyn Any {
        &self.quorums
    }

    fn world(self: Arc<Self>, contract: Option<Contract>, order: Order) -> Box<dyn AnyWorld> {
        Box::new(World::of_setup(self, contract, order))
    }
}

//! The claims of callers, site by site.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use quorate_quorum::SiteId;

use crate::{AnyProtocol, SimProtocol};

/// A claim of any protocol.
#[derive(Clone)]
pub struct Claim(Arc<dyn ClaimValue>);

/// A claim of some protocol.
trait ClaimValue: Any + fmt::Debug + Send + Sync {}

impl<T: Any + fmt::Debug + Send + Sync> ClaimValue for T {}

impl Claim {
    /// A claim of some protocol.
    pub fn of(claim: impl Any + fmt::Debug + Send + Sync) -> Self {
        Self(Arc::new(claim))
    }

    /// The claim itself.
    ///
    /// # Panics
    ///
    /// It is a claim of another protocol.
    pub fn downcast<C: Any>(&self) -> &C {
        let claim = (&*self.0 as &dyn Any).downcast_ref();
        claim.unwrap_or_else(|| panic!("{self:?} is a claim of the protocol at hand"))
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The claims of the callers of each site, in turn, and how many are made at once.
#[derive(Clone, Debug)]
pub struct Claims {
    of_site: Vec<Vec<Claim>>,
    at_once: usize,
}

impl Claims {
    /// The callers of every site claim the same, in turn, one after the other.
    pub fn all<C: Any + fmt::Debug + Send + Sync>(claims: Vec<C>) -> Self {
        Self::each(vec![claims])
    }

    /// The callers of each site have claims of their own. If there are more sites than lists, the
    /// lists are used again from the first one on.
    pub fn each<C: Any + fmt::Debug + Send + Sync>(of_site: Vec<Vec<C>>) -> Self {
        let erased = |claims: Vec<C>| claims.into_iter().map(Claim::of).collect();
        Self::new(of_site.into_iter().map(erased).collect())
    }

    fn new(of_site: Vec<Vec<Claim>>) -> Self {
        let some = !of_site.is_empty() && of_site.iter().all(|claims| !claims.is_empty());
        assert!(some, "every site claims something");
        Self { of_site, at_once: 1 }
    }

    /// Reads claims of protocol `P`, as [`read`](Self::read) does.
    ///
    /// # Errors
    ///
    /// One of them is no claim of protocol `P`; the text says what is.
    pub fn parse<P: SimProtocol>(text: &str) -> Result<Self, String> {
        Self::split(text, |words| P::parse_claim(words).map(Claim::of))
    }

    /// Reads claims: sites are separated by semicolons, and the claims of a site by commas.
    ///
    /// # Errors
    ///
    /// One of them is no claim of `protocol`; the text says what is.
    pub fn read(protocol: &dyn AnyProtocol, text: &str) -> Result<Self, String> {
        Self::split(text, |words| protocol.parse_claim(words))
    }

    fn split(text: &str, parse: impl Fn(&[&str]) -> Result<Claim, String>) -> Result<Self, String> {
        let claim = |text: &str| parse(&text.split_whitespace().collect::<Vec<_>>());
        let of_site = |text: &str| text.split(',').map(claim).collect();
        Ok(Self::new(text.split(';').map(of_site).collect::<Result<_, _>>()?))
    }

    /// Lets so many claims of a site be under way at once.
    pub fn at_once(self, at_once: usize) -> Self {
        Self { at_once, ..self }
    }

    /// How many claims of a site may be under way at once.
    pub fn most_at_once(&self) -> usize {
        self.at_once
    }

    /// The next claim of a site that has made so many.
    pub fn next(&self, site: SiteId, made: u32) -> &Claim {
        let claims = &self.of_site[site.index() % self.of_site.len()];
        &claims[made as usize % claims.len()]
    }

    /// All possible claims.
    pub fn iter(&self) -> impl Iterator<Item = &Claim> {
        self.of_site.iter().flatten()
    }
}

//! What callers claim, site by site.

use quorate_quorum::SiteId;

use crate::Subject;

/// What the callers of each site claim, in turn, and how many of them at once.
#[derive(Clone, Debug)]
pub struct Claims<C> {
    of_site: Vec<Vec<C>>,
    at_once: usize,
}

impl<C> Claims<C> {
    /// The callers of every site claim the same, in turn, one after the other.
    pub fn all(claims: Vec<C>) -> Self {
        Self::each(vec![claims])
    }

    /// The callers of each site have claims of their own. If there are more sites than lists, the
    /// lists are used again from the first one on.
    pub fn each(of_site: Vec<Vec<C>>) -> Self {
        let some = !of_site.is_empty() && of_site.iter().all(|claims| !claims.is_empty());
        assert!(some, "every site claims something");
        Self { of_site, at_once: 1 }
    }

    /// Reads the claims of sites, parted by semicolons, and of a site, one after the other, parted
    /// by commas.
    ///
    /// # Errors
    ///
    /// One of them is no claim of protocol `P`; the text says what is.
    pub fn parse<P: Subject<Claim = C>>(text: &str) -> Result<Self, String> {
        let claim = |text: &str| P::parse_claim(&text.split_whitespace().collect::<Vec<_>>());
        let of_site = |text: &str| text.split(',').map(claim).collect();
        Ok(Self::each(text.split(';').map(of_site).collect::<Result<_, _>>()?))
    }

    /// So many claims of a site may be under way at once.
    pub fn at_once(self, at_once: usize) -> Self {
        Self { at_once, ..self }
    }

    /// How many claims of a site may be under way at once.
    pub fn most_at_once(&self) -> usize {
        self.at_once
    }

    /// What a site claims that has made so many claims before.
    pub fn next(&self, site: SiteId, made: u32) -> &C {
        let claims = &self.of_site[site.index() % self.of_site.len()];
        &claims[made as usize % claims.len()]
    }

    /// All claims that can be made.
    pub fn iter(&self) -> impl Iterator<Item = &C> {
        self.of_site.iter().flatten()
    }
}

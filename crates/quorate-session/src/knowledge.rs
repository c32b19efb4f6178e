//! Whether the answers of some sites tell who holds a lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use quorate_quorum::SiteId;

use crate::Ticket;
use crate::lock::Kind;
use crate::view::{RequestView, ResourceView};

/// The sites that answered a question about locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answering {
    /// How many sites the cluster has.
    pub sites: usize,
    /// The sites that answered and have forgotten nothing.
    pub counted: BTreeSet<SiteId>,
    /// The sites that answered, but have restarted and forgotten to whom they had lent.
    pub quarantined: BTreeSet<SiteId>,
    /// Whether the sites that count are enough: they meet every quorum that could hold a lock.
    pub enough: bool,
}

impl Answering {
    /// The sites that did not answer.
    pub fn silent(&self) -> impl Iterator<Item = SiteId> + '_ {
        let answers =
            |site: &SiteId| self.counted.contains(site) || self.quarantined.contains(site);
        SiteId::all(self.sites).filter(move |site| !answers(site))
    }

    /// How many sites can be enough: of any two halves, one meets every quorum.
    pub fn needed(&self) -> usize {
        self.sites.div_ceil(2)
    }

    /// How many sites answer, and that this many are needed if they are not enough.
    pub fn sentence(&self, needed: usize) -> String {
        let (counted, restarted) = (self.counted.len(), self.quarantined.len());
        if counted + restarted == 0 {
            return "no site answers".to_owned();
        }
        let verb = if counted + restarted == 1 { "answers" } else { "answer" };
        let mut text = format!("{} of {} sites {verb}", counted + restarted, self.sites);
        if restarted > 0 {
            let verb = if restarted == 1 { "has" } else { "have" };
            let sites = site_list(&self.quarantined, "and");
            text = format!("{text}, of which {sites} {verb} restarted");
        }
        match counted {
            _ if self.enough => text,
            _ if counted < needed => format!("{text}, {needed} needed"),
            _ => format!("{text}, which are not enough"),
        }
    }

    /// Why `views` do not tell whether a lock is held, or how many units of a pool are taken;
    /// `None` if they do. The views are those that the answering sites have of this lock.
    pub fn doubt(&self, views: &BTreeMap<SiteId, ResourceView>) -> Option<Doubt> {
        if !self.enough {
            return Some(Doubt::TooFew(self.clone()));
        }
        let unseen = self.unseen(views);
        (!unseen.is_empty()).then_some(Doubt::Unseen(unseen))
    }

    /// The sites that do not count, if their callers may hold the lock.
    fn unseen(&self, views: &BTreeMap<SiteId, ResourceView>) -> BTreeSet<SiteId> {
        let is_pool = views.values().any(|view| view.kind.units().is_some());
        let inside = |view: &ResourceView| {
            view.more.inside > 0 || view.calls.iter().any(|call| call.fence.is_some())
        };
        let held = || views.values().any(inside);
        if !is_pool && held() {
            return BTreeSet::new(); // it is held, whoever else holds it
        }
        let mut loans = views
            .iter()
            .flat_map(|(site, view)| view.lent.iter().map(move |ticket| (site, *ticket)));
        if is_token_away(views) || loans.any(|loan| !self.is_explained(loan, is_pool, views)) {
            return SiteId::all(self.sites).filter(|site| !self.counted.contains(site)).collect();
        }
        BTreeSet::new()
    }

    /// Whether the site of a request says what became of a loan to it: the request has it, and
    /// waits for others, or in a pool is inside. A request that is over or lacks the loan
    /// may have passed it on; and in all other kinds, others may be inside by one request.
    fn is_explained(
        &self,
        (arbiter, ticket): (&SiteId, Ticket),
        is_pool: bool,
        views: &BTreeMap<SiteId, ResourceView>,
    ) -> bool {
        let view = views.get(&ticket.site).filter(|_| self.counted.contains(&ticket.site));
        let mut requests = view.iter().flat_map(|view| &view.requests);
        let has_it =
            |request: &RequestView| request.ticket == ticket && !request.missing.contains(arbiter);
        // No loan of a pool is passed on: it is one of the callers that are only counted.
        let may_be_unlisted = is_pool && view.is_some_and(|view| view.more.callers() > 0);
        let is_known = |request: &RequestView| {
            if request.inside { is_pool && request.ticket == ticket } else { has_it(request) }
        };
        may_be_unlisted || requests.any(is_known)
    }
}

/// Whether there is a token, and no answering site has it: loans do not tell where it is.
fn is_token_away(views: &BTreeMap<SiteId, ResourceView>) -> bool {
    let mut tokens = views.values().filter(|view| view.kind == Kind::Token).peekable();
    tokens.peek().is_some() && tokens.all(|view| view.token.is_none())
}

/// Why it is not known whether a lock is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Too few sites answer.
    TooFew(Answering),
    /// Callers of these sites may hold it, and the answers of these sites are missing or do not
    /// count.
    Unseen(BTreeSet<SiteId>),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::TooFew(answering) => answering.fmt(f),
            Doubt::Unseen(sites) => {
                write!(f, "it may be held through {}", site_list(sites, "or"))
            }
        }
    }
}

impl fmt::Display for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(self.needed()))
    }
}

/// Sites by their numbers: `site 1`, `sites 1, 2 and 3`.
pub fn site_list<'a>(sites: impl IntoIterator<Item = &'a SiteId>, conjunction: &str) -> String {
    let numbers: Vec<String> = sites.into_iter().map(ToString::to_string).collect();
    match numbers.as_slice() {
        [] => "no site".to_owned(),
        [one] => format!("site {one}"),
        [most @ .., last] => format!("sites {} {conjunction} {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(indices: &[usize]) -> BTreeSet<SiteId> {
        indices.iter().map(|index| SiteId::new(*index)).collect()
    }

    fn answering(counted: &[usize], quarantined: &[usize], enough: bool) -> Answering {
        let (counted, quarantined) = (sites(counted), sites(quarantined));
        Answering { sites: 5, counted, quarantined, enough }
    }

    #[test]
    fn the_sentence_counts_the_sites() {
        let text = |answering: Answering| answering.to_string();
        assert_eq!(text(answering(&[], &[], false)), "no site answers");
        assert_eq!(text(answering(&[2], &[], false)), "1 of 5 sites answers, 3 needed");
        assert_eq!(
            text(answering(&[0, 1], &[3, 4], false)),
            "4 of 5 sites answer, of which sites 4 and 5 have restarted, 3 needed"
        );
        assert_eq!(
            text(answering(&[0, 1, 2], &[], false)),
            "3 of 5 sites answer, which are not enough",
            "with quorums that are no majorities"
        );
        assert_eq!(text(answering(&[0, 1, 2, 3], &[], true)), "4 of 5 sites answer");
        assert!(answering(&[0, 2], &[4], false).silent().eq(sites(&[1, 3])));
    }

    #[test]
    fn sites_are_listed() {
        let list = |indices: &[usize]| site_list(&sites(indices), "or");
        assert_eq!([list(&[]), list(&[1]), list(&[0, 1])], ["no site", "site 2", "sites 1 or 2"]);
        assert_eq!(list(&[0, 1, 4]), "sites 1, 2 or 5");
        let unseen = Doubt::Unseen(sites(&[1, 2]));
        assert_eq!(unseen.to_string(), "it may be held through sites 2 or 3");
    }

    #[test]
    fn an_unused_lock_is_free_if_enough_sites_answer() {
        assert_eq!(answering(&[0, 1, 2], &[], true).doubt(&BTreeMap::new()), None);
        let few = answering(&[0, 1], &[], false);
        assert_eq!(few.doubt(&BTreeMap::new()), Some(Doubt::TooFew(few.clone())));
    }
}

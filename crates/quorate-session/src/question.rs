//! Questions to all sites, and their answers.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::ids::Fence;
use crate::limits;
use crate::lock::Name;
use crate::text::Text;
use crate::view::ResourceView;

/// The number of a question. The driver uses no number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AskId(pub u64);

/// A question to every site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Question {
    /// What do you know of this lock? A caller with this fence is listed first.
    Show(Name, Option<Fence>),
    /// Which locks are in use, as far as you know?
    List(ListQuestion),
    /// What is your state?
    Sites,
}

impl Question {
    /// The most bytes it takes in a message.
    pub fn bytes(&self) -> usize {
        match self {
            Question::Show(name, _) => 32 + name.as_str().len(),
            Question::List(ListQuestion { prefix, after }) => {
                32 + prefix.len() + after.as_ref().map_or(0, |after| after.as_str().len())
            }
            Question::Sites => 8,
        }
    }
}

/// A question for a page of locks in use, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ListQuestion {
    /// Only locks whose names begin so.
    pub prefix: Prefix,
    /// Only locks whose names come after this one.
    pub after: Option<Name>,
}

/// The beginning of names.
pub type Prefix = Text<{ limits::NAME_BYTES }>;

/// The answer of one site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Answer {
    /// What it knows of the lock; `None` if nobody uses it there.
    Shown(Option<Box<ResourceView>>),
    /// Locks in use, as far as it knows, in the order of their names, and how many follow them. It
    /// counts up to [`limits::LOCKS_COUNTED`].
    Listed(Vec<ResourceView>, u32),
    /// Its state.
    Site(Box<SiteReport>),
}

impl Answer {
    /// The most bytes it takes in a message.
    pub fn bytes(&self) -> usize {
        match self {
            Answer::Shown(view) => 8 + view.as_ref().map_or(0, |view| view.bytes()),
            Answer::Listed(views, _) => 16 + views.iter().map(ResourceView::bytes).sum::<usize>(),
            Answer::Site(report) => 128 + 16 * report.peers.len(),
        }
    }
}

/// One page of a list, put together from the answers of several sites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The views of each lock, in the order of their names. All sites that answered have listed the
    /// locks up to the last of these.
    pub locks: Vec<(Name, BTreeMap<SiteId, ResourceView>)>,
    /// The name after which the next page begins; `None` if there is none.
    pub next: Option<Name>,
    /// At least this many locks follow.
    pub more: u32,
}

impl ListPage {
    /// Puts the answers together. Sites cut their lists at different names; beyond the first of
    /// these, locks are left for the next page.
    pub fn of(answers: impl IntoIterator<Item = (SiteId, Answer)>) -> Self {
        let mut locks: BTreeMap<String, (Name, BTreeMap<SiteId, ResourceView>)> = BTreeMap::new();
        let (mut next, mut more): (Option<Name>, u32) = (None, 0);
        for (site, answer) in answers {
            let Answer::Listed(views, left) = answer else { continue };
            let last = views.last().map(|view| view.name.clone());
            if left > 0 && next.as_ref().is_none_or(|next| is_before(last.as_ref(), next)) {
                next = last;
            }
            more = more.max(left);
            for view in views {
                let (name, text) = (view.name.clone(), view.name.as_str().to_owned());
                locks.entry(text).or_insert_with(|| (name, BTreeMap::new())).1.insert(site, view);
            }
        }
        let mut locks: Vec<_> = locks.into_values().collect();
        if let Some(next) = &next {
            let end = locks.partition_point(|(name, _)| name.as_str() <= next.as_str());
            more = more.max(u32::try_from(locks.len() - end).unwrap_or(u32::MAX));
            locks.truncate(end);
        }
        Self { locks, next, more }
    }
}

/// Whether one name comes before another in the order of their texts.
fn is_before(name: Option<&Name>, other: &Name) -> bool {
    name.is_some_and(|name| name.as_str() < other.as_str())
}

/// The answer of one site, as a client gets it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SiteAnswer {
    /// What it said.
    pub answer: Answer,
    /// It has restarted, and has forgotten to whom it had lent: a lock that it does not know may be
    /// held.
    pub quarantined: bool,
    /// Whether the answers up to this one are enough, without those of sites in quarantine. About
    /// locks: the sites meet every quorum that could hold one. About sites: they contain a quorum
    /// of every lock.
    pub enough: bool,
}

/// The state of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SiteReport {
    /// How many times it has started.
    pub incarnation: u64,
    /// How much longer it lends nothing, after a restart.
    pub quarantine: Duration,
    /// How many locks are in use, as far as it knows.
    pub resources: usize,
    /// How many callers it has.
    pub calls: usize,
    /// The size of the smallest quorum.
    pub quorum: usize,
    /// Its view of the other sites.
    pub peers: Vec<PeerReport>,
    /// Whether it has joined its cluster: enough sites have registered its start.
    pub joined: bool,
}

/// The view that one site has of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PeerReport {
    /// The other site.
    pub site: SiteId,
    /// Whether the site has a session there.
    pub open: bool,
    /// No answer from it for half a lease.
    pub silent: bool,
    /// Whether the other has a session at the site.
    pub opened: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::Kind;
    use crate::view::Unlisted;

    fn listed(names: &str, more: u32) -> Answer {
        let view = |name: &str| ResourceView {
            name: name.parse().unwrap(),
            kind: Kind::Mutex,
            calls: Vec::new(),
            requests: Vec::new(),
            lent: Vec::new(),
            queue: Vec::new(),
            token: None,
            more: Unlisted::default(),
            etas: Vec::new(),
        };
        Answer::Listed(names.split_whitespace().map(view).collect(), more)
    }

    fn page(answers: &[(&str, u32)]) -> (String, Option<String>, u32) {
        let answers = answers.iter().zip(0..);
        let answers = answers.map(|((names, more), at)| (SiteId::new(at), listed(names, *more)));
        let page = ListPage::of(answers);
        let names: Vec<&str> = page.locks.iter().map(|(name, _)| name.as_str()).collect();
        (names.join(" "), page.next.map(String::from), page.more)
    }

    #[test]
    fn a_page_ends_where_the_first_site_has_cut_its_list() {
        assert_eq!(page(&[("a c", 0), ("b", 0)]), ("a b c".into(), None, 0));
        assert_eq!(page(&[("a c", 0), ("b", 7)]), ("a b".into(), Some("b".into()), 7));
        assert_eq!(page(&[("d e", 1), ("b c", 2)]), ("b c".into(), Some("c".into()), 2));
        assert_eq!(page(&[("b c f g", 0), ("b", 1)]), ("b".into(), Some("b".into()), 3));
        assert_eq!(page(&[]), (String::new(), None, 0));
    }
}

//! One resource, as all sites together show it.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate::{Answer, CallView, Cluster, Gathered, Name, Question, ResourceView, SiteId, explain};
use serde_json::{Value, json};

use super::ANSWERS;
use crate::figures::{counted, span};

/// What the sites show of one resource.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) name: Name,
    /// What each site shows that has something to show.
    pub(crate) views: BTreeMap<SiteId, ResourceView>,
    /// The sites that did not answer.
    pub(crate) silent: Vec<SiteId>,
}

impl Seen {
    /// Asks all sites.
    pub(crate) async fn of(cluster: &Cluster, name: &Name) -> Self {
        let gathered = cluster.ask(Question::Show(name.clone()), ANSWERS).await;
        let silent = silent(cluster, &gathered);
        let shown = gathered.answers.into_iter().filter_map(|(site, answer)| match answer {
            Answer::Shown(Some(view)) => Some((site, *view)),
            _ => None,
        });
        Self { name: name.clone(), views: shown.collect(), silent }
    }

    /// Who is inside. There may be two for a moment: the sites do not answer at the same time.
    pub(crate) fn holders(&self) -> impl Iterator<Item = (SiteId, &CallView)> {
        self.calls().filter(|(_, call)| call.fence.is_some())
    }

    /// Who waits, about in the order in which they will be served.
    pub(crate) fn waiting(&self) -> Vec<(SiteId, &CallView)> {
        let mut order: Vec<SiteId> =
            explain(&self.views).iter().map(|standing| standing.request.site).collect();
        order.extend(self.views.keys().filter(|site| !order.contains(site)).collect::<Vec<_>>());
        let calls = order.iter().flat_map(|site| self.at(*site));
        calls.filter(|(_, call)| call.fence.is_none()).collect()
    }

    /// The callers of one site: who is inside, then who waits there.
    pub(crate) fn at(&self, site: SiteId) -> impl Iterator<Item = (SiteId, &CallView)> {
        let view = self.views.get(&site);
        view.into_iter().flat_map(|view| &view.calls).map(move |call| (site, call))
    }

    fn calls(&self) -> impl Iterator<Item = (SiteId, &CallView)> {
        self.views.keys().flat_map(|site| self.at(*site))
    }

    /// Who holds it and how many wait, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let name = &self.name;
        let waiting = self.waiting().len();
        let wait = match waiting {
            0 => "nobody waits".to_owned(),
            1 => "1 waits".to_owned(),
            _ => format!("{waiting} wait"),
        };
        match self.holders().last() {
            Some((_, call)) => {
                format!("{name} is held by {}, for {}; {wait}", call.card, span(call.age))
            }
            None if waiting > 0 => format!("{name} is about to be held; {wait}"),
            None => format!("{name} is free"),
        }
    }

    /// The whole of it, for programs.
    pub(crate) fn json(&self) -> Value {
        let calls = |calls: Vec<(SiteId, &CallView)>| -> Vec<Value> {
            calls.into_iter().map(|(site, call)| call_json(site, call)).collect()
        };
        json!({
            "name": self.name.as_str(),
            "kind": self.views.values().next().map(|view| view.kind.to_string()),
            "holders": calls(self.holders().collect()),
            "waiting": calls(self.waiting()),
            "silent": site_numbers(&self.silent),
        })
    }
}

/// The sites that did not answer, reached or not.
pub(crate) fn silent(cluster: &Cluster, gathered: &Gathered) -> Vec<SiteId> {
    cluster.sites().filter(|site| !gathered.answers.contains_key(site)).collect()
}

/// The line that names them; none if there are none.
pub(crate) fn silent_line(silent: &[SiteId]) -> Option<String> {
    let all: Vec<String> = silent.iter().map(ToString::to_string).collect();
    match all.len() {
        0 => None,
        1 => Some(format!("site {} does not answer", all[0])),
        count => Some(format!(
            "{} do not answer: {}",
            counted(count as u64, "site", "sites"),
            all.join(", ")
        )),
    }
}

/// Sites as people and JSON count them, from 1.
pub(crate) fn site_numbers(sites: &[SiteId]) -> Vec<usize> {
    sites.iter().map(|site| site.index() + 1).collect()
}

/// One caller, for programs.
pub(crate) fn call_json(site: SiteId, call: &CallView) -> Value {
    json!({
        "site": site.index() + 1,
        "owner": &*call.card.owner,
        "host": &*call.card.host,
        "pid": call.card.pid,
        "purpose": &*call.card.purpose,
        "age_ms": millis(call.age),
        "fence": call.fence.map(|fence| fence.0),
        "left_ms": call.left.map(millis),
    })
}

/// Whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

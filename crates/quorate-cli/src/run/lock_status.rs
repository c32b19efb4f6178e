//! The status of one lock, gathered from all sites.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate::{
    Answer, CallView, Cluster, Details, EtaView, Kind, Name, Question, ResourceView, Responses,
    Role, SiteId, Stamp, Ticket, explain,
};
use serde_json::{Value, json};

use super::ANSWER_TIMEOUT;
use quorate_terminal::figures::{counted, short_duration};

/// The status of one lock, gathered from all sites.
#[derive(Clone, Debug)]
pub(crate) struct LockStatus {
    pub(crate) name: Name,
    /// The view of each site that knows the lock.
    pub(crate) views: BTreeMap<SiteId, ResourceView>,
    /// The sites that did not answer.
    pub(crate) silent: Vec<SiteId>,
}

impl LockStatus {
    /// Asks all sites.
    pub(crate) async fn of(cluster: &Cluster, name: &Name) -> Self {
        Self::within(cluster, name, ANSWER_TIMEOUT).await
    }

    /// The same, from the answers that arrive in time.
    pub(crate) async fn within(cluster: &Cluster, name: &Name, timeout: Duration) -> Self {
        let gathered = cluster.ask(Question::Show(name.clone()), timeout).await;
        let silent = silent(cluster, &gathered);
        let shown = gathered.answers.into_iter().filter_map(|(site, answer)| match answer {
            Answer::Shown(Some(view)) => Some((site, *view)),
            _ => None,
        });
        Self { name: name.clone(), views: shown.collect(), silent }
    }

    /// The holders. Even a mutex may show two for a moment: sites answer at different times.
    pub(crate) fn holders(&self) -> impl Iterator<Item = (SiteId, &CallView)> {
        self.calls().filter(|(_, call)| call.fence.is_some())
    }

    /// The waiters, in about the order in which they will be served.
    pub(crate) fn waiting(&self) -> Vec<(SiteId, &CallView)> {
        let order: Vec<Ticket> =
            explain(&self.views).iter().map(|standing| standing.request).collect();
        let place = |call: &CallView| {
            let request = call.request.and_then(|own| order.iter().position(|one| *one == own));
            request.unwrap_or(usize::MAX)
        };
        let calls = self.calls().filter(|(_, call)| call.fence.is_none());
        let mut calls: Vec<(SiteId, &CallView)> = calls.collect();
        calls.sort_by_key(|(_, call)| place(call)); // stable: keeps the order of each site's queue
        calls
    }

    /// The callers a request is made for: holders first, then waiters.
    pub(crate) fn made_for(&self, request: Ticket) -> impl Iterator<Item = (SiteId, &CallView)> {
        self.calls().filter(move |(_, call)| call.request == Some(request))
    }

    fn calls(&self) -> impl Iterator<Item = (SiteId, &CallView)> {
        let views = self.views.iter();
        views.flat_map(|(site, view)| view.calls.iter().map(move |call| (*site, call)))
    }

    /// The earliest time at which a request can be granted, if any site knows it.
    pub(crate) fn eta(&self, request: Option<Ticket>) -> Option<EtaView> {
        let mut etas = self.views.values().flat_map(|view| &view.etas);
        etas.find(|eta| Some(eta.ticket) == request).copied()
    }

    /// The kind of lock, if it is in use.
    pub(crate) fn kind(&self) -> Option<&Kind> {
        self.views.values().next().map(|view| &view.kind)
    }

    /// The site that has the token, and the token's stamp; none if the lock has no token or it is
    /// lost or in transit. If two sites report it for a moment, the later stamp counts.
    pub(crate) fn token(&self) -> Option<(SiteId, Stamp)> {
        let tokens = self.views.iter().filter_map(|(site, view)| Some((*site, view.token?)));
        tokens.max_by_key(|(_, stamp)| *stamp)
    }

    /// The holder and the number of waiters, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let name = &self.name;
        let waiting = self.waiting().len();
        let wait = match waiting {
            0 => "nobody waits".to_owned(),
            1 => "1 waits".to_owned(),
            _ => format!("{waiting} wait"),
        };
        if let Some(units) = self.kind().and_then(Kind::units) {
            let taken: u32 = self.holders().filter_map(|(_, call)| details(call).units).sum();
            return format!("{name} has lent {taken} of {units} units; {wait}");
        }
        let members = self.holders().find_map(|(_, call)| {
            let Details { role, group, .. } = details(call);
            role.and(group)
        });
        if let Some(group) = members {
            let members = counted(self.holders().count() as u64, "member", "members");
            return format!("{name} has {members} of {group}; {wait}");
        }
        match self.holders().last() {
            Some((_, call)) if self.holders().count() > 1 => {
                format!("{name} is held {} by {}; {wait}", share(call), self.holders().count())
            }
            Some((_, call)) => {
                let share = share(call);
                let share = if share.is_empty() { share } else { format!("{share} ") };
                format!(
                    "{name} is held {share}by {}, for {}; {wait}",
                    call.claimant,
                    short_duration(call.age)
                )
            }
            None if waiting > 0 => format!("{name} is about to be held; {wait}"),
            None => format!("{name} is free"),
        }
    }

    /// The whole status, for programs.
    pub(crate) fn json(&self) -> Value {
        let shown = |(site, call): (SiteId, &CallView)| {
            let mut shown = call_json(site, call);
            let eta = self.eta(call.request).filter(|eta| eta.from_now);
            shown["eta_ms"] = json!(eta.map(|eta| millis(eta.time)));
            shown
        };
        let calls = |calls: Vec<(SiteId, &CallView)>| -> Vec<Value> {
            calls.into_iter().map(shown).collect()
        };
        json!({
            "name": self.name.as_str(),
            "kind": self.kind().map(ToString::to_string),
            "holders": calls(self.holders().collect()),
            "waiting": calls(self.waiting()),
            "token": self.token().map(|(site, stamp)| json!({
                "site": site.index() + 1,
                "epoch": stamp.epoch.0,
                "round": stamp.round,
            })),
            "silent": site_numbers(&self.silent),
        })
    }
}

/// The sites that did not answer, reached or not.
pub(crate) fn silent(cluster: &Cluster, gathered: &Responses) -> Vec<SiteId> {
    cluster.sites().filter(|site| !gathered.answers.contains_key(site)).collect()
}

/// A line that names the sites that did not answer; none if all did.
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

/// Site numbers counted from 1, as people and JSON see them.
pub(crate) fn site_numbers(sites: &[SiteId]) -> Vec<usize> {
    sites.iter().map(|site| site.index() + 1).collect()
}

/// One caller, for programs.
pub(crate) fn call_json(site: SiteId, call: &CallView) -> Value {
    let Details { units, numbers, groups, group, access, role, declared } = details(call);
    json!({
        "site": site.index() + 1,
        "owner": &*call.claimant.owner,
        "host": &*call.claimant.host,
        "pid": call.claimant.pid,
        "purpose": &*call.claimant.purpose,
        "units": units,
        "numbers": numbers,
        "groups": groups,
        "group": group,
        "access": access,
        "role": role.map(Role::name),
        "declared_ms": declared.map(millis),
        "overdue": role.map(|_| time_left(call).is_none()),
        "age_ms": millis(call.age),
        "fence": call.fence.map(|fence| fence.0),
        "left_ms": call.left.map(millis),
    })
}

/// What a caller asked for and has.
pub(crate) fn details(call: &CallView) -> Details<'_> {
    call.spec.details(call.granted.as_ref())
}

/// How much of the time that a caller declared is left; none if it overstays or declared none.
fn time_left(call: &CallView) -> Option<Duration> {
    details(call).declared?.checked_sub(call.age)
}

/// A caller's claim or grant in a few words; empty for a mutex.
pub(crate) fn share(call: &CallView) -> String {
    call.spec.phrase(call.granted.as_ref())
}

/// What a caller asked for or got, in the column [`Kind::column`].
pub(crate) fn part(call: &CallView) -> String {
    let cell = call.spec.cell(call.granted.as_ref());
    match (details(call).role, time_left(call)) {
        (None, _) => cell,
        (Some(_), Some(left)) => format!("{cell}, for {} more", short_duration(left)),
        (Some(_), None) => format!("{cell}, overdue"),
    }
}

/// Whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

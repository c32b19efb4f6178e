//! One resource, as all sites together show it.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate::{
    Access, Answer, CallView, Cluster, EtaView, Gathered, Got, Group, Kind, Name, Question,
    ResourceView, Role, SiteId, Stamp, Ticket, Want, explain,
};
use serde_json::{Value, json};

use super::ANSWERS;
use quorate_terminal::figures::{counted, span};

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
        let order: Vec<Ticket> =
            explain(&self.views).iter().map(|standing| standing.request).collect();
        let place = |call: &CallView| {
            let request = call.request.and_then(|own| order.iter().position(|one| *one == own));
            request.unwrap_or(usize::MAX)
        };
        let calls = self.calls().filter(|(_, call)| call.fence.is_none());
        let mut calls: Vec<(SiteId, &CallView)> = calls.collect();
        calls.sort_by_key(|(_, call)| place(call)); // and in the line of their site
        calls
    }

    /// The callers for whom a request is made: who is inside, then who waits.
    pub(crate) fn made_for(&self, request: Ticket) -> impl Iterator<Item = (SiteId, &CallView)> {
        self.calls().filter(move |(_, call)| call.request == Some(request))
    }

    fn calls(&self) -> impl Iterator<Item = (SiteId, &CallView)> {
        let views = self.views.iter();
        views.flat_map(|(site, view)| view.calls.iter().map(move |call| (*site, call)))
    }

    /// When a request can get in at the earliest, if somebody knows.
    pub(crate) fn eta(&self, request: Option<Ticket>) -> Option<EtaView> {
        let mut etas = self.views.values().flat_map(|view| &view.etas);
        etas.find(|eta| Some(eta.ticket) == request).copied()
    }

    /// What kind of lock it is, if it is in use.
    pub(crate) fn kind(&self) -> Option<&Kind> {
        self.views.values().next().map(|view| &view.kind)
    }

    /// The site that has the token, and its session; none if the lock has none, or nobody has it.
    /// There may be two for a moment, of which the later counts.
    pub(crate) fn token(&self) -> Option<(SiteId, Stamp)> {
        let tokens = self.views.iter().filter_map(|(site, view)| Some((*site, view.token?)));
        tokens.max_by_key(|(_, stamp)| *stamp)
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
        if let Some(Kind::Pool(units)) = self.kind() {
            let taken: u32 = self.holders().map(|(_, call)| units_of(call)).sum();
            return format!("{name} has lent {taken} of {units} units; {wait}");
        }
        let members = self.holders().find_map(|(_, call)| role_of(call).and(group_of(call)));
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
                format!("{name} is held {share}by {}, for {}; {wait}", call.card, span(call.age))
            }
            None if waiting > 0 => format!("{name} is about to be held; {wait}"),
            None => format!("{name} is free"),
        }
    }

    /// The whole of it, for programs.
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
                "session": stamp.session,
            })),
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
        "units": matches!(call.want, Want::Pool { .. }).then(|| units_of(call)),
        "numbers": numbers_of(call),
        "groups": groups_of(call),
        "group": group_of(call),
        "access": access_of(call),
        "role": role_of(call).map(|(role, _)| role.name()),
        "declared_ms": declared_of(call).map(millis),
        "overdue": role_of(call).map(|(_, left)| left.is_none()),
        "age_ms": millis(call.age),
        "fence": call.fence.map(|fence| fence.0),
        "left_ms": call.left.map(millis),
    })
}

/// How many units of a pool a caller asked for.
fn units_of(call: &CallView) -> u32 {
    match call.want {
        Want::Pool { units, .. } => units.count,
        _ => 0,
    }
}

/// The group a caller of a group lock has.
pub(crate) fn group_of(call: &CallView) -> Option<&str> {
    match (&call.want, &call.got) {
        (Want::Group(_) | Want::Token(_), Some(Got::Group(group)))
        | (_, Some(Got::Role(group, _))) => Some(group.name()),
        _ => None,
    }
}

/// The groups any of which a caller of a group lock would take.
fn groups_of(call: &CallView) -> Option<Vec<&str>> {
    match &call.want {
        Want::Group(groups) | Want::Token(groups) => Some(groups.iter().map(Group::name).collect()),
        Want::Role { groups, .. } => Some(groups.keys().map(Group::name).collect()),
        _ => None,
    }
}

/// How long a caller of a role lock said that it would stay.
fn declared_of(call: &CallView) -> Option<Duration> {
    if let Want::Role { time, .. } = call.want { Some(time) } else { None }
}

/// The role of a member, and how much of its declared time is left; none if it overstays.
fn role_of(call: &CallView) -> Option<(Role, Option<Duration>)> {
    match (&call.want, &call.got) {
        (Want::Role { time, .. }, Some(Got::Role(_, role))) => {
            Some((*role, time.checked_sub(call.age)))
        }
        _ => None,
    }
}

/// What a caller of a read-write lock asked for.
fn access_of(call: &CallView) -> Option<&'static str> {
    match call.want {
        Want::Access(Access::Read) => Some("read"),
        Want::Access(Access::Write) => Some("write"),
        _ => None,
    }
}

/// Which units of a pool a caller has, if it wanted to know.
fn numbers_of(call: &CallView) -> Option<Vec<u32>> {
    match (&call.want, &call.got) {
        (Want::Pool { numbered: true, .. }, Some(Got::Pool(numbers))) => {
            Some(numbers.iter().copied().collect())
        }
        _ => None,
    }
}

/// What a caller asked for or got, in a few words; nothing of a mutex.
pub(crate) fn share(call: &CallView) -> String {
    if let (Some(group), Some((role, _))) = (group_of(call), role_of(call)) {
        return format!("as {role} member of {group}");
    }
    if let Some(group) = group_of(call) {
        return format!("with group {group}");
    }
    let numbers: Option<Vec<String>> =
        numbers_of(call).map(|all| all.iter().map(ToString::to_string).collect());
    match (&call.want, numbers) {
        (Want::Mutex, _) => String::new(),
        (Want::Group(_) | Want::Token(_), _) => format!("with {}", call.want),
        (want, None) => want.to_string(),
        (want, Some(numbers)) => format!("{want}: {}", numbers.join(" ")),
    }
}

/// What [`part`] is called; nothing of a mutex.
pub(crate) fn part_head(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Mutex => None,
        Kind::Pool(_) => Some("UNITS"),
        Kind::Group | Kind::Token => Some("GROUP"),
        Kind::ReadWrite => Some("ACCESS"),
        Kind::Role => Some("MEMBER"),
    }
}

/// What a caller asked for or got, in a column of its own.
pub(crate) fn part(call: &CallView) -> String {
    if let Some((role, left)) = role_of(call) {
        let group = group_of(call).unwrap_or_default();
        return match left {
            Some(left) => format!("{role} in {group}, for {} more", span(left)),
            None => format!("{role} in {group}, overdue"),
        };
    }
    match (group_of(call), groups_of(call), access_of(call)) {
        _ if declared_of(call).is_some() => call.want.to_string(),
        (Some(group), ..) => group.to_owned(),
        (_, Some(groups), _) => groups.join(" or "),
        (.., Some(access)) => access.to_owned(),
        _ => share(call),
    }
}

/// Whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

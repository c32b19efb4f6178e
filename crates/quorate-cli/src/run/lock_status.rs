//! The status of one lock, gathered from all sites.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate::{
    Answer, Answering, CallView, Cluster, Details, Doubt, EtaView, Fence, Kind, Name, Printable,
    Question, ResourceView, Role, SiteId, Stamp, Ticket, Unlisted, explain, site_list,
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
    /// Which sites answered, and whether they are enough.
    pub(crate) answering: Answering,
}

impl LockStatus {
    /// Asks all sites.
    pub(crate) async fn of(cluster: &Cluster, name: &Name) -> Self {
        Self::within(cluster, name, ANSWER_TIMEOUT).await
    }

    /// The same, from the answers that arrive in time.
    pub(crate) async fn within(cluster: &Cluster, name: &Name, timeout: Duration) -> Self {
        Self::gather(cluster, Question::Show(name.clone(), None), name, timeout).await
    }

    /// Asks all sites. A holder with this fence is listed, however many others there are.
    pub(crate) async fn with_fence(cluster: &Cluster, name: &Name, fence: Fence) -> Self {
        let question = Question::Show(name.clone(), Some(fence));
        Self::gather(cluster, question, name, ANSWER_TIMEOUT).await
    }

    async fn gather(cluster: &Cluster, question: Question, name: &Name, timeout: Duration) -> Self {
        let gathered = cluster.ask(question, timeout).await;
        let shown = gathered.answers.into_iter().filter_map(|(site, answer)| match answer {
            Answer::Shown(Some(view)) => Some((site, *view)),
            _ => None,
        });
        Self { name: name.clone(), views: shown.collect(), answering: gathered.answering }
    }

    /// Why it is not known whether the lock is held; `None` if it is known.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        self.answering.doubt(&self.views)
    }

    /// Whether it is known that the lock is held, or that it is free.
    pub(crate) fn is_known(&self) -> bool {
        self.doubt().is_none()
    }

    /// Whether anybody holds it or waits for it, as far as the answering sites know.
    pub(crate) fn is_used(&self) -> bool {
        self.calls().next().is_some()
    }

    /// A line that names the sites that did not answer; none if all did.
    pub(crate) fn silent_line(&self) -> Option<String> {
        silent_line(&self.answering)
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

    /// How many callers the sites have counted and not listed.
    pub(crate) fn more(&self) -> Unlisted {
        let all = self.views.values().map(|view| view.more);
        all.fold(Unlisted::default(), |sum, more| Unlisted {
            inside: sum.inside.saturating_add(more.inside),
            waiting: sum.waiting.saturating_add(more.waiting),
        })
    }

    /// How many holders there are, listed or not.
    pub(crate) fn holder_count(&self) -> usize {
        self.holders().count().saturating_add(self.more().inside)
    }

    /// How many waiters there are, listed or not.
    pub(crate) fn waiter_count(&self) -> usize {
        let listed = self.calls().filter(|(_, call)| call.fence.is_none()).count();
        listed.saturating_add(self.more().waiting)
    }

    /// A line that says how many callers are not listed; none if all are.
    pub(crate) fn more_line(&self) -> Option<String> {
        let Unlisted { inside, waiting } = self.more();
        match (inside, waiting) {
            (0, 0) => None,
            (0, waiting) => Some(format!("and {waiting} more that wait")),
            (inside, 0) => Some(format!("and {inside} more inside")),
            (inside, waiting) => Some(format!("and {inside} more inside, {waiting} that wait")),
        }
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

    /// The holder and the number of waiters, in a sentence that says no more than is known.
    pub(crate) fn sentence(&self) -> String {
        let (name, held, waiting) = (&self.name, self.held_by(), self.waiter_count());
        let wait = match waiting {
            0 if held.is_none() => String::new(),
            0 => "; nobody waits".to_owned(),
            1 => "; 1 waits".to_owned(),
            _ => format!("; {waiting} wait"),
        };
        match (held, self.doubt()) {
            (Some(held), None) => format!("{name} {held}{wait}"),
            (Some(held), Some(_)) => {
                let sites = &self.answering.counted;
                let verb = if sites.len() == 1 { "knows" } else { "know" };
                format!("{name} {held}, as far as {} {verb}{wait}", site_list(sites, "and"))
            }
            (None, Some(doubt)) => format!("{name}: not known: {doubt}{wait}"),
            (None, None) if waiting > 0 => format!("{name} is about to be held{wait}"),
            (None, None) => format!("{name} is free"),
        }
    }

    /// Who holds the lock, as the end of a sentence; `None` if nobody is known to.
    fn held_by(&self) -> Option<String> {
        if let Some((lent, units)) = self.units_lent() {
            let least = if self.more().inside > 0 { "at least " } else { "" };
            return Some(format!("has lent {least}{lent} of {units} units"));
        }
        let (_, call) = self.holders().last()?;
        let holders = self.holder_count();
        if let Details { role: Some(_), group: Some(group), .. } = details(call) {
            let members = counted(holders as u64, "member", "members");
            return Some(format!("has {members} of {}", Printable(group)));
        }
        let share = share(call);
        let share = if share.is_empty() { share } else { format!("{share} ") };
        let age = short_duration(call.age);
        Some(match holders {
            1 => format!("is held {share}by {}, for {age}", call.claimant),
            _ => format!("is held {share}by {holders}"),
        })
    }

    /// How many of how many units are lent, if it is a pool in use.
    fn units_lent(&self) -> Option<(u32, u32)> {
        let units = self.kind().and_then(Kind::units).filter(|_| self.is_used())?;
        Some((self.holders().filter_map(|(_, call)| details(call).units).sum(), units))
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
            "more": more_json(self.more()),
            "token": self.token().map(|(site, stamp)| json!({
                "site": site.index() + 1,
                "epoch": stamp.epoch.0,
                "round": stamp.round,
            })),
            "known": self.is_known(),
            "doubt": self.doubt().map(|doubt| doubt.to_string()),
            "answering": self.answering.counted.len(),
            "needed": self.answering.needed(),
            "silent": silent_numbers(&self.answering),
        })
    }
}

/// How many callers are not listed, for programs.
pub(crate) fn more_json(more: Unlisted) -> Value {
    json!({ "inside": more.inside, "waiting": more.waiting })
}

/// The numbers of the sites that did not answer, reached or not.
pub(crate) fn silent_numbers(answering: &Answering) -> Vec<usize> {
    answering.silent().map(|site| site.index() + 1).collect()
}

/// A line that names the sites that did not answer; none if all did.
pub(crate) fn silent_line(answering: &Answering) -> Option<String> {
    let all: Vec<String> = answering.silent().map(|site| site.to_string()).collect();
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

//! Views of a lock, for display.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::claim::{CallId, Claimant};
use crate::lock::{Granted, Kind, LockSpec, Name, Stamp};
use crate::{Fence, Ticket};

/// A lock as one site sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResourceView {
    /// Its name.
    pub name: Name,
    /// Its kind.
    pub kind: Kind,
    /// The callers of this site: those inside or being served, then those in the local queue.
    pub calls: Vec<CallView>,
    /// The requests this site has made for them.
    pub requests: Vec<RequestView>,
    /// The requests to which this site's permission is lent, as far as it knows.
    pub lent: Vec<Ticket>,
    /// The requests in the queue of this site, the next one first.
    pub queue: Vec<Ticket>,
    /// The epoch and round of the token, if the lock has one and it is here.
    pub token: Option<Stamp>,
    /// What is not listed here, because there is too much of it.
    pub more: Unlisted,
    /// The earliest times at which waiting requests can enter, where holders declare how long they
    /// stay.
    pub etas: Vec<EtaView>,
}

/// How much a view of a lock leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Unlisted {
    /// Callers of the site that are inside.
    pub inside: usize,
    /// Callers of the site that wait.
    pub waiting: usize,
}

impl Unlisted {
    /// How many callers.
    pub fn callers(self) -> usize {
        self.inside.saturating_add(self.waiting)
    }
}

/// The earliest time at which a request can enter, by what others declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EtaView {
    /// The request.
    pub ticket: Ticket,
    /// How long it has to wait.
    pub time: Duration,
    /// Whether that counts from now. Otherwise it counts from the group's turn, whose time is
    /// unknown.
    pub from_now: bool,
}

/// A request that a site has made for its callers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RequestView {
    /// Its ticket.
    pub ticket: Ticket,
    /// Whether it is inside.
    pub inside: bool,
    /// The sites whose permission it still waits for.
    pub missing: Vec<SiteId>,
}

/// One caller of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallView {
    /// The call.
    pub call: CallId,
    /// Who it is.
    pub claimant: Claimant,
    /// What it asked for.
    pub spec: LockSpec,
    /// The request that was made for it, possibly together with others.
    pub request: Option<Ticket>,
    /// How long it has waited, or has been inside.
    pub age: Duration,
    /// Its fence, if it is inside.
    pub fence: Option<Fence>,
    /// What it holds besides, if it is inside.
    pub granted: Option<Granted>,
    /// How long its grant is valid if it is not extended, if it is inside.
    pub left: Option<Duration>,
}

/// The standing of a request, as all sites together see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The request, which its site made for its callers.
    pub request: Ticket,
    /// Whether it is inside.
    pub inside: bool,
    /// How many requests are before it; 0 if it is inside.
    pub place: usize,
    /// The requests that hold, or will get before it, what it waits for.
    pub blocked_by: BTreeSet<Ticket>,
    /// The sites whose permission it does not have, and waits for.
    pub lacks: BTreeSet<SiteId>,
    /// Those of them whose view is missing.
    pub unheard: BTreeSet<SiteId>,
}

/// Combines the views that the sites of a cluster have of one lock: the requests inside, then those
/// that wait, the next one first, each with what blocks it.
pub fn explain(views: &BTreeMap<SiteId, ResourceView>) -> Vec<Standing> {
    let mut requests: Vec<&RequestView> = views.values().flat_map(|view| &view.requests).collect();
    requests.sort_unstable_by_key(|request| (!request.inside, request.ticket));
    let standing = |(place, request): (usize, &&RequestView)| {
        let missing = request.missing.iter().filter(|_| !request.inside);
        let lacks = missing.clone().copied().collect();
        let (heard, unheard): (Vec<SiteId>, Vec<SiteId>) =
            missing.partition(|arbiter| views.contains_key(arbiter));
        let before = heard.iter().flat_map(|at| views[at].before(request.ticket));
        let at_door = is_at_door(views, request);
        let is_before = |other: &&&RequestView| {
            let earlier = other.ticket.site == request.ticket.site && other.ticket < request.ticket;
            at_door && (other.inside || earlier)
        };
        let at_door = requests.iter().filter(is_before).map(|other| other.ticket);
        Standing {
            request: request.ticket,
            inside: request.inside,
            place: if request.inside { 0 } else { place },
            blocked_by: before.chain(at_door).collect(),
            lacks,
            unheard: unheard.into_iter().collect(),
        }
    };
    requests.iter().enumerate().map(standing).collect()
}

/// Whether a request for units of a pool lacks no permission and waits for units: a site has lent
/// to it, or to the request of its site that stands for it.
fn is_at_door(views: &BTreeMap<SiteId, ResourceView>, request: &RequestView) -> bool {
    let site = request.ticket.site;
    let waits = |other: &&RequestView| !other.inside && other.missing.is_empty();
    let Some(view) = views.get(&site).filter(|view| view.kind.units().is_some()) else {
        return false;
    };
    let lent = |ticket| views.values().any(|view| view.lent.contains(&ticket));
    waits(&request) && view.requests.iter().filter(waits).any(|other| lent(other.ticket))
}

impl CallView {
    /// The most bytes it takes in a message.
    pub fn bytes(&self) -> usize {
        let granted = self.granted.as_ref().map_or(0, Granted::bytes);
        128 + self.claimant.bytes() + self.spec.bytes() + granted
    }
}

impl ResourceView {
    /// The most bytes it takes in a message.
    pub fn bytes(&self) -> usize {
        let calls: usize = self.calls.iter().map(CallView::bytes).sum();
        let requests = self.requests.iter().map(|request| 40 + 5 * request.missing.len());
        let tickets = 24 * (self.lent.len() + self.queue.len()) + 48 * self.etas.len();
        128 + self.name.as_str().len() + calls + requests.sum::<usize>() + tickets
    }

    /// The requests to which this site's permission is lent, or will be, before `request`.
    fn before(&self, request: Ticket) -> impl Iterator<Item = Ticket> + '_ {
        // One that is not queued here is made when those before it are served.
        let queued = self.queue.contains(&request);
        let is_ahead = move |waiting: &&Ticket| {
            if queued { **waiting != request } else { **waiting < request }
        };
        let ahead = self.queue.iter().take_while(is_ahead);
        self.lent.iter().chain(ahead).copied().filter(move |&other| other != request)
    }
}

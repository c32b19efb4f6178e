//! What a site shows of a resource, to people.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::claim::{CallId, Card};
use crate::lock::Name;
use crate::lock::{Got, Kind, Stamp, Want};
use crate::{Fence, Ticket};

/// One resource as one site sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResourceView {
    /// Its name.
    pub name: Name,
    /// What kind of lock it is.
    pub kind: Kind,
    /// The callers of this site: who is served, then who waits in line.
    pub calls: Vec<CallView>,
    /// The requests this site has made for them.
    pub requests: Vec<RequestView>,
    /// The requests to which this site's permission is lent, as far as it knows.
    pub lent: Vec<Ticket>,
    /// The requests that wait here, the next one first.
    pub queue: Vec<Ticket>,
    /// The session of the token, if the lock has one and it is here.
    pub token: Option<Stamp>,
    /// When those who wait here can get in at the earliest, where they declare how long they stay.
    pub etas: Vec<EtaView>,
}

/// When a request can get in at the earliest, by what others declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EtaView {
    /// The request.
    pub ticket: Ticket,
    /// How long it takes.
    pub time: Duration,
    /// Whether that counts from now, or from when it is the group's turn, which nobody knows.
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
    pub card: Card,
    /// What it asked for.
    pub want: Want,
    /// The request that was made for it, and perhaps for others.
    pub request: Option<Ticket>,
    /// For how long it has waited, or has been inside.
    pub age: Duration,
    /// Its fence, if it is inside.
    pub fence: Option<Fence>,
    /// What it has besides, if it is inside.
    pub got: Option<Got>,
    /// For how long its grant is good if it is not extended, if it is inside.
    pub left: Option<Duration>,
}

/// Where the request of one site stands, as all sites together see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The request; its site made it for those in its line.
    pub request: Ticket,
    /// Whether it is inside.
    pub inside: bool,
    /// How many requests stand before it; none if it is inside.
    pub place: usize,
    /// The requests that have or will have before it what it waits for.
    pub blocked_by: BTreeSet<Ticket>,
    /// The sites it waits for of which nothing is known here.
    pub unheard: BTreeSet<SiteId>,
}

/// Puts together what the sites of a cluster show of one resource: who is inside, then who waits,
/// the next one first, and who blocks whom.
pub fn explain(views: &BTreeMap<SiteId, ResourceView>) -> Vec<Standing> {
    let mut requests: Vec<&RequestView> = views.values().flat_map(|view| &view.requests).collect();
    requests.sort_unstable_by_key(|request| (!request.inside, request.ticket));
    let standing = |(place, request): (usize, &&RequestView)| {
        let missing = request.missing.iter().filter(|_| !request.inside);
        let (heard, unheard): (Vec<SiteId>, Vec<SiteId>) =
            missing.partition(|arbiter| views.contains_key(arbiter));
        let before = heard.iter().flat_map(|at| views[at].before(request.ticket));
        Standing {
            request: request.ticket,
            inside: request.inside,
            place: if request.inside { 0 } else { place },
            blocked_by: before.collect(),
            unheard: unheard.into_iter().collect(),
        }
    };
    requests.iter().enumerate().map(standing).collect()
}

impl ResourceView {
    /// The requests that this site's permission is lent to, or will be, before `request`.
    fn before(&self, request: Ticket) -> impl Iterator<Item = Ticket> + '_ {
        let ahead = self.queue.iter().take_while(move |&&waiting| waiting != request);
        self.lent.iter().chain(ahead).copied().filter(move |&other| other != request)
    }
}

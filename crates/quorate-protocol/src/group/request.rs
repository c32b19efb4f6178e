//! A request and the votes it needs, as its requester sees them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::{Choice, Group, GroupLock, Groups, Message};
use crate::no_wait::NoWait;
use crate::{Fence, Fences, Out, Shared, Ticket};

/// A request that waits or is inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    pub(super) groups: Groups,
    /// All managers that were asked. A sorted vector, because a request asks a handful of managers
    /// and there may be many requests.
    pub(super) votes: LiteMap<SiteId, Vote>,
    /// Whether the managers asked differ from one quorum.
    pub(super) repaired: bool,
    /// Whether it is a pivot that has been inside for long, and asks every site it reaches for a
    /// spare vote.
    pub(super) stays: bool,
    pub(super) phase: Phase,
    pub(super) no_wait: NoWait,
}

/// The state of a request; the paper's *Rstatus*.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// It waits for the votes of a quorum, or for one manager to admit it.
    Waiting,
    /// It is inside with the votes of a quorum.
    Pivot(Lead),
    /// It is inside, admitted by this manager.
    Follower(SiteId),
}

/// What a pivot gave to its managers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lead {
    pub(super) group: Group,
    pub(super) fence: Fence,
    /// The managers that have the right to admit. The vote of such a manager may be lost.
    pub(super) admitting: SiteSet,
}

/// One manager's vote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Vote {
    /// Whether the request holds it: the manager is in the paper's K.
    pub(super) held: bool,
    /// The fences that may be used with it.
    pub(super) fences: Fences,
    /// The ceiling that the manager was asked for.
    pub(super) raising: Fence,
    /// The other requests waiting at the manager.
    pub(super) waiting: Vec<(Ticket, Groups)>,
}

impl Request {
    /// The managers asked whose vote it does not hold.
    pub(super) fn missing(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.votes.iter().filter(|(_, vote)| !vote.held).map(|(&manager, _)| manager)
    }

    /// The managers whose vote it holds.
    pub(super) fn held(&self) -> SiteSet {
        self.votes.iter().filter(|(_, vote)| vote.held).map(|(&manager, _)| manager).collect()
    }

    /// Whether the votes held contain a quorum. When several sessions end at once, they are
    /// reported one by one; votes lent in any ended session do not count.
    pub(super) fn is_complete(&self, site: &Shared) -> bool {
        let counts =
            |(&manager, vote): (&SiteId, &Vote)| vote.held && site.session_at(manager).is_some();
        if !self.repaired {
            return self.votes.iter().all(counts);
        }
        let counted = self.votes.iter().filter(|&entry| counts(entry));
        site.is_quorum(&counted.map(|(&manager, _)| manager).collect())
    }

    /// The lowest fence above all earlier ones: `Ok` if it is below every manager's ceiling.
    pub(super) fn fence(&self) -> Result<Fence, Fence> {
        let held = || self.votes.values().filter(|vote| vote.held);
        let fence = held().map(|vote| vote.fences.floor).max().expect("a quorum has a member");
        if held().all(|vote| fence < vote.fences.ceil) { Ok(fence) } else { Err(fence) }
    }

    /// Asks the managers with a ceiling below `ceil` to raise it, once.
    pub(super) fn send_raise(&mut self, ceil: Fence, out: &mut Out<GroupLock>) {
        let ticket = self.ticket;
        let lagging =
            self.votes.iter_mut().filter(|(_, vote)| vote.held && vote.fences.ceil < ceil);
        for (&manager, vote) in lagging {
            if vote.raising < ceil {
                vote.raising = ceil;
                out.send(manager, Message::Raise { ticket, ceil });
            }
        }
    }

    /// Asks one manager for its vote. The ticket is the same for all.
    pub(super) fn send_request(&mut self, manager: SiteId, out: &mut Out<GroupLock>) {
        let (ticket, groups) = (self.ticket, self.groups.clone());
        let held = matches!(self.phase, Phase::Pivot(_));
        let no_wait = self.no_wait.is_on();
        out.send(manager, Message::Request { ticket, groups, held, no_wait });
        self.votes.insert(manager, Vote::default());
    }

    /// If this request is a pivot, sends Lock to a manager that voted for it. The manager may admit
    /// followers as long as its session here lasts.
    pub(super) fn send_lock_if_pivot(
        &mut self,
        site: &Shared,
        manager: SiteId,
        out: &mut Out<GroupLock>,
    ) {
        let Phase::Pivot(lead) = &mut self.phase else { return };
        let right = site.session_of(manager);
        if right.is_some() {
            lead.admitting.insert(manager);
        }
        let (ticket, group, fence) = (self.ticket, lead.group.clone(), lead.fence);
        out.send(manager, Message::Lock { ticket, group, fence, right });
    }

    /// The group to enter with.
    ///
    /// The paper takes any, and leaves a better choice to future work (section 5). `MostWaiting`
    /// takes the group that most waiting requests could join, and among equals the group of the
    /// strongest of them. Reports of waiting requests may be outdated; that costs followers, not
    /// safety.
    pub(super) fn choose(&self, choice: Choice) -> Group {
        if choice == Choice::Arbitrary {
            return self.groups.iter().next().expect("a claim names a group").clone();
        }
        let known = self.votes.values().flat_map(|vote| vote.waiting.iter());
        let waiting: BTreeMap<Ticket, &Groups> =
            known.map(|(ticket, groups)| (*ticket, groups)).collect();
        let rank = |group: &&Group| {
            let joining = waiting.iter().filter(|(_, groups)| groups.contains(group));
            let joining: Vec<Ticket> = joining.map(|(&ticket, _)| ticket).collect();
            (Reverse(joining.len()), joining.first().copied())
        };
        self.groups.iter().min_by_key(rank).expect("a claim names a group").clone()
    }

    /// Sends `NoNeed` to all managers asked, except one.
    pub(super) fn withdraw(&self, except: Option<SiteId>, out: &mut Out<GroupLock>) {
        for &manager in self.votes.keys().filter(|&&manager| Some(manager) != except) {
            out.send(manager, Message::NoNeed { ticket: self.ticket });
        }
    }
}

impl Vote {
    /// Records the vote as held. A manager's ceiling only grows, so one reported during an earlier
    /// loan still applies. A raise may be requested again.
    pub(super) fn take(&mut self, fences: Fences, waiting: Vec<(Ticket, Groups)>) {
        let ceil = self.fences.ceil.max(fences.ceil);
        let fences = Fences { ceil, ..fences };
        *self = Self { held: true, fences, raising: Fence::default(), waiting };
    }
}

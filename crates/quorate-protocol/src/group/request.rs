//! A request and the votes it needs, as its requester sees them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::{Choice, Group, GroupLock, Groups, Message};
use crate::haste::Haste;
use crate::{Fence, Fences, Out, Shared, Ticket};

/// A request that is not over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    pub(super) groups: Groups,
    /// All managers that were asked. A sorted vector, because most have a handful of entries and
    /// there may be many requests.
    pub(super) votes: LiteMap<SiteId, Vote>,
    /// Whether the managers that were asked are not just one quorum.
    pub(super) repaired: bool,
    pub(super) phase: Phase,
    pub(super) haste: Haste,
}

/// Where a request is; the paper's *Rstatus*.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// It waits for the votes of a quorum, or to be let in by one manager.
    Waiting,
    /// It is inside with the votes of a quorum.
    Pivot(Lead),
    /// It is inside on the word of this manager.
    Follower(SiteId),
}

/// What a pivot gave to its managers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lead {
    pub(super) group: Group,
    pub(super) fence: Fence,
    /// The managers that may have let others join, and have not lost their right to. It may be one
    /// whose vote is lost.
    pub(super) admitting: SiteSet,
}

/// One manager's vote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Vote {
    /// Whether it is in hand: the manager is in the paper's K.
    pub(super) held: bool,
    /// The fences that may be used with it.
    pub(super) fences: Fences,
    /// The ceiling that was asked of the manager.
    pub(super) raising: Fence,
    /// Who else waits there.
    pub(super) waiting: Vec<(Ticket, Groups)>,
}

impl Request {
    /// The managers whose vote is not in hand.
    pub(super) fn missing(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.votes.iter().filter(|(_, vote)| !vote.held).map(|(&manager, _)| manager)
    }

    /// The managers whose vote is in hand.
    pub(super) fn held(&self) -> SiteSet {
        self.votes.iter().filter(|(_, vote)| vote.held).map(|(&manager, _)| manager).collect()
    }

    /// Whether the votes in hand contain a quorum. Several sessions may be over at once, and we are
    /// told of one after the other: what was lent in them does not count.
    pub(super) fn is_complete(&self, site: &Shared) -> bool {
        let counts =
            |(&manager, vote): (&SiteId, &Vote)| vote.held && site.session_at(manager).is_some();
        if !self.repaired {
            return self.votes.iter().all(counts);
        }
        let counted = self.votes.iter().filter(|&entry| counts(entry));
        site.is_quorum(&counted.map(|(&manager, _)| manager).collect())
    }

    /// The lowest fence above all before, if every manager lets us use it.
    pub(super) fn fence(&self) -> Result<Fence, Fence> {
        let held = || self.votes.values().filter(|vote| vote.held);
        let fence = held().map(|vote| vote.fences.floor).max().expect("a quorum has a member");
        if held().all(|vote| fence < vote.fences.ceil) { Ok(fence) } else { Err(fence) }
    }

    /// Asks the managers whose ceiling is too low to raise it, once.
    pub(super) fn raise(&mut self, ceil: Fence, out: &mut Out<GroupLock>) {
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

    /// Asks one more manager, with the same ticket.
    pub(super) fn ask(&mut self, manager: SiteId, out: &mut Out<GroupLock>) {
        let (ticket, groups) = (self.ticket, self.groups.clone());
        let held = matches!(self.phase, Phase::Pivot(_));
        let hasty = self.haste.wants_to_know();
        out.send(manager, Message::Request { ticket, groups, held, hasty });
        self.votes.insert(manager, Vote::default());
    }

    /// Tells a manager that has voted for us that we are inside, and gives it the right to let
    /// others join for as long as it has a session here.
    pub(super) fn lock_if_inside(
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

    /// The group to be inside with.
    ///
    /// The paper takes any, and names a better choice as future work: the one that most of those
    /// who wait could join; among equals that of the strongest of them. What managers told of them
    /// may be old: that costs followers, not safety.
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

    /// Tells all that were asked to forget it, but for `manager`.
    pub(super) fn withdraw(&self, except: Option<SiteId>, out: &mut Out<GroupLock>) {
        for &manager in self.votes.keys().filter(|&&manager| Some(manager) != except) {
            out.send(manager, Message::NoNeed { ticket: self.ticket });
        }
    }
}

impl Vote {
    /// Takes the vote in hand. A manager's ceiling only grows, so what it told us of it during a
    /// former loan is still true. A raise may be asked for again.
    pub(super) fn take(&mut self, fences: Fences, waiting: Vec<(Ticket, Groups)>) {
        let ceil = self.fences.ceil.max(fences.ceil);
        let fences = Fences { ceil, ..fences };
        *self = Self { held: true, fences, raising: Fence::default(), waiting };
    }
}

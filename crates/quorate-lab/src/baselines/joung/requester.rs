//! The half that asks.

use quorate_protocol::group::{Claim, Group};
use quorate_protocol::{ClaimId, ClaimView, Fence, Shared, Ticket, Violation};
use quorate_quorum::{SiteId, SiteSet};

use super::{Choice, Grant, Lines, Message, Sends};

/// Asks a quorum of its group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Requester {
    choice: Choice,
    lines: Option<Lines>,
    asking: Option<Asking>,
}

/// A request that is not over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Asking {
    ticket: Ticket,
    group: Group,
    quorum: SiteSet,
    /// The managers that voted for it.
    held: SiteSet,
    /// Those of them that voted for other requests too.
    joined: SiteSet,
    inside: bool,
}

impl Requester {
    pub(super) fn new(choice: Choice, lines: Option<Lines>) -> Self {
        Self { choice, lines, asking: None }
    }

    /// Chooses one group, and asks a quorum of it.
    pub(super) fn acquire(
        &mut self,
        site: &mut Shared,
        claim: ClaimId,
        Claim { groups, .. }: &Claim,
    ) -> Result<Sends, Violation> {
        if self.asking.is_some() {
            return Err(Violation::Busy);
        }
        let group = self.choice.of(groups).ok_or(Violation::NoGroups)?;
        let quorum = match &self.lines {
            Some(lines) => Some(lines.quorum(site.site(), &group)),
            None => site.quorum(),
        };
        let quorum = quorum.ok_or(Violation::NoQuorum)?;
        let ticket = Ticket { time: site.clock.advance(), site: site.site(), claim };
        let ask = |manager| (manager, Message::Request { ticket, group: group.clone() });
        let sends = quorum.iter().map(ask).collect();
        let (held, joined) = (SiteSet::new(), SiteSet::new());
        self.asking = Some(Asking { ticket, group, quorum, held, joined, inside: false });
        Ok(sends)
    }

    pub(super) fn release(&mut self, claim: ClaimId) -> Result<Sends, Violation> {
        self.inside(claim).ok_or(Violation::NotInside(claim))?;
        let Asking { ticket, quorum, .. } = self.asking.take().expect("it is inside");
        Ok(quorum.iter().map(|manager| (manager, Message::Release(ticket))).collect())
    }

    pub(super) fn on_ok(&mut self, from: SiteId, ticket: Ticket, joined: bool) {
        let asking = self.asking.as_mut().filter(|asking| asking.ticket == ticket);
        let asking = asking.expect("a request that was voted for is not over");
        asking.held.insert(from);
        if joined {
            asking.joined.insert(from);
        }
    }

    /// Gives the vote back. A request that is inside, or has left, answers with its release.
    pub(super) fn on_cancel(&mut self, from: SiteId, ticket: Ticket, sends: &mut Sends) {
        let asking = self.asking.as_mut().filter(|asking| asking.ticket == ticket);
        if let Some(asking) = asking.filter(|asking| !asking.inside) {
            asking.held.remove(from);
            asking.joined.remove(from);
            sends.push((from, Message::Cancelled(ticket)));
        }
    }

    /// Enters if it has just got the last vote of its quorum. The fence is not known here.
    pub(super) fn enter(&mut self) -> Option<(ClaimId, Grant)> {
        let ready = |asking: &&mut Asking| !asking.inside && asking.held == asking.quorum;
        let asking = self.asking.as_mut().filter(ready)?;
        asking.inside = true;
        let (ticket, group) = (asking.ticket, asking.group.clone());
        let pivot = asking.joined.is_empty();
        Some((ticket.claim, Grant { ticket, group, fence: Fence::default(), pivot }))
    }

    /// The votes with which a claim is inside.
    pub(super) fn inside(&self, claim: ClaimId) -> Option<&SiteSet> {
        let asking = self.asking.as_ref()?;
        (asking.inside && asking.ticket.claim == claim).then_some(&asking.held)
    }

    pub(super) fn view(&self) -> Option<ClaimView> {
        let Asking { ticket, quorum, held, inside, .. } = self.asking.as_ref()?;
        let missing = quorum.iter().filter(|manager| !held.contains(*manager)).collect();
        Some(ClaimView { ticket: *ticket, inside: *inside, held_up: false, missing })
    }
}

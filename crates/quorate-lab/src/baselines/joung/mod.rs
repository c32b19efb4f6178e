//! Joung 2003: one group, chosen before asking.
//!
//! The quorum algorithm that Manabe & Park 2004 start from, as their section 3 describes it: a
//! request names one group and asks a quorum of that group; a manager votes for requests of one
//! group at a time. Quorums of different groups meet, those of one group need not. The section
//! leaves open how deadlock and starvation are avoided. Here, as in Maekawa's algorithm and theirs:
//!
//! - a manager withdraws its vote from a request that is not inside, for an earlier one;
//! - other requests may join only while the first that got the manager's vote is inside.
//!
//! It cannot avoid needless waits: a request chose another group, or no manager that it asked knows
//! of the holders inside.

mod claim;
mod manager;
mod quorums;
mod requester;
mod sim_protocol;

use std::convert::Infallible;

use quorate_protocol::group::Claim;
use quorate_protocol::{
    ClaimId, Fence, Input, Out, Protocol, Shared, Tick, ValidityBasis, View, Violation,
};
use quorate_quorum::SiteId;

use self::manager::Manager;
use self::requester::Requester;
use crate::baseline::Envelope;

pub use self::claim::{Choice, Grant, Message, Options};
pub use self::quorums::{Lines, MGroup};
pub(crate) use self::sim_protocol::find;

/// Its name in scripts and on the command line.
pub const NAME: &str = "joung";

/// The rules that can be undone to see what they are for.
const RULES: &[&str] = &["cancel", "vote"];

/// One site's part: a requester and a manager.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Joung {
    requester: Requester,
    manager: Manager,
    /// The highest fence known here; see [`Baseline`](crate::Baseline).
    seen: Fence,
}

/// The effects of one half: messages, and whether the site enters.
type Sends = Vec<(SiteId, Message)>;

impl Joung {
    fn new(options: Options, lines: Option<Lines>) -> Self {
        Self {
            requester: Requester::new(options.choice, lines),
            manager: Manager::new(options.undone),
            seen: Fence::default(),
        }
    }

    fn deliver(&mut self, site: &mut Shared, from: SiteId, message: Message) -> Sends {
        let mut sends = Sends::new();
        match message {
            Message::Request { ticket, group } => {
                site.observe(ticket);
                self.manager.on_request(ticket, group, &mut sends);
            }
            Message::Cancelled(ticket) => self.manager.on_cancelled(ticket, &mut sends),
            Message::Release(ticket) => self.manager.on_release(ticket, &mut sends),
            Message::Ok { ticket, joined } => self.requester.on_ok(from, ticket, joined),
            Message::Cancel(ticket) => self.requester.on_cancel(from, ticket, &mut sends),
        }
        sends
    }

    fn carry_out(&mut self, sends: Sends, out: &mut Out<Self>) {
        for (to, message) in sends {
            out.send(to, Envelope { seen: self.seen, message });
        }
        if let Some((claim, mut grant)) = self.requester.enter() {
            self.seen = self.seen.next();
            grant.fence = self.seen;
            out.grant(claim, grant);
        }
    }
}

impl Protocol for Joung {
    type Message = Envelope<Message>;
    type Claim = Claim;
    type Grant = Grant;
    type Timer = Infallible;

    fn step(
        &mut self,
        site: &mut Shared,
        _: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let sends = match input {
            Input::Acquire(id, claim) => self.requester.acquire(site, id, &claim)?,
            Input::Release(id) => self.requester.release(id)?,
            Input::Abandon(id) => return Err(Violation::NotWaiting(id)),
            Input::Turn(_) => return Err(Violation::NoTurns),
            Input::Deliver(from, Envelope { seen, message }) => {
                self.seen = self.seen.max(seen);
                self.deliver(site, from, message)
            }
            Input::Expire(never) => match never {},
            _ => {
                out.ignore("its paper knows no sessions");
                Sends::new()
            }
        };
        self.carry_out(sends, out);
        Ok(())
    }

    fn validity_basis(&self, claim: ClaimId) -> ValidityBasis {
        let held = self.requester.inside(claim).cloned();
        held.map_or(ValidityBasis::Nothing, ValidityBasis::Permissions)
    }

    fn view(&self) -> View {
        View {
            claims: self.requester.view().into_iter().collect(),
            lent: self.manager.lent().collect(),
            queue: self.manager.waiting().collect(),
            ..View::default()
        }
    }

    fn is_wanted(&self) -> bool {
        self.manager.waiting().next().is_some()
    }

    fn is_vacant(&self) -> bool {
        self.requester.view().is_none() && self.manager.is_vacant()
    }

    fn retire(&self, _: &mut Shared) {}
}

//! The commands of a script, parsed.

use std::fmt;
use std::time::Duration;

use quorate_protocol::ClaimId;
use quorate_quorum::SiteId;

use crate::{ClaimState, Fault};

/// A line at the margin that does something or checks something, with the trace below it.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its line, counted from 1.
    pub line: usize,
    /// The line as it was written.
    pub text: String,
    pub(super) body: Body,
    /// The indented lines below, with their numbers.
    pub(super) trace: Vec<(usize, String)>,
}

impl Command {
    /// Whether it only looks: an `expect`.
    pub fn is_check(&self) -> bool {
        matches!(self.body, Body::Expect(_))
    }

    /// Whether only outcomes stand in its trace.
    pub fn is_quiet(&self) -> bool {
        matches!(self.body, Body::Act { quietly: true, .. })
    }
}

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Moves the world; quietly, only outcomes stand in its trace.
    Act { action: Action, quietly: bool },
    /// Looks at it.
    Expect(Check),
}

/// A way to move the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Acquire(Who, Vec<String>),
    Release(Who),
    GiveUp(Who),
    Deliver(Channel, Option<String>),
    Drop(Channel, Option<String>),
    Duplicate(Channel, Option<String>),
    Expire(SiteId, String),
    Advance(Duration),
    Hold(Channel),
    Settle,
    Heal,
    Clock(SiteId, u64),
    Suffer(Fault),
}

/// Something to be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// A claim is in this state, and the words say more of it; `None` is a site without claims.
    Claim(Who, Option<ClaimState>, Vec<String>),
    /// A grant has this fence.
    Fence(Who, u64),
    /// A site shows a text under a name.
    Shows { site: SiteId, name: String, text: String },
    /// A message of this kind is under way.
    Has(Channel, String),
    /// Nothing is under way on this channel.
    Empty(Channel),
    /// Nothing is under way at all.
    Quiet,
    /// So many messages were sent.
    Messages(u64),
    /// So many messages of this kind were sent.
    Count(String, u64),
    /// This property has broken.
    Broken(&'static str),
}

/// A site, or one of its claims: `3`, `3/1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) site: SiteId,
    pub(super) claim: Option<ClaimId>,
}

impl Who {
    /// Whether this claim of the site is meant.
    pub(super) fn means(self, claim: ClaimId) -> bool {
        self.claim.is_none_or(|named| named == claim)
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.claim {
            Some(claim) => write!(f, "{}/{}", self.site, claim.0),
            None => write!(f, "{}", self.site),
        }
    }
}

/// From one site to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Channel {
    pub(super) from: SiteId,
    pub(super) to: SiteId,
}

impl Channel {
    fn ends(self) -> Vec<SiteId> {
        vec![self.from, self.to]
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

impl Body {
    /// Whether it sets a clock: that may stand among the settings.
    pub(super) fn is_clock(&self) -> bool {
        matches!(self, Body::Act { action: Action::Clock(..), .. })
    }

    /// Whether it needs sessions.
    pub(super) fn is_fault(&self) -> bool {
        matches!(self, Body::Act { action: Action::Suffer(_), .. })
    }

    /// Whether it crashes a site or starts it again: some protocols need no sessions for that.
    pub(super) fn is_crash(&self) -> bool {
        let Body::Act { action: Action::Suffer(fault), .. } = self else { return false };
        matches!(fault, Fault::Crash(_) | Fault::Restart(_))
    }

    /// Whether it doubles a message: no session does that.
    pub(super) fn is_duplicate(&self) -> bool {
        matches!(self, Body::Act { action: Action::Duplicate(..), .. })
    }

    /// The kind of message it names.
    pub(super) fn message_kind(&self) -> Option<&str> {
        match self {
            Body::Act {
                action:
                    Action::Deliver(_, kind) | Action::Drop(_, kind) | Action::Duplicate(_, kind),
                ..
            } => kind.as_deref(),
            Body::Expect(Check::Has(_, kind) | Check::Count(kind, _)) => Some(kind),
            _ => None,
        }
    }

    /// The sites it names.
    pub(super) fn sites(&self) -> Vec<SiteId> {
        match self {
            Body::Act { action, .. } => match action {
                Action::Acquire(who, _) | Action::Release(who) | Action::GiveUp(who) => {
                    vec![who.site]
                }
                Action::Deliver(channel, _)
                | Action::Drop(channel, _)
                | Action::Duplicate(channel, _)
                | Action::Hold(channel) => channel.ends(),
                Action::Clock(site, _) | Action::Expire(site, _) => vec![*site],
                Action::Suffer(fault) => fault.sites(),
                Action::Settle | Action::Heal | Action::Advance(_) => vec![],
            },
            Body::Expect(check) => match check {
                Check::Claim(who, ..) | Check::Fence(who, _) => vec![who.site],
                Check::Shows { site, .. } => vec![*site],
                Check::Has(channel, _) | Check::Empty(channel) => channel.ends(),
                Check::Quiet | Check::Messages(_) | Check::Count(..) | Check::Broken(_) => vec![],
            },
        }
    }
}

//! What a script can say, once it is read.

use std::time::Duration;

use quorate_protocol::ClaimId;
use quorate_quorum::SiteId;

use crate::Fault;

/// A line at the margin that does something or checks something, with the trace below it.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its line, counted from 1.
    pub line: usize,
    /// The line as it was written.
    pub text: String,
    pub(super) deed: Deed,
    /// The indented lines below, with their numbers.
    pub(super) trace: Vec<(usize, String)>,
}

impl Command {
    /// Whether it only looks: an `expect`.
    pub fn is_check(&self) -> bool {
        matches!(self.deed, Deed::Expect(_))
    }

    /// Whether only outcomes stand in its trace.
    pub fn is_quiet(&self) -> bool {
        matches!(self.deed, Deed::Act { quietly: true, .. })
    }
}

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
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
    /// A claim is there; inside, it has what the words say.
    Stands(Who, Place, Vec<String>),
    /// A site shows this of itself.
    Shows(SiteId, String, String),
    /// A message of this kind is under way.
    Has(Channel, String),
    /// Nothing is under way on this channel.
    Empty(Channel),
    /// Nothing is under way at all.
    Quiet,
    /// So many messages were sent.
    Messages(u64),
    /// This property has broken.
    Broken(&'static str),
}

/// Where a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Inside,
    Waiting,
    Lost,
    Idle,
}

impl Place {
    pub(super) const ALL: [Place; 4] = [Self::Inside, Self::Waiting, Self::Idle, Self::Lost];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Inside => "inside",
            Self::Waiting => "waiting",
            Self::Lost => "lost",
            Self::Idle => "idle",
        }
    }
}

/// A site, or one of its claims: `3`, `3/1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) site: SiteId,
    pub(super) claim: Option<ClaimId>,
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

impl std::fmt::Display for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

impl Deed {
    /// Whether it sets a clock: that may stand among the settings.
    pub(super) fn is_clock(&self) -> bool {
        matches!(self, Deed::Act { action: Action::Clock(..), .. })
    }

    /// Whether it needs sessions.
    pub(super) fn is_fault(&self) -> bool {
        matches!(self, Deed::Act { action: Action::Suffer(_), .. })
    }

    /// Whether it crashes a site or starts it again: some protocols need no sessions for that.
    pub(super) fn is_crash(&self) -> bool {
        let Deed::Act { action: Action::Suffer(fault), .. } = self else { return false };
        matches!(fault, Fault::Crash(_) | Fault::Restart(_))
    }

    /// The sites it names.
    pub(super) fn sites(&self) -> Vec<SiteId> {
        match self {
            Deed::Act { action, .. } => match action {
                Action::Acquire(who, _) | Action::Release(who) | Action::GiveUp(who) => {
                    vec![who.site]
                }
                Action::Deliver(channel, _) | Action::Drop(channel, _) | Action::Hold(channel) => {
                    vec![channel.from, channel.to]
                }
                Action::Clock(site, _) | Action::Expire(site, _) => vec![*site],
                Action::Suffer(fault) => fault.sites(),
                Action::Settle | Action::Heal | Action::Advance(_) => vec![],
            },
            Deed::Expect(check) => match check {
                Check::Stands(who, ..) => vec![who.site],
                Check::Shows(site, ..) => vec![*site],
                Check::Has(channel, _) | Check::Empty(channel) => vec![channel.from, channel.to],
                Check::Quiet | Check::Messages(_) | Check::Broken(_) => vec![],
            },
        }
    }
}

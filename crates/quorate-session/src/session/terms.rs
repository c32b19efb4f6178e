//! What both roles of a site go by.

use super::{Badge, Drift, Incarnation, Lease, Stream};
use crate::Tick;

/// What a site goes by in all its sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Terms {
    /// What peers must have in common with it.
    pub badge: Badge,
    /// The lease it grants as a server.
    pub lease: Lease,
    /// By how much clocks may drift apart.
    pub drift: Drift,
    /// The rule that is not kept.
    #[cfg(feature = "mutations")]
    undone: Option<Rule>,
    /// The window, if it is not the usual one.
    #[cfg(feature = "mutations")]
    window: Option<usize>,
}

/// A rule that a check can undo, to see that something breaks without it.
///
/// Rules that can be bent from outside, by changing inputs or effects, are not here. Without the
/// feature `mutations` no rule can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A new incarnation waits until the old one's lease has run out at the server.
    IncarnationWaits,
    /// The client opens the next session only after its own deadline of this one.
    ReopenAfterDeadline,
    /// The client's deadline counts from the making of a renewal, not from the answer.
    CountFromSending,
    /// The server's deadline counts from the handling of a renewal, not from a guess at its making.
    CountFromHandling,
    /// A step handles deadlines that are due before its input.
    DeadlinesFirst,
    /// A renewal is stamped once: each has a number of its own.
    StampOnce,
    /// What rests on a word ends when the giver said, not only with the session there.
    WordsEnd,
    /// And when the session there ends, however long the giver said.
    WordsInSession,
    /// A site goes on with a session only if it is the one that has it.
    ResumeAtItsSite,
    /// A client counts what its site tells it from the renewal that is named, not from receipt.
    ClientCountsFromRenewal,
    /// What a client believes ends with its session.
    ClientBeliefEndsWithSession,
    /// A common deadline counts for the grants of which a client was told before, not for later
    /// ones.
    CommonDeadlineForEarlier,
    /// A site tells of grants that were degraded before it tells of a common deadline.
    ChangesBeforeCommon,
    /// A client says that a caller leaves even if it is not connected then.
    LeaveIsKept,
    /// A word's time counts from the renewal that it names, not from its receipt.
    WordsFromRenewal,
}

impl Terms {
    /// How many unacknowledged frames a sender that can wait sends before it does.
    pub const WINDOW: usize = Stream::<()>::FRAMES_MAX / 4;

    /// Terms of which every rule is kept.
    pub fn new(badge: Badge, lease: Lease, drift: Drift) -> Self {
        Self {
            badge,
            lease,
            drift,
            #[cfg(feature = "mutations")]
            undone: None,
            #[cfg(feature = "mutations")]
            window: None,
        }
    }
}

#[cfg(not(feature = "mutations"))]
impl Terms {
    /// Whether `rule` is kept: always.
    pub const fn keep(&self, _rule: Rule) -> bool {
        true
    }

    /// How many unacknowledged frames a sender that can wait sends before it does.
    pub const fn window(&self) -> usize {
        Self::WINDOW
    }
}

#[cfg(feature = "mutations")]
impl Terms {
    /// The same terms, but `rule` is not kept.
    pub fn without(self, rule: Rule) -> Self {
        Self { undone: Some(rule), ..self }
    }

    /// The same terms, but senders that can wait do so after so many unacknowledged frames: what
    /// happens to a full stream then happens in a short run too.
    pub fn with_window(self, frames: usize) -> Self {
        Self { window: Some(frames), ..self }
    }

    /// How many unacknowledged frames a sender that can wait sends before it does.
    pub fn window(&self) -> usize {
        self.window.unwrap_or(Self::WINDOW)
    }

    /// Whether `rule` is kept: always, but in a check of what happens otherwise.
    pub fn keep(&self, rule: Rule) -> bool {
        self.undone != Some(rule)
    }
}

/// The circumstances of a step: when, by which terms, and in which life of the site.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The time of the step.
    pub now: Tick,
    /// What the site goes by.
    pub terms: &'a Terms,
    /// The site's incarnation.
    pub incarnation: Incarnation,
    /// Until when the site lends nothing.
    pub quarantined_until: Tick,
}

//! The terms of a site's sessions, the same in both roles.

use super::{ClusterId, Drift, Lease, Window};

/// The terms of all sessions of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Terms {
    /// What its peers must have in common with it.
    pub cluster_id: ClusterId,
    /// The lease it grants as a server.
    pub lease: Lease,
    /// By how much the rates of two clocks may differ.
    pub drift: Drift,
    /// The rule that is undone.
    #[cfg(feature = "mutations")]
    undone: Option<Rule>,
    /// The window of all streams, if it is not [`Window::DEFAULT`].
    #[cfg(feature = "mutations")]
    window: Option<Window>,
}

/// A rule that a check can undo, to show that something breaks without it.
///
/// Rules that can be undone from outside, by changing inputs or effects, are not here. Without the
/// feature `mutations` no rule can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A new incarnation waits until the old one's lease has run out at the server.
    IncarnationWaits,
    /// The client opens the next session only after its own deadline of this one.
    ReopenAfterDeadline,
    /// A session is opened only when every lock was told that the one before is over.
    ReopenAfterTold,
    /// A lock is told of every event of the sessions before it handles anything else.
    ToldBeforeActing,
    /// A silent site counts for the common deadline until every grant was looked at.
    SilentCountsUntilTold,
    /// The client's deadline counts from the making of a renewal, not from the answer.
    CountFromSending,
    /// The server's deadline counts from the handling of a renewal, not from a guess at its making.
    CountFromHandling,
    /// A step handles the deadlines that are due before its input.
    DeadlinesFirst,
    /// A renewal is stamped once: each has a number of its own.
    StampOnce,
    /// Messages that do not fit the window wait; the stream does not end.
    FullWindowWaits,
    /// A receiver acknowledges frames in a packet of its own if nothing else carries it for long.
    AcknowledgeAlone,
    /// A delegation ends when the giver said, not only with the session there.
    DelegationExpires,
    /// A delegation ends with the session there, however long the giver said.
    DelegationEndsWithSession,
    /// A site resumes a session only if it has it.
    ResumeAtItsSite,
    /// A client counts its site's deadlines from the renewal that is named, not from receipt.
    ClientCountsFromRenewal,
    /// No grant of a client is valid for longer than its session.
    ClientBeliefEndsWithSession,
    /// A common deadline counts for the grants that a client received before it, not for later
    /// ones.
    CommonDeadlineForEarlier,
    /// A site reports degraded grants before it sends a common deadline.
    ChangesBeforeCommon,
    /// A client reports that a caller left even if it was not connected then.
    LeaveIsKept,
    /// A site that is about to stop ends no grant before a deadline that it announced.
    DrainKeepsDeadlines,
    /// A delegation counts from the renewal that it names, not from its receipt.
    DelegationCountsFromRenewal,
    /// A client ends a wait at its caller's deadline, whether or not its site answers.
    ClientKeepsDeadlines,
    /// A client that holds nothing leaves a site that does not answer.
    SilentSiteIsLeft,
    /// A client that holds nothing leaves a site that reaches no quorum.
    SiteWithoutQuorumIsLeft,
    /// A client whose site failed tries another one next.
    FailedSiteIsPassed,
    /// A client opens a connection that breaks again and again only once.
    BrokenOnceIsReopened,
    /// What a site said of itself counts for as long as the session there.
    QuorumStatusIsKept,
    /// A site with another birth than the one known is refused.
    BirthIsChecked,
    /// A site is refused if a later life of it is known, or another one of the same incarnation.
    LifeIsUnique,
    /// A site is refused if the life that is known is not one of its earlier ones.
    LineageIsChecked,
    /// A site is refused if a later write of it is known.
    WritesAreChecked,
    /// A raised ceiling is used only when a majority has registered its write.
    CeilingsAreRegistered,
    /// The life of a site whose folder has moved begins when all others have registered it.
    MovedNeedsAll,
    /// A site takes part only when its life has begun.
    LifeBegins,
    /// The quarantine counts from the beginning of a life, not from its start.
    QuarantineFromBeginning,
    /// The numbers in messages of other sites are checked where they enter.
    NumbersAreChecked,
}

impl Terms {
    /// Terms with every rule kept.
    pub fn new(cluster_id: ClusterId, lease: Lease, drift: Drift) -> Self {
        Self {
            cluster_id,
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

    /// How much of a stream may be unacknowledged; the rest waits.
    pub const fn window(&self) -> Window {
        Window::DEFAULT
    }
}

#[cfg(feature = "mutations")]
impl Terms {
    /// The same terms, but `rule` is not kept.
    pub fn without(self, rule: Rule) -> Self {
        Self { undone: Some(rule), ..self }
    }

    /// The same terms with this window for all streams, so that a short run fills it.
    pub fn with_window(self, window: Window) -> Self {
        Self { window: Some(window), ..self }
    }

    /// How much of a stream may be unacknowledged; the rest waits.
    pub fn window(&self) -> Window {
        self.window.unwrap_or(Window::DEFAULT)
    }

    /// Whether `rule` is kept.
    pub fn keep(&self, rule: Rule) -> bool {
        self.undone != Some(rule)
    }
}

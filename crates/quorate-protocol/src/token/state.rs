//! The state of a site, from which the paper's six states are derived.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use quorate_quorum::{SiteId, SiteSet};

use super::lease::{self, TokenLease, VoterLease};
use super::{Durable, Epoch, Options, Stamp, Token};
use crate::group::{Group, Groups};
use crate::{ClaimId, Fence, Tick};

/// One site's part in a token lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenLock {
    pub(super) me: SiteId,
    pub(super) options: Options,
    pub(super) durable: Durable,
    /// The number of the last request.
    pub(super) sn: u64,
    /// The request that is waiting.
    pub(super) pending: Option<PendingClaim>,
    /// The request that is inside.
    pub(super) inside: Option<Inside>,
    /// The token and the followers, at its holder.
    pub(super) held: Option<HeldToken>,
    /// The sites that may hold the token (*RS*): requests are sent to them.
    pub(super) request_set: SiteSet,
    /// The last known request of each site. They are queued when the token arrives (E4).
    pub(super) last_requests: BTreeMap<SiteId, Request>,
    /// The running attempt to make a token.
    pub(super) attempt: Option<Attempt>,
    /// A prepare that is answered when the epoch that this site has promised is withdrawn (O19).
    pub(super) deferred: Option<Deferred>,
    /// The highest epoch that any message has named.
    pub(super) seen_epoch: Epoch,
    /// The stamp of the token when it was last here. One that is not newer has been here already.
    pub(super) last_held: Stamp,
    /// How often T1 has expired for the pending request.
    pub(super) t1_expiries: u32,
    /// The epoch that this site has registered for or promised, and until when.
    pub(super) voter_lease: Option<VoterLease>,
    /// Whether no step was taken since the start.
    pub(super) before_first_step: bool,
    /// Whether the quarantine of the whole site counts. Set by the first step; a mutant skips it.
    pub(super) respects_quarantine: bool,
    /// Until when promises and grants from before a restart may still be valid.
    pub(super) quarantined_until: Option<Tick>,
}

/// A request that is waiting.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct PendingClaim {
    pub(super) id: ClaimId,
    pub(super) sn: u64,
    pub(super) groups: Groups,
    /// Whether it was sent again and the answer is still due.
    pub(super) resent: bool,
    /// Whether an attempt that was refused as too low was made again at once (O22).
    pub(super) retried: bool,
    /// Whether its caller wants a denial instead of a place in the queue.
    pub(super) no_wait: bool,
    /// Whether it is a `no_wait` request that would have to wait.
    pub(super) held_up: bool,
}

/// A request that is inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inside {
    pub(super) id: ClaimId,
    pub(super) sn: u64,
    pub(super) stamp: Stamp,
    pub(super) via: Via,
    /// The deadline that its captain gave it, if it is a follower and there are leases.
    pub(super) until: Option<Tick>,
}

/// The token at its holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HeldToken {
    pub(super) token: Token,
    /// The group of the running occupancy, if there is one.
    pub(super) group: Option<Group>,
    /// The sites that were admitted and have not left (E8).
    pub(super) followers: BTreeMap<SiteId, Follower>,
    /// Its lease, if there are leases.
    pub(super) lease: Option<TokenLease>,
    /// Whether a voter will never register for it (O21).
    pub(super) is_refused: bool,
}

impl HeldToken {
    /// Whether nobody follows and nobody waits.
    pub(super) fn is_idle(&self) -> bool {
        self.followers.is_empty() && self.token.queue.is_empty()
    }
}

/// A follower, at its captain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Follower {
    pub(super) sn: u64,
    /// Its deadline, if there are leases.
    pub(super) until: Option<Tick>,
    /// Whether it has answered since its deadline was last extended.
    pub(super) has_answered: bool,
}

/// A request of another site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) sn: u64,
    pub(super) groups: Groups,
}

/// An attempt to make the token of a new epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Attempt {
    pub(super) epoch: Epoch,
    /// The promises received.
    pub(super) votes: BTreeMap<SiteId, Vote>,
    /// The sites that refused.
    pub(super) refused: SiteSet,
    /// When prepare was sent: the token's lease runs from then (O2).
    pub(super) sent: Tick,
}

/// A prepare that has not been answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Deferred {
    pub(super) from: SiteId,
    pub(super) epoch: Epoch,
}

/// A promise of an epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Vote {
    /// The number of the voter's last request.
    pub(super) sn: u64,
    /// The groups of that request, if it is waiting.
    pub(super) groups: Option<Groups>,
    /// The length of the voter's lease, if there are leases.
    pub(super) lease: Option<Duration>,
}

/// The states of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Idle.
    N,
    /// Waiter.
    R,
    /// Inside as captain.
    EC,
    /// Inside as follower.
    EF,
    /// A holder that is not inside, while followers are, or while sites wait that it does not
    /// reach.
    HS,
    /// An idle holder.
    HI,
}

/// How a request got in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    /// With the token.
    Captain,
    /// Admitted by this captain.
    Follower(SiteId),
}

/// The grant of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The group of its occupancy.
    pub group: Group,
    /// The round of its occupancy: the same for all members, and above all earlier ones.
    pub stamp: Stamp,
    /// Whether it is the captain's or a follower's.
    pub via: Via,
    /// Whether leases end it before another epoch can begin.
    pub leased: bool,
}

impl Grant {
    /// The stamp as one number.
    pub fn fence(&self) -> Fence {
        self.stamp.fence()
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with group {}, round {}", self.group, self.stamp)?;
        match self.via {
            Via::Captain => f.write_str(", as captain"),
            Via::Follower(captain) => write!(f, ", let in by {captain}"),
        }
    }
}

impl TokenLock {
    /// A site of a cluster of `n` at which nothing has happened yet. If idle tokens are kept, the
    /// first site holds the token.
    pub fn new(me: SiteId, n: usize, options: Options) -> Self {
        let mut lock = Self::restarted(me, n, options, Durable::default());
        if options.idle.is_some() {
            return lock;
        }
        let (voter_lease, lease) = lease::first_leases(n, options).unzip();
        lock.voter_lease = voter_lease;
        if me == SiteId::new(0) {
            let token = Token::new(Epoch(0), 1);
            lock.held = Some(HeldToken::new(token, lease));
            lock.request_set = SiteSet::new();
        }
        lock
    }

    /// A site that has restarted with nothing but its disk.
    pub fn restarted(me: SiteId, n: usize, options: Options, durable: Durable) -> Self {
        let mut request_set = SiteSet::full(n);
        request_set.remove(me);
        Self {
            me,
            options,
            sn: durable.sn_ceil,
            seen_epoch: durable.floor().max(durable.tried),
            durable,
            pending: None,
            inside: None,
            held: None,
            request_set,
            last_requests: BTreeMap::new(),
            attempt: None,
            deferred: None,
            last_held: Stamp::default(),
            t1_expiries: 0,
            voter_lease: None,
            before_first_step: true,
            respects_quarantine: false,
            quarantined_until: None,
        }
    }

    /// The state in the paper's terms.
    pub fn state(&self) -> State {
        match (&self.held, &self.inside, &self.pending) {
            (None, None, None) => State::N,
            (None, None, Some(_)) => State::R,
            (None, Some(_), _) => State::EF,
            (Some(_), Some(_), _) => State::EC,
            (Some(held), None, _) if held.is_idle() => State::HI,
            (Some(_), None, _) => State::HS,
        }
    }

    /// The request set.
    pub fn request_set(&self) -> &SiteSet {
        &self.request_set
    }

    /// The token, if it is here.
    pub fn token(&self) -> Option<&Token> {
        self.held.as_ref().map(|held| &held.token)
    }

    /// The sites that a pending request waits for: this one if it holds the token, else the request
    /// set.
    pub(super) fn missing(&self) -> Vec<SiteId> {
        if self.held.is_some() { vec![self.me] } else { self.request_set.iter().collect() }
    }

    /// Panics if an invariant of the state is broken.
    pub(super) fn assert_sound(&self) {
        assert!(!self.request_set.contains(self.me), "a site is not in its own request set");
        assert!(self.pending.is_none() || self.inside.is_none(), "a site has at most one request");
        let Some(held) = &self.held else { return };
        let captain = self.inside.as_ref().map(|inside| (inside.via, inside.stamp));
        assert!(
            captain.is_none_or(|captain| captain == (Via::Captain, held.token.stamp)),
            "a holder that is inside is the captain of the token's round"
        );
        assert!(
            held.token.stamp.epoch >= self.durable.valid,
            "a holder drops its token for a later epoch"
        );
        assert!(!held.followers.contains_key(&self.me), "a captain does not follow itself");
        // A holder that has not renewed its lease may have to do so before anybody enters. One
        // that has may keep its token from waiters that it does not reach (O20).
        let fresh = held.lease.as_ref().is_none_or(|lease| lease.is_renewed);
        let idle = self.inside.is_none() && held.followers.is_empty() && fresh;
        assert!(!idle || self.pending.is_none(), "an idle holder has no pending request");
    }
}

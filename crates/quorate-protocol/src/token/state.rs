//! What a site knows, and the paper's six states read off it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use quorate_quorum::{SiteId, SiteSet};

use super::lease::{self, Lease, Vouched};
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
    /// The request that waits.
    pub(super) want: Option<Want>,
    /// The request that is inside.
    pub(super) inside: Option<Inside>,
    /// The token, and those who follow.
    pub(super) held: Option<Held>,
    /// Those who may have the token (*RS*): whom a request is sent to.
    pub(super) ask: SiteSet,
    /// The last request heard of each site. Who gets the token queues those it has heard (E4).
    pub(super) heard: BTreeMap<SiteId, Heard>,
    /// The new epoch that is hoped for.
    pub(super) attempt: Option<Attempt>,
    /// The highest epoch heard of.
    pub(super) seen: Epoch,
    /// The last session in which the token was here: one that is no younger has been here already.
    pub(super) last: Stamp,
    /// How often in a row T1 has run out.
    pub(super) tries: u32,
    /// For which epoch this site vouches.
    pub(super) vouched: Option<Vouched>,
    /// Whether nothing has happened yet in this life, and whether it then began with care: what the
    /// site did before a restart may still count.
    pub(super) waking: bool,
    pub(super) careful: bool,
    /// Until when a site that has restarted keeps quiet.
    pub(super) quiet_until: Option<Tick>,
}

/// A request that waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Want {
    pub(super) id: ClaimId,
    pub(super) sn: u64,
    pub(super) groups: Groups,
    /// Whether it was sent again, and an answer is awaited.
    pub(super) called: bool,
    /// Whether its caller does not want to wait for anybody, and whether it would have to.
    pub(super) hasty: bool,
    pub(super) held_up: bool,
}

/// A request that is inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inside {
    pub(super) id: ClaimId,
    pub(super) sn: u64,
    pub(super) stamp: Stamp,
    pub(super) via: Via,
    /// Until when the captain vouches for it, if it follows one and leases limit it.
    pub(super) until: Option<Tick>,
}

/// The token at its holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    pub(super) token: Token,
    /// The group of the session; `None` if none is open.
    pub(super) group: Option<Group>,
    /// Who was let in and has not left (E8).
    pub(super) followers: BTreeMap<SiteId, Follower>,
    /// Who vouches for it, if leases limit it.
    pub(super) lease: Option<Lease>,
}

impl Held {
    /// Whether nobody wants anything of a holder that is not inside itself.
    pub(super) fn is_idle(&self) -> bool {
        self.followers.is_empty() && self.token.queue.is_empty()
    }
}

/// Somebody who was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Follower {
    pub(super) sn: u64,
    /// Until when we vouch for it.
    pub(super) until: Option<Tick>,
    /// Whether it was heard of since it was last told until when.
    pub(super) heard: bool,
}

/// The last request heard of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Heard {
    pub(super) sn: u64,
    pub(super) groups: Groups,
}

/// A new epoch that is hoped for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Attempt {
    pub(super) epoch: Epoch,
    /// Who has promised it.
    pub(super) votes: BTreeMap<SiteId, Vote>,
    /// Who has not.
    pub(super) refused: SiteSet,
    /// When it was asked for: leases count from then.
    pub(super) sent: Tick,
}

/// A promise of an epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Vote {
    /// The voter's last request, and the groups that will do if it waits.
    pub(super) sn: u64,
    pub(super) groups: Option<Groups>,
    /// For how long it vouches for the token, if leases limit it.
    pub(super) lease: Option<Duration>,
}

/// The states of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Idle.
    N,
    /// Waiting.
    R,
    /// Inside as captain.
    EC,
    /// Inside as follower.
    EF,
    /// Captain, and has left; followers are still inside.
    HS,
    /// Holder, and nobody wants anything.
    HI,
}

/// How a request got in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    /// With the token.
    Captain,
    /// On the word of a captain.
    Follower(SiteId),
}

/// What somebody inside has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The group of its session.
    pub group: Group,
    /// The session: the same for all members, and above those of all sessions before.
    pub stamp: Stamp,
    /// How it got in.
    pub via: Via,
    /// Whether a lease ends it before another epoch can begin.
    pub leased: bool,
}

impl Grant {
    /// The session as one number.
    pub fn fence(&self) -> Fence {
        self.stamp.fence()
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with group {}, session {}", self.group, self.stamp)?;
        match self.via {
            Via::Captain => f.write_str(", as captain"),
            Via::Follower(captain) => write!(f, ", let in by {captain}"),
        }
    }
}

impl TokenLock {
    /// A site of a cluster of `n` at which nothing has happened yet. The first has the token, if
    /// tokens are kept for ever.
    pub fn new(me: SiteId, n: usize, options: Options) -> Self {
        let mut lock = Self::restarted(me, n, options, Durable::default());
        if options.idle.is_some() {
            return lock;
        }
        let (vouched, lease) = lease::of_the_first(n, options).unzip();
        lock.vouched = vouched;
        if me == SiteId::new(0) {
            let token = Token::new(Epoch(0), 1);
            lock.held = Some(Held { token, group: None, followers: BTreeMap::new(), lease });
            lock.ask = SiteSet::new();
        }
        lock
    }

    /// A site that has restarted with nothing but what was on its disk.
    pub fn restarted(me: SiteId, n: usize, options: Options, durable: Durable) -> Self {
        let mut ask = SiteSet::full(n);
        ask.remove(me);
        Self {
            me,
            options,
            sn: durable.sn_ceil,
            seen: durable.floor().max(durable.tried),
            durable,
            want: None,
            inside: None,
            held: None,
            ask,
            heard: BTreeMap::new(),
            attempt: None,
            last: Stamp::default(),
            tries: 0,
            vouched: None,
            waking: true,
            careful: false,
            quiet_until: None,
        }
    }

    /// The state, as the paper calls it.
    pub fn state(&self) -> State {
        match (&self.held, &self.inside, &self.want) {
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
        &self.ask
    }

    /// The token, if it is here.
    pub fn token(&self) -> Option<&Token> {
        self.held.as_ref().map(|held| &held.token)
    }

    /// The sites for which a request waits: those who may have the token, or who has it.
    pub(super) fn missing(&self) -> Vec<SiteId> {
        if self.held.is_some() { vec![self.me] } else { self.ask.iter().collect() }
    }

    /// Broken invariants are ours: better stop than go on.
    pub(super) fn assert_sound(&self) {
        assert!(!self.ask.contains(self.me), "a site does not ask itself");
        assert!(
            self.want.is_none() || self.inside.is_none(),
            "a site has one request: it waits or it is inside"
        );
        let Some(held) = &self.held else { return };
        let captain = self.inside.as_ref().map(|inside| (inside.via, inside.stamp));
        assert!(
            captain.is_none_or(|captain| captain == (Via::Captain, held.token.stamp)),
            "who is inside with the token is its captain, in its session"
        );
        assert!(
            held.token.stamp.epoch >= self.durable.valid,
            "a holder steps down for a later epoch"
        );
        assert!(!held.followers.contains_key(&self.me), "a captain does not follow itself");
        // Who has not had its lease renewed may have to, before anybody gets in.
        let fresh = held.lease.as_ref().is_none_or(|lease| lease.is_renewed);
        let idle = self.inside.is_none() && held.followers.is_empty() && fresh;
        assert!(!idle || held.token.queue.is_empty(), "an idle holder keeps no one waiting");
        assert!(!idle || self.want.is_none(), "an idle holder does not wait");
    }
}

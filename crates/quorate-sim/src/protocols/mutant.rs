//! Locks with one repair undone: to the simulator each is the lock itself, constructed differently.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::pool::Units;
use quorate_protocol::{ClaimId, Fence, MutantProtocol, Protocol, Record, Tick, Ticket};
use quorate_quorum::{SiteId, SiteSet};

use crate::{AnySetup, Delegation, FenceOrder, Setup, Shape, SimProtocol};

/// A lock with one repair undone.
pub trait SimMutant: MutantProtocol<Lock: SimProtocol> + Send + Sync + 'static {
    /// Which repair.
    type Mutation: Copy + Debug + Send + Sync;

    /// One site at which nothing has happened yet.
    fn mutant(
        site: SiteId,
        quorums: &<Self::Lock as SimProtocol>::Quorums,
        options: &<Self::Lock as SimProtocol>::Options,
        undone: Self::Mutation,
    ) -> Self;

    /// A site that starts again; see [`SimProtocol::restarted`].
    fn restarted_mutant(
        site: SiteId,
        quorums: &<Self::Lock as SimProtocol>::Quorums,
        options: &<Self::Lock as SimProtocol>::Options,
        undone: Self::Mutation,
        _: Option<&Record>,
    ) -> Self {
        Self::mutant(site, quorums, options, undone)
    }

    /// See [`SimProtocol::erase`].
    fn erase_mutant(setup: Setup<Self>) -> Arc<dyn AnySetup>;
}

type MessageOf<W> = <<W as MutantProtocol>::Lock as Protocol>::Message;
type ClaimOf<W> = <<W as MutantProtocol>::Lock as Protocol>::Claim;
type GrantOf<W> = <<W as MutantProtocol>::Lock as Protocol>::Grant;
type TimerOf<W> = <<W as MutantProtocol>::Lock as Protocol>::Timer;

impl<W: SimMutant> SimProtocol for W {
    const NAME: &'static str = W::Lock::NAME;
    const QUORUM: &'static str = W::Lock::QUORUM;
    const ANY_ORDER: bool = W::Lock::ANY_ORDER;
    const LOSSY: bool = W::Lock::LOSSY;
    const POOLED: bool = W::Lock::POOLED;
    const TOKENS: bool = W::Lock::TOKENS;
    const IDEAL: bool = W::Lock::IDEAL;
    const KINDS: &'static [&'static str] = W::Lock::KINDS;
    const ARBITERS: bool = W::Lock::ARBITERS;
    const HOSTS: bool = W::Lock::HOSTS;

    type Options = (<W::Lock as SimProtocol>::Options, W::Mutation);

    type Quorums = <W::Lock as SimProtocol>::Quorums;

    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        W::erase_mutant(setup)
    }

    fn quorums(shape: &Shape, claims: &[ClaimOf<W>]) -> Result<Self::Quorums, String> {
        W::Lock::quorums(shape, claims)
    }

    fn new_site(quorums: &Self::Quorums, options: &Self::Options) -> Self {
        Self::at(SiteId::new(0), quorums, options)
    }

    fn at(site: SiteId, quorums: &Self::Quorums, (options, undone): &Self::Options) -> Self {
        W::mutant(site, quorums, options, *undone)
    }

    fn restarted(
        site: SiteId,
        quorums: &Self::Quorums,
        (options, undone): &Self::Options,
        disk: Option<&Record>,
    ) -> Self {
        W::restarted_mutant(site, quorums, options, *undone, disk)
    }

    fn is_deadline(timer: TimerOf<W>) -> bool {
        W::Lock::is_deadline(timer)
    }

    fn valid_until(&self, claim: ClaimId) -> Option<Tick> {
        self.lock().valid_until(claim)
    }

    fn parse_claim(words: &[&str]) -> Result<ClaimOf<W>, String> {
        W::Lock::parse_claim(words)
    }

    fn kind(message: &MessageOf<W>) -> &'static str {
        W::Lock::kind(message)
    }

    fn is_for_arbiter(message: &MessageOf<W>) -> bool {
        W::Lock::is_for_arbiter(message)
    }

    fn communicate(quorums: &Self::Quorums, one: SiteId, other: SiteId) -> bool {
        W::Lock::communicate(quorums, one, other)
    }

    fn conflict(one: &GrantOf<W>, other: &GrantOf<W>) -> bool {
        W::Lock::conflict(one, other)
    }

    fn units(grant: &GrantOf<W>) -> Units {
        W::Lock::units(grant)
    }

    fn fence(grant: &GrantOf<W>) -> Fence {
        W::Lock::fence(grant)
    }

    fn fence_order(grant: &GrantOf<W>) -> FenceOrder {
        W::Lock::fence_order(grant)
    }

    fn stage_fence(grant: &GrantOf<W>) -> Option<Fence> {
        W::Lock::stage_fence(grant)
    }

    fn fence_owner(grant: &GrantOf<W>) -> u64 {
        W::Lock::fence_owner(grant)
    }

    fn held_token(&self) -> Option<u64> {
        self.lock().held_token()
    }

    fn carried_token(message: &MessageOf<W>) -> Option<u64> {
        W::Lock::carried_token(message)
    }

    fn declared_time(grant: &GrantOf<W>) -> Option<Duration> {
        W::Lock::declared_time(grant)
    }

    fn is_quorum_for(quorums: &Self::Quorums, grant: &GrantOf<W>, sites: &SiteSet) -> bool {
        W::Lock::is_quorum_for(quorums, grant, sites)
    }

    fn delegation(grant: &GrantOf<W>) -> Option<Delegation> {
        W::Lock::delegation(grant)
    }

    fn delegation_roots(&self) -> Vec<(Ticket, SiteSet)> {
        self.lock().delegation_roots()
    }

    fn can_delegate(quorums: &Self::Quorums, sites: &SiteSet) -> bool {
        W::Lock::can_delegate(quorums, sites)
    }

    fn joined((options, _): &Self::Options) -> bool {
        W::Lock::joined(options)
    }

    fn must_join((options, _): &Self::Options, claim: &ClaimOf<W>, grant: &GrantOf<W>) -> bool {
        W::Lock::must_join(options, claim, grant)
    }

    fn is_unordered((options, _): &Self::Options) -> bool {
        W::Lock::is_unordered(options)
    }

    fn show(&self) -> Vec<(&'static str, String)> {
        self.lock().show()
    }

    fn grant_matches(grant: &GrantOf<W>, words: &[&str]) -> Result<bool, String> {
        W::Lock::grant_matches(grant, words)
    }
}

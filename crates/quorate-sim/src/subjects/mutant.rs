//! Locks with one repair undone: to the simulator they are the lock itself, made otherwise.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::pool::Units;
use quorate_protocol::{ClaimId, Fence, Protocol, Record, Tick, Ticket, Wrapper};
use quorate_quorum::{SiteId, SiteSet};

use crate::{AnySetup, Marks, Setup, Shape, Subject, Warrant};

/// A lock with one repair undone.
pub trait Mutant: Wrapper<Lock: Subject> + Send + Sync + 'static {
    /// Which repair.
    type Erratum: Copy + Debug + Send + Sync;

    /// One site at which nothing has happened yet.
    fn mutated(
        site: SiteId,
        quorums: &<Self::Lock as Subject>::Quorums,
        options: &<Self::Lock as Subject>::Options,
        undone: Self::Erratum,
    ) -> Self;

    /// A site that starts again; see [`Subject::restarted`].
    fn mutated_again(
        site: SiteId,
        quorums: &<Self::Lock as Subject>::Quorums,
        options: &<Self::Lock as Subject>::Options,
        undone: Self::Erratum,
        _: Option<&Record>,
    ) -> Self {
        Self::mutated(site, quorums, options, undone)
    }

    /// See [`Subject::erase`].
    fn erase_mutant(setup: Setup<Self>) -> Arc<dyn AnySetup>;
}

/// What sites of the lock say, and what they get.
type MessageOf<W> = <<W as Wrapper>::Lock as Protocol>::Message;
type ClaimOf<W> = <<W as Wrapper>::Lock as Protocol>::Claim;
type GrantOf<W> = <<W as Wrapper>::Lock as Protocol>::Grant;
type TimerOf<W> = <<W as Wrapper>::Lock as Protocol>::Timer;

impl<W: Mutant> Subject for W {
    const NAME: &'static str = W::Lock::NAME;
    const QUORUM: &'static str = W::Lock::QUORUM;
    const ANY_ORDER: bool = W::Lock::ANY_ORDER;
    const LOSSY: bool = W::Lock::LOSSY;
    const POOLED: bool = W::Lock::POOLED;
    const TOKENS: bool = W::Lock::TOKENS;
    const IDEAL: bool = W::Lock::IDEAL;

    type Options = (<W::Lock as Subject>::Options, W::Erratum);

    type Quorums = <W::Lock as Subject>::Quorums;

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
        W::mutated(site, quorums, options, *undone)
    }

    fn restarted(
        site: SiteId,
        quorums: &Self::Quorums,
        (options, undone): &Self::Options,
        disk: Option<&Record>,
    ) -> Self {
        W::mutated_again(site, quorums, options, *undone, disk)
    }

    fn is_deadline(timer: TimerOf<W>) -> bool {
        W::Lock::is_deadline(timer)
    }

    fn believes_until(&self, claim: ClaimId) -> Option<Tick> {
        self.lock().believes_until(claim)
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

    fn speak(quorums: &Self::Quorums, one: SiteId, other: SiteId) -> bool {
        W::Lock::speak(quorums, one, other)
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

    fn marks(grant: &GrantOf<W>) -> Marks {
        W::Lock::marks(grant)
    }

    fn stage_fence(grant: &GrantOf<W>) -> Option<Fence> {
        W::Lock::stage_fence(grant)
    }

    fn party(grant: &GrantOf<W>) -> u64 {
        W::Lock::party(grant)
    }

    fn holds(&self) -> Option<u64> {
        self.lock().holds()
    }

    fn carries(message: &MessageOf<W>) -> Option<u64> {
        W::Lock::carries(message)
    }

    fn stays(grant: &GrantOf<W>) -> Option<Duration> {
        W::Lock::stays(grant)
    }

    fn vouch(quorums: &Self::Quorums, grant: &GrantOf<W>, sites: &SiteSet) -> bool {
        W::Lock::vouch(quorums, grant, sites)
    }

    fn warrant(grant: &GrantOf<W>) -> Option<Warrant> {
        W::Lock::warrant(grant)
    }

    fn leads(&self) -> Vec<(Ticket, SiteSet)> {
        self.lock().leads()
    }

    fn carry(quorums: &Self::Quorums, sites: &SiteSet) -> bool {
        W::Lock::carry(quorums, sites)
    }

    fn joined((options, _): &Self::Options) -> bool {
        W::Lock::joined(options)
    }

    fn must_join((options, _): &Self::Options, claim: &ClaimOf<W>, grant: &GrantOf<W>) -> bool {
        W::Lock::must_join(options, claim, grant)
    }

    fn shown(&self, what: &str) -> Result<String, String> {
        self.lock().shown(what)
    }

    fn is_as(grant: &GrantOf<W>, words: &[&str]) -> Result<bool, String> {
        W::Lock::is_as(grant, words)
    }
}

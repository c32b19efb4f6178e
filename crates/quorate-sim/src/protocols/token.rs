//! The token lock, as the simulator drives it.

use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::group::Claim;
use quorate_protocol::token::mutations::{Mutant, Mutation};
use quorate_protocol::token::{Durable, Grant, Message, Options, Timer, TokenLock, Via};
use quorate_protocol::{ClaimId, Fence, Record, SessionNo, Tick, Ticket};
use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use super::{SimMutant, group, mutex, parse_switch, switches};
use crate::time::parse_time;
use crate::{
    AnyProtocol, AnySetup, Configured, Delegation, FenceOrder, Setting, Setup, Shape, SimProtocol,
};

pub(super) fn find(settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    let mut options = Options::default();
    let set = |name: &str, value: &str| {
        match name {
            "t1" => options.t1 = parse_option_time(name, value)?,
            "t2" => options.t2 = parse_option_time(name, value)?,
            "lease" if value == "off" => options.lease = None,
            "lease" => options.lease = Some(parse_option_time(name, value)?),
            _ => options.resend = parse_switch(name, value)?,
        }
        Ok(())
    };
    let mutations = Mutation::ALL.iter().copied();
    let undone = switches(TokenLock::NAME, &Options::NAMES, settings, mutations, set)?;
    Ok(match undone {
        None => Configured::<TokenLock>::erased(options),
        Some(mutation) => Configured::<Mutant>::erased((options, mutation)),
    })
}

/// What is undone in whole sites, where all times follow from the lease.
pub(super) fn undone_in_sites(settings: &[Setting]) -> Result<Option<Mutation>, String> {
    let never = |_: &str, _: &str| unreachable!("there are no other options");
    switches(TokenLock::NAME, &[], settings, Mutation::ALL.iter().copied(), never)
}

/// A time that is not 0, as in `50ms`.
fn parse_option_time(name: &str, value: &str) -> Result<Duration, String> {
    let time = parse_time(value).filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("option {name} is a time as in `50ms`, not `{value}`"))
}

impl SimProtocol for TokenLock {
    const NAME: &'static str = "token";

    const QUORUM: &'static str = "majority";

    const ANY_ORDER: bool = true;

    const LOSSY: bool = true;

    const TOKENS: bool = true;

    const KINDS: &'static [&'static str] = &[
        "request",
        "hint",
        "alive",
        "token",
        "start",
        "is_complete",
        "busy",
        "complete",
        "prepare",
        "promise",
        "nack",
        "new_epoch",
        "withdraw",
        "register",
        "registered",
    ];

    type Options = Options;

    type Quorums = Arc<dyn QuorumSystem>;

    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }

    fn quorums(shape: &Shape, _: &[Claim]) -> Result<Self::Quorums, String> {
        mutex::quorums(shape)
    }

    fn new_site(quorums: &Self::Quorums, options: &Self::Options) -> Self {
        Self::at(SiteId::new(0), quorums, options)
    }

    fn at(site: SiteId, quorums: &Self::Quorums, options: &Self::Options) -> Self {
        TokenLock::new(site, quorums.n(), *options)
    }

    fn restarted(
        site: SiteId,
        quorums: &Self::Quorums,
        options: &Self::Options,
        disk: Option<&Record>,
    ) -> Self {
        TokenLock::restarted(site, quorums.n(), *options, durable(disk))
    }

    fn is_deadline(timer: Timer) -> bool {
        timer == Timer::Lapse
    }

    fn valid_until(&self, _: ClaimId) -> Option<Tick> {
        TokenLock::believes_until(self)
    }

    fn parse_claim(words: &[&str]) -> Result<Claim, String> {
        group::parse_claim(words)
    }

    fn kind(message: &Message) -> &'static str {
        message.kind()
    }

    fn is_for_arbiter(message: &Message) -> bool {
        message.uses_senders_session()
    }

    /// Groups do not mix. Without leases only fences part the last session of one epoch
    /// and the first of the next.
    fn conflict(inside: &Grant, entrant: &Grant) -> bool {
        let same = inside.stamp.epoch == entrant.stamp.epoch;
        inside.group != entrant.group && (same || inside.leased)
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence()
    }

    /// Sessions of one epoch come one after the other. Without leases an old holder may
    /// let somebody in after a new one has.
    fn fence_order(grant: &Grant) -> FenceOrder {
        let epoch = usize::try_from(grant.stamp.epoch.0).expect("few epochs are tried");
        let kind = if grant.leased { 0 } else { epoch };
        FenceOrder { above: vec![], level: vec![kind], own: vec![kind] }
    }

    fn fence_owner(grant: &Grant) -> u64 {
        grant.group.name().bytes().fold(1, |hash, byte| hash * 31 % 1_000_003 + u64::from(byte))
    }

    fn held_token(&self) -> Option<u64> {
        self.token().map(|token| token.stamp.epoch.0)
    }

    fn carried_token(message: &Message) -> Option<u64> {
        match message {
            Message::Token { token, .. } => Some(token.stamp.epoch.0),
            _ => None,
        }
    }

    fn is_quorum_for(_: &Self::Quorums, _: &Grant, sites: &SiteSet) -> bool {
        !sites.is_empty()
    }

    fn delegation(grant: &Grant) -> Option<Delegation> {
        let Via::Follower(captain) = grant.via else { return None };
        let (time, claim) = (grant.stamp.round, ClaimId(0));
        let root = Ticket { time, site: captain, claim };
        Some(Delegation { giver: captain, root, right: SessionNo(0) })
    }

    fn show(&self) -> Vec<(&'static str, String)> {
        let requests = self.request_set().iter().map(|site| site.to_string());
        let token = self.token();
        vec![
            ("state", format!("{:?}", self.state())),
            ("requests", requests.collect::<Vec<_>>().join(" ")),
            ("queue", token.map_or_else(String::new, |token| token.queue.to_string())),
            ("token", token.map_or_else(String::new, |token| token.stamp.to_string())),
        ]
    }

    fn grant_matches(grant: &Grant, words: &[&str]) -> Result<bool, String> {
        match words {
            ["group", name] => Ok(grant.group.name() == *name),
            _ => Err(format!("expected `inside group G`, not `{}`", words.join(" "))),
        }
    }
}

impl SimMutant for Mutant {
    type Mutation = Mutation;

    fn mutant(
        site: SiteId,
        quorums: &Arc<dyn QuorumSystem>,
        options: &Options,
        undone: Mutation,
    ) -> Self {
        Mutant::new(site, quorums.n(), *options, undone)
    }

    fn restarted_mutant(
        site: SiteId,
        quorums: &Arc<dyn QuorumSystem>,
        options: &Options,
        undone: Mutation,
        disk: Option<&Record>,
    ) -> Self {
        Mutant::restarted(site, quorums.n(), *options, undone, durable(disk))
    }

    fn erase_mutant(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }
}

/// What a site finds on its disk.
fn durable(disk: Option<&Record>) -> Durable {
    match disk {
        Some(Record::Token(durable)) => durable.clone(),
        _ => Durable::default(),
    }
}

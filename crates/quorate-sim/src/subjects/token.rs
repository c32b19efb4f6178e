//! The token lock, as the simulator drives it.

use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::group::Claim;
use quorate_protocol::token::errata::{Erratum, Unrepaired};
use quorate_protocol::token::{Durable, Grant, Message, Options, Timer, TokenLock, Via};
use quorate_protocol::{ClaimId, Fence, Record, SessionNo, Tick, Ticket};
use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use super::{Mutant, group, mutex, parse_switch, switches};
use crate::{AnyProtocol, AnySetup, Configured, Marks, Setting, Setup, Shape, Subject, Warrant};

pub(super) fn find(settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    let mut options = Options::default();
    let set = |name: &str, value: &str| {
        match name {
            "t1" => options.t1 = parse_time(name, value)?,
            "t2" => options.t2 = parse_time(name, value)?,
            "lease" if value == "off" => options.lease = None,
            "lease" => options.lease = Some(parse_time(name, value)?),
            _ => options.resend = parse_switch(name, value)?,
        }
        Ok(())
    };
    let errata = Erratum::ALL.into_iter();
    let undone = switches(TokenLock::NAME, &Options::NAMES, settings, errata, set)?;
    Ok(match undone {
        None => Configured::<TokenLock>::erased(options),
        Some(erratum) => Configured::<Unrepaired>::erased((options, erratum)),
    })
}

/// What is undone in whole sites, where all times follow from the lease.
pub(super) fn undone_in_sites(settings: &[Setting]) -> Result<Option<Erratum>, String> {
    let never = |_: &str, _: &str| unreachable!("there are no other options");
    switches(TokenLock::NAME, &[], settings, Erratum::ALL.into_iter(), never)
}

/// A time that is not 0, as in `50ms`.
fn parse_time(name: &str, value: &str) -> Result<Duration, String> {
    let ms = value.strip_suffix("ms").filter(|ms| ms.bytes().all(|byte| byte.is_ascii_digit()));
    match ms.and_then(|ms| ms.parse().ok()).filter(|&ms| ms > 0) {
        Some(ms) => Ok(Duration::from_millis(ms)),
        None => Err(format!("option {name} is a time as in `50ms`, not `{value}`")),
    }
}

impl Subject for TokenLock {
    const NAME: &'static str = "token";

    const QUORUM: &'static str = "majority";

    const ANY_ORDER: bool = true;

    const LOSSY: bool = true;

    const TOKENS: bool = true;

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

    fn believes_until(&self, _: ClaimId) -> Option<Tick> {
        TokenLock::believes_until(self)
    }

    fn parse_claim(words: &[&str]) -> Result<Claim, String> {
        group::parse_claim(words)
    }

    fn kind(message: &Message) -> &'static str {
        message.kind()
    }

    fn is_for_arbiter(message: &Message) -> bool {
        message.is_asked()
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
    fn marks(grant: &Grant) -> Marks {
        let epoch = usize::try_from(grant.stamp.epoch.0).expect("few epochs are tried");
        let kind = if grant.leased { 0 } else { epoch };
        Marks { above: vec![], level: vec![kind], own: vec![kind] }
    }

    fn party(grant: &Grant) -> u64 {
        grant.group.name().bytes().fold(1, |hash, byte| hash * 31 % 1_000_003 + u64::from(byte))
    }

    fn holds(&self) -> Option<u64> {
        self.token().map(|token| token.stamp.epoch.0)
    }

    fn carries(message: &Message) -> Option<u64> {
        match message {
            Message::Token { token, .. } => Some(token.stamp.epoch.0),
            _ => None,
        }
    }

    fn vouch(_: &Self::Quorums, _: &Grant, sites: &SiteSet) -> bool {
        !sites.is_empty()
    }

    fn warrant(grant: &Grant) -> Option<Warrant> {
        let Via::Follower(captain) = grant.via else { return None };
        let (time, claim) = (grant.stamp.session, ClaimId(0));
        let lead = Ticket { time, site: captain, claim };
        Some(Warrant { giver: captain, lead, right: SessionNo(0) })
    }

    fn shown(&self, what: &str) -> Result<String, String> {
        let requests = self.request_set().iter().map(|site| site.to_string());
        let text = match what {
            "state" => format!("{:?}", self.state()),
            "requests" => requests.collect::<Vec<_>>().join(" "),
            "queue" => self.token().map_or_else(String::new, |t| t.queue.to_string()),
            _ => return Err(format!("expected state, requests or queue, not `{what}`")),
        };
        Ok(if text.is_empty() { "none".to_owned() } else { text })
    }

    fn is_as(grant: &Grant, words: &[&str]) -> Result<bool, String> {
        match words {
            ["group", name] => Ok(grant.group.name() == *name),
            _ => Err(format!("expected `inside group G`, not `{}`", words.join(" "))),
        }
    }
}

impl Mutant for Unrepaired {
    type Erratum = Erratum;

    fn mutated(
        site: SiteId,
        quorums: &Arc<dyn QuorumSystem>,
        options: &Options,
        undone: Erratum,
    ) -> Self {
        Unrepaired::new(site, quorums.n(), *options, undone)
    }

    fn mutated_again(
        site: SiteId,
        quorums: &Arc<dyn QuorumSystem>,
        options: &Options,
        undone: Erratum,
        disk: Option<&Record>,
    ) -> Self {
        Unrepaired::restarted((site, quorums.n()), *options, undone, durable(disk))
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

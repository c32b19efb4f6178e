//! The role lock, as the simulator drives it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::group::Group;
use quorate_protocol::role::mutations::{Mutant, Mutation};
use quorate_protocol::role::{Claim, Grant, Message, Options, Overrun, Role, RoleLock};
use quorate_protocol::{Fence, SessionNo, Ticket};
use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use super::{SimMutant, mutex, parse_switch, switches};
use crate::time::parse_time;
use crate::{
    AnyProtocol, AnySetup, Configured, Delegation, FenceOrder, Setting, Setup, Shape, SimProtocol,
};

pub(super) fn find(settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    Ok(match options(settings)? {
        (options, None) => Configured::<RoleLock>::erased(options),
        (options, Some(mutation)) => Configured::<Mutant>::erased((options, mutation)),
    })
}

/// The switches that are set, and the repair that is undone.
pub(super) fn options(settings: &[Setting]) -> Result<(Options, Option<Mutation>), String> {
    let mut options = Options::default();
    let set = |name: &str, value: &str| {
        match name {
            "unordered" => options.unordered = parse_switch(name, value)?,
            "extend" => options.extend = parse_switch(name, value)?,
            "cap" => options.cap = parse_cap(value)?,
            "overrun" => options.overrun = parse_overrun(value)?,
            "grace" => options.grace = parse_option_time(name, value)?,
            "spares" => options.spares = mutex::parse_spares(value)?,
            _ => options.tc = parse_option_time(name, value)?,
        }
        Ok(())
    };
    let undone = switches(RoleLock::NAME, &Options::NAMES, settings, Mutation::all(), set)?;
    Ok((options, undone))
}

fn parse_cap(value: &str) -> Result<Option<Duration>, String> {
    match (value, parse_time(value)) {
        ("off", _) => Ok(None),
        (_, Some(cap)) => Ok(Some(cap)),
        (_, None) => Err(format!("option cap is `off` or a time as in `50ms`, not `{value}`")),
    }
}

fn parse_overrun(value: &str) -> Result<Overrun, String> {
    let found = Overrun::ALL.into_iter().find(|(name, _)| *name == value);
    found.map(|(_, overrun)| overrun).ok_or_else(|| {
        let known: Vec<&str> = Overrun::ALL.iter().map(|(name, _)| *name).collect();
        format!("option overrun is `{}`, not `{value}`", known.join("` or `"))
    })
}

fn parse_option_time(name: &str, value: &str) -> Result<Duration, String> {
    let wrong = || format!("option {name} is a time as in `50ms`, not `{value}`");
    parse_time(value).ok_or_else(wrong)
}

impl SimProtocol for RoleLock {
    const NAME: &'static str = "role";

    const QUORUM: &'static str = "majority";

    const ANY_ORDER: bool = true;

    const HOSTS: bool = true;

    const KINDS: &'static [&'static str] = &[
        "req-process",
        "wait",
        "rep-process",
        "rel-process",
        "revoke",
        "req-group",
        "queued",
        "rec-group",
        "rel-group",
        "rep-rel-group",
        "lib-group",
        "raise",
        "raised",
    ];

    type Options = Options;

    type Quorums = Arc<dyn QuorumSystem>;

    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }

    fn quorums(shape: &Shape, _: &[Claim]) -> Result<Self::Quorums, String> {
        mutex::quorums(shape)
    }

    fn new_site(_: &Self::Quorums, options: &Self::Options) -> Self {
        RoleLock::new(*options)
    }

    fn parse_claim(words: &[&str]) -> Result<Claim, String> {
        parse_claim(words)
    }

    fn is_unordered(options: &Options) -> bool {
        options.unordered
    }

    fn kind(message: &Message) -> &'static str {
        message.kind()
    }

    fn is_for_arbiter(message: &Message) -> bool {
        message.is_asked()
    }

    /// One stage at a time, and in it one exclusive member.
    fn conflict(one: &Grant, other: &Grant) -> bool {
        let exclusive = |grant: &Grant| grant.role == Role::Exclusive;
        one.stage != other.stage || (exclusive(one) && exclusive(other))
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    /// Exclusive members have an order, also in one stage; shared ones only by stages.
    fn fence_order(grant: &Grant) -> FenceOrder {
        match grant.role {
            Role::Shared => FenceOrder { above: vec![], level: vec![0], own: vec![0] },
            Role::Exclusive => FenceOrder { above: vec![1], level: vec![0], own: vec![1] },
        }
    }

    fn stage_fence(grant: &Grant) -> Option<Fence> {
        Some(grant.stage_fence)
    }

    fn is_quorum_for(quorums: &Self::Quorums, _: &Grant, sites: &SiteSet) -> bool {
        quorums.is_quorum(sites)
    }

    /// Its host has the right from itself.
    fn delegation(grant: &Grant) -> Option<Delegation> {
        Some(Delegation { giver: grant.host(), root: grant.stage, right: SessionNo(0) })
    }

    fn delegation_roots(&self) -> Vec<(Ticket, SiteSet)> {
        RoleLock::leads(self).collect()
    }

    fn can_delegate(quorums: &Self::Quorums, sites: &SiteSet) -> bool {
        quorums.is_quorum(sites)
    }

    fn declared_time(grant: &Grant) -> Option<Duration> {
        Some(grant.time)
    }

    fn show(&self) -> Vec<(&'static str, String)> {
        let stages = self.hosted().map(|(group, stage, inside)| {
            format!("{} {stage} {}", group.name(), if inside { "inside" } else { "waiting" })
        });
        vec![("stages", stages.collect::<Vec<_>>().join(", "))]
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

    fn mutant(_: SiteId, _: &Arc<dyn QuorumSystem>, options: &Options, undone: Mutation) -> Self {
        Mutant::new(*options, undone)
    }

    fn erase_mutant(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }
}

/// `role exclusive a shared b c for 10ms` in scripts; the first word may be left out where it is
/// clear what is meant.
fn parse_claim(words: &[&str]) -> Result<Claim, String> {
    const EXPECTED: &str = "expected a role, groups and a time, as in `role shared a for 10ms`";
    let [words @ .., "for", time] = words.strip_prefix(&["role"]).unwrap_or(words) else {
        return Err(format!("a role is acquired for some time; {EXPECTED}"));
    };
    let time = parse_time(time).ok_or_else(|| format!("`{time}` is no time; {EXPECTED}"))?;
    let (mut groups, mut role) = (BTreeMap::new(), None);
    for word in words {
        let spelt = Role::ALL.into_iter().find(|(name, _)| name == word);
        if let Some((_, named)) = spelt {
            role = Some(named);
            continue;
        }
        let role = role.ok_or_else(|| format!("`{word}` is no role; {EXPECTED}"))?;
        if groups.insert(Group::new(word), role).is_some() {
            return Err(format!("group {word} is claimed twice; {EXPECTED}"));
        }
    }
    if groups.is_empty() {
        return Err(format!("a role is acquired with a group; {EXPECTED}"));
    }
    Ok(Claim { groups, time, no_wait: false })
}

//! The group lock, as the simulator drives it.

use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::group::mutations::{Mutant, Mutation};
use quorate_protocol::group::{Choice, Claim, Grant, Group, GroupLock, Message, Options, Via};
use quorate_protocol::{Fence, Ticket};
use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use super::{SimMutant, mutex, switches};
use crate::time::parse_time;
use crate::{
    AnyProtocol, AnySetup, Configured, Delegation, FenceOrder, Quorums, Setting, Setup, Shape,
    SimProtocol,
};

pub(super) fn find(settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    Ok(match options(settings)? {
        (options, None) => Configured::<GroupLock>::erased(options),
        (options, Some(mutation)) => Configured::<Mutant>::erased((options, mutation)),
    })
}

/// The switches that are set, and the repair that is undone.
pub(super) fn options(settings: &[Setting]) -> Result<(Options, Option<Mutation>), String> {
    let mut options = Options::default();
    let set = |name: &str, value: &str| {
        match name {
            "choice" => options.choice = parse_choice(value)?,
            "spares" => options.spares = mutex::parse_spares(value)?,
            _ => options.limit = parse_limit(value)?,
        }
        Ok(())
    };
    let undone = switches(GroupLock::NAME, &Options::NAMES, settings, Mutation::all(), set)?;
    Ok((options, undone))
}

fn parse_choice(value: &str) -> Result<Choice, String> {
    let found = Choice::ALL.into_iter().find(|(name, _)| *name == value);
    found.map(|(_, choice)| choice).ok_or_else(|| {
        let known: Vec<&str> = Choice::ALL.iter().map(|(name, _)| *name).collect();
        format!("option choice is `{}`, not `{value}`", known.join("` or `"))
    })
}

fn parse_limit(value: &str) -> Result<Option<Duration>, String> {
    if value == "off" {
        return Ok(None);
    }
    match parse_time(value) {
        Some(limit) => Ok(Some(limit)),
        None => Err(format!("option limit is `off` or a time as in `50ms`, not `{value}`")),
    }
}

impl SimProtocol for GroupLock {
    const NAME: &'static str = "group";

    const QUORUM: &'static str = "majority";

    const ANY_ORDER: bool = false;

    const KINDS: &'static [&'static str] = &[
        "request",
        "wait",
        "ok",
        "cancel",
        "cancelled",
        "lock",
        "enter",
        "no-need",
        "release",
        "finished",
        "over",
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
        GroupLock::new(*options)
    }

    fn parse_claim(words: &[&str]) -> Result<Claim, String> {
        parse_claim(words)
    }

    fn kind(message: &Message) -> &'static str {
        message.kind()
    }

    fn is_for_arbiter(message: &Message) -> bool {
        message.is_for_manager()
    }

    fn communicate(quorums: &Self::Quorums, one: SiteId, other: SiteId) -> bool {
        asks(quorums, one, other) || asks(quorums, other, one)
    }

    /// Groups do not mix, and a pivot finds nobody inside.
    fn conflict(inside: &Grant, entrant: &Grant) -> bool {
        inside.group != entrant.group || entrant.is_pivot()
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn fence_order(grant: &Grant) -> FenceOrder {
        let (above, level) = if grant.is_pivot() { (vec![0], vec![]) } else { (vec![], vec![0]) };
        FenceOrder { above, level, own: vec![0] }
    }

    fn is_quorum_for(quorums: &Self::Quorums, _: &Grant, sites: &SiteSet) -> bool {
        quorums.is_quorum(sites)
    }

    fn delegation(grant: &Grant) -> Option<Delegation> {
        match grant.via {
            Via::Pivot => None,
            Via::Follower { manager, pivot, right } => {
                Some(Delegation { giver: manager, root: pivot, right })
            }
        }
    }

    fn delegation_roots(&self) -> Vec<(Ticket, SiteSet)> {
        GroupLock::leads(self).collect()
    }

    fn can_delegate(quorums: &Self::Quorums, sites: &SiteSet) -> bool {
        quorums.is_quorum(sites)
    }

    fn joined(_: &Options) -> bool {
        true
    }

    /// With a limit some have to wait, for the sake of others.
    fn must_join(options: &Self::Options, claim: &Claim, grant: &Grant) -> bool {
        options.limit.is_none() && grant.is_pivot() && claim.groups.contains(&grant.group)
    }

    fn show(&self) -> Vec<(&'static str, String)> {
        let (group, pivot) = self.occupied_by().unzip();
        let group = group.map_or_else(String::new, |group| group.name().to_owned());
        vec![("group", group), ("pivot", pivot.map_or_else(String::new, |pivot| pivot.to_string()))]
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

/// Whether one site may ask another to manage.
fn asks(quorums: &Arc<dyn QuorumSystem>, one: SiteId, other: SiteId) -> bool {
    quorums.may_ask(one) && quorums.quorums().any(|quorum| quorum.contains(other))
}

/// `group a b` in scripts; the first word may be left out where it is clear what is meant.
pub(super) fn parse_claim(words: &[&str]) -> Result<Claim, String> {
    let names = words.strip_prefix(&["group"]).unwrap_or(words);
    if names.is_empty() {
        return Err("a group lock is acquired with a group; expected one or more, as in \
                    `group a b`"
            .to_owned());
    }
    Ok(Claim { groups: names.iter().map(|name| Group::new(name)).collect(), no_wait: false })
}

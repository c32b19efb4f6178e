//! The simulator's interface.

use std::sync::Arc;

use quorate_protocol::Fence;
use quorate_protocol::group::{Claim, GroupLock};
use quorate_quorum::SiteSet;
use quorate_sim::{
    AnyProtocol, AnySetup, Configured, FenceOrder, Setting, Setup, Shape, SimProtocol,
};

use super::quorums::number;
use super::{Choice, Grant, Joung, MGroup, Message, NAME, Options, RULES};
use crate::baseline::Envelope;
use crate::catalogue::rule;

/// The letters that name groups.
const LETTERS: usize = 26;

/// The algorithm with these switches set.
pub(crate) fn find(settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    let mut options = Options::default();
    for Setting { name, value } in settings {
        match (name.as_str(), value.as_str()) {
            ("undo", _) => options.undone = Some(rule(value, RULES)?),
            ("choice", _) => options.choice = choice(value)?,
            ("blocking", "on" | "off") => options.judged = value == "on",
            ("blocking", _) => {
                return Err(format!("option blocking is `on` or `off`, not `{value}`"));
            }
            _ => {
                return Err(format!(
                    "{NAME} has no option `{name}`; known: choice, blocking, undo"
                ));
            }
        }
    }
    Ok(Configured::<Joung>::erased(options))
}

fn choice(value: &str) -> Result<Choice, String> {
    value.parse().map_err(|_| format!("option choice is `first` or `last`, not `{value}`"))
}

impl SimProtocol for Joung {
    const NAME: &'static str = NAME;

    const QUORUM: &'static str = "majority";

    const ANY_ORDER: bool = false;

    const IDEAL: bool = true;

    type Options = Options;

    type Quorums = MGroup;

    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }

    fn quorums(shape: &Shape, claims: &[Claim]) -> Result<MGroup, String> {
        MGroup::of(shape, claims)
    }

    fn new_site(quorums: &MGroup, options: &Options) -> Self {
        Self::new(*options, quorums.lines())
    }

    /// As for our group lock, but groups are letters, so that each has a fence of its own.
    fn parse_claim(words: &[&str]) -> Result<Claim, String> {
        let claim = GroupLock::parse_claim(words)?;
        let is_letter = |name: &str| matches!(name.as_bytes(), [b'a'..=b'z']);
        if let Some(group) = claim.groups.iter().find(|group| !is_letter(group.name())) {
            return Err(format!("a group of {NAME} is a letter from a to z, not `{group}`"));
        }
        Ok(claim)
    }

    fn kind(message: &Envelope<Message>) -> &'static str {
        message.message.kind()
    }

    fn is_for_arbiter(message: &Envelope<Message>) -> bool {
        !matches!(message.message, Message::Ok { .. } | Message::Cancel(_))
    }

    fn conflict(inside: &Grant, entrant: &Grant) -> bool {
        inside.group != entrant.group
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    /// Grants of one group need no order.
    fn fence_order(grant: &Grant) -> FenceOrder {
        let own = number(&grant.group);
        let above = (0..LETTERS).filter(|other| *other != own).collect();
        FenceOrder { above, level: vec![], own: vec![own] }
    }

    fn is_quorum_for(_: &MGroup, _: &Grant, _: &SiteSet) -> bool {
        false
    }

    fn joined(options: &Options) -> bool {
        options.judged
    }

    fn must_join(_: &Options, claim: &Claim, grant: &Grant) -> bool {
        grant.pivot && claim.groups.contains(&grant.group)
    }

    fn grant_matches(grant: &Grant, words: &[&str]) -> Result<bool, String> {
        match words {
            ["group", name] => Ok(grant.group.name() == *name),
            _ => Err(format!("expected `inside group G`, not `{}`", words.join(" "))),
        }
    }
}

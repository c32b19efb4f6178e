//! The mutex, as the simulator drives it.

use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::Fence;
use quorate_protocol::mutex::mutations::{Mutant, Mutation};
use quorate_protocol::mutex::{Grant, Message, Mutex, Options};
use quorate_quorum::{Kind, Listed, QuorumError, QuorumSystem, SiteId, SiteSet, build};

use super::{SimMutant, parse_switch, switches};
use crate::time::parse_time;
use crate::{AnyProtocol, AnySetup, Configured, Setting, Setup, Shape, SimProtocol};

pub(super) fn find(settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    let (options, undone) = options(settings)?;
    Ok(match undone {
        None => Configured::<Mutex>::erased(options),
        Some(mutation) => Configured::<Mutant>::erased((options, mutation)),
    })
}

pub(super) fn options(settings: &[Setting]) -> Result<(Options, Option<Mutation>), String> {
    let mut options = Options::default();
    let set = |name: &str, value: &str| {
        if name == "spares" {
            options.spares = parse_spares(value)?;
        } else {
            options.set(name, parse_switch(name, value)?);
        }
        Ok(())
    };
    let undone = switches(Mutex::NAME, &Options::NAMES, settings, Mutation::all(), set)?;
    Ok((options, undone))
}

/// Reads the time after which a request inside asks for spare permissions.
pub(super) fn parse_spares(value: &str) -> Result<Option<Duration>, String> {
    match (value, parse_time(value)) {
        ("off", _) => Ok(None),
        (_, Some(time)) => Ok(Some(time)),
        (_, None) => Err(format!("option spares is `off` or a time as in `50ms`, not `{value}`")),
    }
}

impl SimProtocol for Mutex {
    const NAME: &'static str = "mutex";

    const QUORUM: &'static str = "majority";

    const ANY_ORDER: bool = false;

    const KINDS: &'static [&'static str] = &[
        "request", "reply", "fail", "inquire", "transfer", "yield", "release", "cancel", "direct",
        "where", "have", "lack", "raise", "raised",
    ];

    type Options = Options;

    type Quorums = Arc<dyn QuorumSystem>;

    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }

    fn quorums(shape: &Shape, _: &[()]) -> Result<Self::Quorums, String> {
        quorums(shape)
    }

    fn new_site(_: &Self::Quorums, options: &Self::Options) -> Self {
        Mutex::new(*options)
    }

    fn parse_claim(words: &[&str]) -> Result<(), String> {
        match words {
            [] => Ok(()),
            _ => Err(format!("a mutex is acquired without `{}`", words.join(" "))),
        }
    }

    fn kind(message: &Message) -> &'static str {
        message.kind()
    }

    fn is_for_arbiter(message: &Message) -> bool {
        message.is_for_arbiter()
    }

    fn conflict(_: &Grant, _: &Grant) -> bool {
        true
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn is_quorum_for(quorums: &Self::Quorums, _: &Grant, sites: &SiteSet) -> bool {
        quorums.is_quorum(sites)
    }

    fn show(&self) -> Vec<(&'static str, String)> {
        let next = self.next().map(|(ticket, arbiter)| format!("{ticket} for {arbiter}"));
        vec![("next", next.collect::<Vec<_>>().join(", "))]
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

/// The quorums that are meant, where they are the same for all claims.
///
/// # Errors
///
/// There are none such; the text says what there is.
pub fn quorums(shape: &Shape) -> Result<Arc<dyn QuorumSystem>, String> {
    let built = match shape {
        Shape::Kind(name, n) => name.parse().and_then(|kind: Kind| build(kind, *n)),
        Shape::Listed(own) => Listed::new(own.clone()).map(|listed| Arc::new(listed) as _),
        Shape::ByUnits(_) => {
            return Err("quorums by units are for pools; expected `quorum 1: 1 2 3`".to_owned());
        }
    };
    built.map_err(|error| match error {
        QuorumError::Line { message, .. } => message,
        other => other.to_string(),
    })
}

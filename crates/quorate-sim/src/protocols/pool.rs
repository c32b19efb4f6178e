//! The pool, as the simulator drives it.

use std::sync::Arc;

use quorate_protocol::Fence;
use quorate_protocol::pool::mutations::{Mutant, Mutation};
use quorate_protocol::pool::{Claim, Grant, Message, Options, Pool, Units};
use quorate_quorum::{ArbiterKind, Arbiters, SiteId, SiteSet};

use super::{SimMutant, mutex, parse_switch, switches};
use crate::{AnyProtocol, AnySetup, Configured, FenceOrder, Setting, Setup, Shape, SimProtocol};

/// The switches that are set, and the repair that is undone.
pub(super) fn options(settings: &[Setting]) -> Result<(Options, Option<Mutation>), String> {
    let mut options = Options::default();
    let set = |name: &str, value: &str| {
        if name == "spares" {
            options.spares = mutex::parse_spares(value)?;
        } else {
            options.set(name, parse_switch(name, value)?);
        }
        Ok(())
    };
    let undone = switches(Pool::NAME, &Options::NAMES, settings, Mutation::all(), set)?;
    Ok((options, undone))
}

pub(super) fn find(settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    let (options, undone) = options(settings)?;
    Ok(match undone {
        None => Configured::<Pool>::erased(options),
        Some(mutation) => Configured::<Mutant>::erased((options, mutation)),
    })
}

impl SimProtocol for Pool {
    const NAME: &'static str = "pool";

    const QUORUM: &'static str = "uniform";

    const ANY_ORDER: bool = true;

    const POOLED: bool = true;

    const KINDS: &'static [&'static str] = &[
        "request",
        "wait",
        "ok",
        "cancel",
        "cancelled",
        "release",
        "raise",
        "raised",
        "name",
        "named",
        "taken",
    ];

    type Options = Options;

    type Quorums = Arc<Arbiters>;

    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }

    fn quorums(shape: &Shape, claims: &[Claim]) -> Result<Self::Quorums, String> {
        quorums(shape, claims)
    }

    fn new_site(arbiters: &Self::Quorums, options: &Self::Options) -> Self {
        Pool::new(arbiters, *options)
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
        message.is_for_arbiter()
    }

    /// Units with numbers must not be the same; the property `units` counts all.
    fn conflict(one: &Grant, other: &Grant) -> bool {
        !one.numbers.is_disjoint(&other.numbers)
    }

    fn units(grant: &Grant) -> Units {
        grant.units
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn fence_order(grant: &Grant) -> FenceOrder {
        fence_order(grant)
    }

    fn is_quorum_for(arbiters: &Self::Quorums, grant: &Grant, sites: &SiteSet) -> bool {
        arbiters.of(grant.units.count as usize).is_ok_and(|of| of.is_quorum(sites))
    }

    fn show(&self) -> Vec<(&'static str, String)> {
        vec![("free", self.free_units().to_string())]
    }
}

impl SimMutant for Mutant {
    type Mutation = Mutation;

    fn mutant(_: SiteId, arbiters: &Arc<Arbiters>, options: &Options, undone: Mutation) -> Self {
        Mutant::new(arbiters, *options, undone)
    }

    fn erase_mutant(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }
}

/// A grant of h units is of kind h, and above all that leave fewer than h: those of k - h + 1 units
/// and more. A unit with a number is a kind of its own.
fn fence_order(grant: &Grant) -> FenceOrder {
    let Units { count, of } = grant.units;
    let (count, of) = (count as usize, of as usize);
    let numbers: Vec<usize> = grant.numbers.iter().map(|&number| of + number as usize).collect();
    let above = (of - count..of).chain(numbers.iter().copied()).collect();
    FenceOrder { above, level: vec![], own: [vec![count - 1], numbers].concat() }
}

pub(super) fn parse_claim(words: &[&str]) -> Result<Claim, String> {
    const EXPECTED: &str = "expected how many units of how many, as in `3 of 8`";
    let (words, numbered) = match words {
        [words @ .., "numbered"] => (words, true),
        words => (words, false),
    };
    let [count, "of", of] = words else {
        return Err(match words {
            [] => format!("a pool is acquired in units; {EXPECTED}"),
            _ => format!("`{}` is no number of units; {EXPECTED}", words.join(" ")),
        });
    };
    let number = |word: &str| {
        let plain = word.bytes().all(|byte| byte.is_ascii_digit());
        let number = if plain { word.parse().ok() } else { None };
        number.ok_or_else(|| format!("`{word}` is no number of units; {EXPECTED}"))
    };
    let units = Units { count: number(count)?, of: number(of)? };
    if !units.is_valid() {
        return Err(format!("invalid units: {units}; expected from 1 to as many as there are"));
    }
    Ok(Claim { units, numbered, no_wait: false })
}

/// The pool is as large as its claims say; if there are none, it has one unit.
pub(super) fn size(claims: &[Claim]) -> Result<usize, String> {
    let mut sizes = claims.iter().map(|claim| claim.units.of as usize);
    let k = sizes.next().unwrap_or(1);
    match sizes.find(|&other| other != k) {
        None => Ok(k),
        Some(other) => {
            Err(format!("a pool has one size, but these are claims of {k} and of {other}"))
        }
    }
}

fn quorums(shape: &Shape, claims: &[Claim]) -> Result<Arc<Arbiters>, String> {
    let k = size(claims)?;
    let built = match shape {
        Shape::Kind(name, n) => name.parse().and_then(|kind: ArbiterKind| kind.build(*n, k)),
        Shape::Listed(own) => {
            let sets: Vec<SiteSet> = own.iter().flatten().cloned().collect();
            Arbiters::listed(own.len(), &vec![sets; k])
        }
        Shape::ByUnits(text) => text.parse(),
    };
    match built.map_err(|error| error.to_string())? {
        built if built.k() == k => Ok(Arc::new(built)),
        built => Err(format!("these are quorums for {} units, not for {k}", built.k())),
    }
}

//! The ledger pool, as the simulator drives it.

use std::sync::Arc;

use quorate_protocol::ledger::mutations::{Mutant, Mutation};
use quorate_protocol::ledger::{Claim, Grant, LedgerPool, Message, Options, Units};
use quorate_protocol::{Fence, Shared};
use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use super::{SimMutant, mutex, pool, switches};
use crate::{AnyProtocol, AnySetup, Configured, Quorums, Setting, Setup, Shape, SimProtocol};

/// A pool of so many units, on the ordinary quorums of a cluster.
#[derive(Clone, Debug)]
pub struct LedgerQuorums {
    /// How many units there are.
    pub units: u32,
    /// The quorums of the cluster.
    pub quorums: Arc<dyn QuorumSystem>,
}

/// The options that are set, and the rule that is undone.
pub(super) fn options(settings: &[Setting]) -> Result<(Options, Option<Mutation>), String> {
    let mut options = Options::default();
    let set = |name: &str, value: &str| {
        match name {
            "spares" => options.spares = mutex::parse_spares(value)?,
            _ => options.whole = parse_whole(value)?,
        }
        Ok(())
    };
    let undone = switches(LedgerPool::NAME, &Options::NAMES, settings, Mutation::all(), set)?;
    Ok((options, undone))
}

pub(super) fn find(settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    let (options, undone) = options(settings)?;
    Ok(match undone {
        None => Configured::<LedgerPool>::erased(options),
        Some(mutation) => Configured::<Mutant>::erased((options, mutation)),
    })
}

fn parse_whole(value: &str) -> Result<usize, String> {
    let expected = "is the most entries of a ledger that is sent whole";
    value.parse().map_err(|_| format!("option whole {expected}, not `{value}`"))
}

impl SimProtocol for LedgerPool {
    const NAME: &'static str = "ledger";

    const QUORUM: &'static str = "majority";

    const ANY_ORDER: bool = false;

    const POOLED: bool = true;

    const KINDS: &'static [&'static str] = &[
        "request",
        "part",
        "reply",
        "fail",
        "inquire",
        "yield",
        "cancel",
        "enter",
        "joined",
        "ack",
        "gone",
        "register",
        "registered",
        "left",
        "raise",
        "raised",
    ];

    type Options = Options;

    type Quorums = LedgerQuorums;

    fn erase(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }

    fn quorums(shape: &Shape, claims: &[Claim]) -> Result<LedgerQuorums, String> {
        let units = u32::try_from(pool::size(claims)?).map_err(|error| error.to_string())?;
        Ok(LedgerQuorums { units, quorums: mutex::quorums(shape)? })
    }

    fn new_site(quorums: &LedgerQuorums, options: &Options) -> Self {
        LedgerPool::new(quorums.units, *options)
    }

    fn parse_claim(words: &[&str]) -> Result<Claim, String> {
        pool::parse_claim(words)
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

    /// L8: fences grow along all grants, so each is above every one before.
    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn is_quorum_for(quorums: &LedgerQuorums, _: &Grant, sites: &SiteSet) -> bool {
        quorums.quorums.is_quorum(sites)
    }

    fn show(&self) -> Vec<(&'static str, String)> {
        vec![("registered", self.registered())]
    }
}

impl Quorums for LedgerQuorums {
    fn name(&self) -> String {
        Quorums::name(&self.quorums)
    }

    fn n(&self) -> usize {
        Quorums::n(&self.quorums)
    }

    fn own(&self, site: SiteId) -> Option<SiteSet> {
        self.quorums.own(site)
    }

    fn may_ask(&self, site: SiteId) -> bool {
        self.quorums.may_ask(site)
    }

    fn shared(&self, site: SiteId) -> Shared {
        self.quorums.shared(site)
    }
}

impl SimMutant for Mutant {
    type Mutation = Mutation;

    fn mutant(_: SiteId, quorums: &LedgerQuorums, options: &Options, undone: Mutation) -> Self {
        Mutant::new(quorums.units, *options, undone)
    }

    fn erase_mutant(setup: Setup<Self>) -> Arc<dyn AnySetup> {
        Arc::new(setup)
    }
}

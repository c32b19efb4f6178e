//! The protocols that can be simulated.

mod group;
mod ledger;
mod mutant;
mod mutex;
mod pool;
mod role;
mod token;

use std::sync::Arc;

use quorate_protocol::group::GroupLock;
use quorate_protocol::ledger::LedgerPool;
use quorate_protocol::mutex::Mutex;
use quorate_protocol::pool::Pool;
use quorate_protocol::role::RoleLock;
use quorate_protocol::token::TokenLock;
use quorate_site::kinds::{AnyMutation, PoolProtocol, Settings};

use crate::cluster::ClaimKind;
use crate::{AnyProtocol, Setting, SimProtocol};

pub use self::ledger::LedgerQuorums;
pub use self::mutant::SimMutant;
pub use self::mutex::quorums as coterie;

/// The protocols' names.
pub const PROTOCOLS: [&str; 6] =
    [GroupLock::NAME, LedgerPool::NAME, Mutex::NAME, Pool::NAME, RoleLock::NAME, TokenLock::NAME];

/// Finds one of our protocols by its name, with these switches set: a
/// [`Catalogue`](crate::Catalogue).
///
/// # Errors
///
/// No such protocol, no such switch, or no such value; the text says what there is.
pub fn find(name: &str, settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    match name {
        GroupLock::NAME => group::find(settings),
        LedgerPool::NAME => ledger::find(settings),
        Mutex::NAME => mutex::find(settings),
        Pool::NAME => pool::find(settings),
        RoleLock::NAME => role::find(settings),
        TokenLock::NAME => token::find(settings),
        _ => Err(unknown_protocol(name)),
    }
}

/// What callers of whole sites want of the protocol called `name`, and its switches.
///
/// # Errors
///
/// As in [`find`].
pub fn site_settings(name: &str, settings: &[Setting]) -> Result<(ClaimKind, Settings), String> {
    match name {
        Mutex::NAME => {
            let (mutex, undone) = mutex::options(settings)?;
            let mutation = undone.map(AnyMutation::Mutex);
            Ok((ClaimKind::Mutex, Settings { mutex, mutation, ..Settings::default() }))
        }
        Pool::NAME => {
            let (pool, undone) = pool::options(settings)?;
            let mutation = undone.map(AnyMutation::Pool);
            let pools = PoolProtocol::Arbiters;
            Ok((ClaimKind::Pool, Settings { pools, pool, mutation, ..Settings::default() }))
        }
        GroupLock::NAME => {
            let (group, undone) = group::options(settings)?;
            let mutation = undone.map(AnyMutation::Group);
            Ok((ClaimKind::Group, Settings { group, mutation, ..Settings::default() }))
        }
        RoleLock::NAME => {
            let (role, undone) = role::options(settings)?;
            let mutation = undone.map(AnyMutation::Role);
            Ok((ClaimKind::Role, Settings { role, mutation, ..Settings::default() }))
        }
        LedgerPool::NAME => {
            let (ledger, undone) = ledger::options(settings)?;
            let mutation = undone.map(AnyMutation::Ledger);
            let pools = PoolProtocol::Ledger;
            Ok((ClaimKind::Pool, Settings { pools, ledger, mutation, ..Settings::default() }))
        }
        TokenLock::NAME => {
            let mutation = token::undone_in_sites(settings)?.map(AnyMutation::Token);
            Ok((ClaimKind::Token, Settings { mutation, ..Settings::default() }))
        }
        _ => Err(unknown_protocol(name)),
    }
}

fn unknown_protocol(name: &str) -> String {
    format!("unknown protocol `{name}`; known: {}", PROTOCOLS.join(", "))
}

/// Sets switches one after the other; `undo` names one of the repairs `mutations`.
fn switches<E: ToString>(
    protocol: &str,
    names: &[&str],
    settings: &[Setting],
    mutations: impl Iterator<Item = E>,
    mut set: impl FnMut(&str, &str) -> Result<(), String>,
) -> Result<Option<E>, String> {
    let mut undone = None;
    let mut mutations: Vec<E> = mutations.collect();
    for Setting { name, value } in settings {
        if name == "undo" {
            let meant = |mutation: &E| mutation.to_string().eq_ignore_ascii_case(value);
            let Some(place) = mutations.iter().position(meant) else {
                let known: Vec<String> = mutations.iter().map(ToString::to_string).collect();
                let known = known.join(", ");
                return Err(format!("there is no repair `{value}` to undo; known: {known}"));
            };
            undone = Some(mutations.swap_remove(place));
        } else if !names.contains(&name.as_str()) {
            let known: Vec<&str> = names.iter().copied().chain(["undo"]).collect();
            let known = known.join(", ");
            return Err(format!("{protocol} has no option `{name}`; known: {known}"));
        } else {
            set(name, value)?;
        }
    }
    Ok(undone)
}

fn parse_switch(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("option {name} is `on` or `off`, not `{value}`")),
    }
}

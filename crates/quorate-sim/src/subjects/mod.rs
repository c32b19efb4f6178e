//! The protocols that can be simulated.

mod group;
mod mutex;
mod pool;
mod token;

use quorate_protocol::group::GroupLock;
use quorate_protocol::mutex::Mutex;
use quorate_protocol::pool::Pool;
use quorate_protocol::token::TokenLock;
use quorate_site::registry::Settings;

use crate::Subject;
use crate::cluster::Wants;

/// The protocols' names.
pub const PROTOCOLS: [&str; 4] = [GroupLock::NAME, Mutex::NAME, Pool::NAME, TokenLock::NAME];

/// Something to do with a protocol that is known only by name.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it with protocol `P`.
    fn visit<P: Subject>(self, options: P::Options) -> Self::Output;
}

/// A switch of a protocol, as people spell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Which switch.
    pub name: String,
    /// What it is set to.
    pub value: String,
}

/// Hands the protocol called `name`, with these switches set, to `visitor`.
///
/// # Errors
///
/// No such protocol, no such switch, or no such value; the text says what there is.
pub fn visit<V: Visitor>(
    name: &str,
    settings: &[Setting],
    visitor: V,
) -> Result<V::Output, String> {
    match name {
        GroupLock::NAME => group::visit(settings, visitor),
        Mutex::NAME => mutex::visit(settings, visitor),
        Pool::NAME => pool::visit(settings, visitor),
        TokenLock::NAME => token::visit(settings, visitor),
        _ => Err(unknown_protocol(name)),
    }
}

/// What callers of whole sites want of the protocol called `name`, and its switches.
///
/// # Errors
///
/// As in [`visit`].
pub fn site_settings(name: &str, settings: &[Setting]) -> Result<(Wants, Settings), String> {
    match name {
        Mutex::NAME => {
            let (mutex, undone) = mutex::options(settings)?;
            Ok((Wants::Mutex, Settings { mutex, undone, ..Settings::default() }))
        }
        Pool::NAME => {
            let (pool, pool_undone) = pool::options(settings)?;
            Ok((Wants::Pool, Settings { pool, pool_undone, ..Settings::default() }))
        }
        GroupLock::NAME => Err("whole sites have no group locks yet; leave --site out".to_owned()),
        TokenLock::NAME => Err("whole sites have no token locks yet; leave --site out".to_owned()),
        _ => Err(unknown_protocol(name)),
    }
}

fn unknown_protocol(name: &str) -> String {
    format!("unknown protocol `{name}`; known: {}", PROTOCOLS.join(", "))
}

/// Sets switches one after the other; `undo` names one of the repairs `errata`.
fn switches<E: ToString>(
    protocol: &str,
    names: &[&str],
    settings: &[Setting],
    errata: impl Iterator<Item = E>,
    mut set: impl FnMut(&str, &str) -> Result<(), String>,
) -> Result<Option<E>, String> {
    let mut undone = None;
    let mut errata: Vec<E> = errata.collect();
    for Setting { name, value } in settings {
        if name == "undo" {
            let meant = |erratum: &E| erratum.to_string().eq_ignore_ascii_case(value);
            let Some(place) = errata.iter().position(meant) else {
                let known: Vec<String> = errata.iter().map(ToString::to_string).collect();
                let known = known.join(", ");
                return Err(format!("there is no repair `{value}` to undo; known: {known}"));
            };
            undone = Some(errata.swap_remove(place));
        } else if !names.contains(&name.as_str()) {
            let known = names.join(", ");
            return Err(format!("{protocol} has no option `{name}`; known: {known}, undo"));
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

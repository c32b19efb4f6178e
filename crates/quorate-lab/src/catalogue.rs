//! The look-up of protocols by name: the baselines, then ours.

use std::sync::Arc;

use quorate_sim::{AnyProtocol, Configured, PROTOCOLS, Setting};

use crate::algorithm::Algorithm;
use crate::baseline::Baseline;
use crate::baselines::{
    Lamport, Maekawa, Raymond, RicartAgrawala, SinghalDynamic, SinghalHeuristic, SuzukiKasami,
    joung,
};

/// The names of the baselines, in the order of their years.
pub const BASELINES: [&str; 8] = [
    Lamport::NAME,
    RicartAgrawala::NAME,
    Maekawa::NAME,
    SuzukiKasami::NAME,
    SinghalHeuristic::NAME,
    Raymond::NAME,
    SinghalDynamic::NAME,
    joung::NAME,
];

/// The names of all protocols that [`find`] knows: ours, then the baselines.
pub fn protocols() -> Vec<&'static str> {
    PROTOCOLS.into_iter().chain(BASELINES).collect()
}

/// Finds a protocol by its name, with these switches set: the
/// [`Catalogue`](quorate_sim::Catalogue) of all, the baselines and ours.
///
/// # Errors
///
/// There is no such protocol, option or value; the text lists those that exist.
pub fn find(name: &str, settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    match name {
        Lamport::NAME => mutex::<Lamport>(settings),
        RicartAgrawala::NAME => mutex::<RicartAgrawala>(settings),
        Maekawa::NAME => mutex::<Maekawa>(settings),
        SuzukiKasami::NAME => mutex::<SuzukiKasami>(settings),
        SinghalHeuristic::NAME => mutex::<SinghalHeuristic>(settings),
        Raymond::NAME => mutex::<Raymond>(settings),
        SinghalDynamic::NAME => mutex::<SinghalDynamic>(settings),
        joung::NAME => joung::find(settings),
        _ if PROTOCOLS.contains(&name) => quorate_sim::find(name, settings),
        _ => Err(format!("unknown protocol `{name}`; known: {}", protocols().join(", "))),
    }
}

fn mutex<A: Algorithm>(settings: &[Setting]) -> Result<Arc<dyn AnyProtocol>, String> {
    let mut undone = None;
    for Setting { name, value } in settings {
        match name.as_str() {
            "undo" => undone = Some(rule(value, A::RULES)?),
            _ => return Err(format!("{} has no option `{name}`; known: undo", A::NAME)),
        }
    }
    Ok(Configured::<Baseline<A>>::erased(undone))
}

/// One of the rules that can be undone, by its name.
pub(crate) fn rule(name: &str, rules: &[&'static str]) -> Result<&'static str, String> {
    rules
        .iter()
        .copied()
        .find(|rule| *rule == name)
        .ok_or_else(|| format!("there is no rule `{name}` to undo; known: {}", rules.join(", ")))
}

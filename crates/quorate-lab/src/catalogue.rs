//! The look-up of protocols by name: the baselines, then ours.

use quorate_sim::{Catalogue, PROTOCOLS, Setting, Visitor};

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

/// The names of all protocols that [`visit`] knows: ours, then the baselines.
pub fn protocols() -> Vec<&'static str> {
    PROTOCOLS.into_iter().chain(BASELINES).collect()
}

/// All protocols: the baselines and ours, as in [`visit`].
#[derive(Clone, Copy, Debug, Default)]
pub struct All;

impl Catalogue for All {
    fn visit<V: Visitor>(
        self,
        name: &str,
        settings: &[Setting],
        visitor: V,
    ) -> Result<V::Output, String> {
        visit(name, settings, visitor)
    }
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
        Lamport::NAME => mutex::<Lamport, V>(settings, visitor),
        RicartAgrawala::NAME => mutex::<RicartAgrawala, V>(settings, visitor),
        Maekawa::NAME => mutex::<Maekawa, V>(settings, visitor),
        SuzukiKasami::NAME => mutex::<SuzukiKasami, V>(settings, visitor),
        SinghalHeuristic::NAME => mutex::<SinghalHeuristic, V>(settings, visitor),
        Raymond::NAME => mutex::<Raymond, V>(settings, visitor),
        SinghalDynamic::NAME => mutex::<SinghalDynamic, V>(settings, visitor),
        joung::NAME => joung::visit(settings, visitor),
        _ if PROTOCOLS.contains(&name) => quorate_sim::visit(name, settings, visitor),
        _ => Err(format!("unknown protocol `{name}`; known: {}", protocols().join(", "))),
    }
}

fn mutex<A: Algorithm, V: Visitor>(settings: &[Setting], visitor: V) -> Result<V::Output, String> {
    let mut undone = None;
    for Setting { name, value } in settings {
        match name.as_str() {
            "undo" => undone = Some(rule(value, A::RULES)?),
            _ => return Err(format!("{} has no option `{name}`; known: undo", A::NAME)),
        }
    }
    Ok(visitor.visit::<Baseline<A>>(undone))
}

/// One of the rules that can be undone, by its name.
pub(crate) fn rule(name: &str, rules: &[&'static str]) -> Result<&'static str, String> {
    rules
        .iter()
        .copied()
        .find(|rule| *rule == name)
        .ok_or_else(|| format!("there is no rule `{name}` to undo; known: {}", rules.join(", ")))
}

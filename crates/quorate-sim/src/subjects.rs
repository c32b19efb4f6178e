//! The protocols that can be simulated.

use quorate_protocol::Fence;
use quorate_protocol::mutex::errata::{Erratum, Unrepaired};
use quorate_protocol::mutex::{Grant, Message, Mutex, Options};
use quorate_site::registry::Settings;

use crate::Subject;

/// The protocols' names.
pub const PROTOCOLS: [&str; 1] = [Mutex::NAME];

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
        Mutex::NAME => {
            let (options, undone) = mutex_options(settings)?;
            Ok(match undone {
                None => visitor.visit::<Mutex>(options),
                Some(erratum) => visitor.visit::<Unrepaired>((options, erratum)),
            })
        }
        _ => Err(format!("unknown protocol `{name}`; known: {}", PROTOCOLS.join(", "))),
    }
}

/// The switches of whole sites, as they are set for the protocol called `name`.
///
/// # Errors
///
/// As in [`visit`].
pub fn site_settings(name: &str, settings: &[Setting]) -> Result<Settings, String> {
    match name {
        Mutex::NAME => {
            let (mutex, undone) = mutex_options(settings)?;
            Ok(Settings { mutex, undone })
        }
        _ => Err(format!("unknown protocol `{name}`; known: {}", PROTOCOLS.join(", "))),
    }
}

fn mutex_options(settings: &[Setting]) -> Result<(Options, Option<Erratum>), String> {
    let (mut options, mut undone) = (Options::default(), None);
    for Setting { name, value } in settings {
        if name == "undo" {
            let erratum = Erratum::all().find(|e| e.to_string().eq_ignore_ascii_case(value));
            undone = Some(erratum.ok_or_else(|| unknown_repair(value))?);
        } else if !Options::NAMES.contains(&name.as_str()) {
            let known = Options::NAMES.join(", ");
            return Err(format!("mutex has no option `{name}`; known: {known}, undo"));
        } else {
            options.set(name, parse_switch(name, value)?);
        }
    }
    Ok((options, undone))
}

fn unknown_repair(value: &str) -> String {
    let known: Vec<String> = Erratum::all().map(|erratum| erratum.to_string()).collect();
    format!("there is no repair `{value}` to undo; known: {}", known.join(", "))
}

fn parse_switch(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("option {name} is `on` or `off`, not `{value}`")),
    }
}

fn parse_mutex_claim(words: &[&str]) -> Result<(), String> {
    match words {
        [] => Ok(()),
        _ => Err(format!("a mutex is acquired without `{}`", words.join(" "))),
    }
}

impl Subject for Mutex {
    const NAME: &'static str = "mutex";

    type Options = Options;

    fn new_site(options: &Options) -> Self {
        Mutex::new(*options)
    }

    fn parse_claim(words: &[&str]) -> Result<(), String> {
        parse_mutex_claim(words)
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
}

impl Subject for Unrepaired {
    const NAME: &'static str = Mutex::NAME;

    type Options = (Options, Erratum);

    fn new_site(&(options, undone): &Self::Options) -> Self {
        Unrepaired::new(options, undone)
    }

    fn parse_claim(words: &[&str]) -> Result<(), String> {
        parse_mutex_claim(words)
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
}

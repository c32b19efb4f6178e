//! From the words of one line to what it says.

use std::str::FromStr;
use std::time::Duration;

use quorate_protocol::ClaimId;
use quorate_quorum::{QuorumError, QuorumLine, SiteId, SiteSet};

use super::command::{Action, Channel, Check, Deed, Place, Who};
use super::error::Fault;
use crate::{Contract, Fault as Mishap, Order, PROPERTIES, Setting};

/// The commands, as an error lists them.
pub(super) const COMMANDS: [&str; 26] = [
    "protocol",
    "sites",
    "quorum",
    "clock",
    "option",
    "sessions",
    "order",
    "S acquires",
    "S releases",
    "S gives up",
    "deliver",
    "drop",
    "hold",
    "settle",
    "heal",
    "S hears nothing of A",
    "S loses its session at A",
    "A closes the session of S",
    "A opens a session of S",
    "S has a session at A",
    "crash",
    "restart",
    "expire TIMER at S",
    "advance",
    "S leaves its quarantine",
    "expect",
];

/// Commands of whole sites.
const LATER: [&str; 3] = ["cut", "pause", "resume"];

const SESSIONS: &str = "sessions [no-reopen] [no-restart] [fences N]";

/// A larger step would serve no story, and could run over.
const FENCES_MAX: u64 = 1 << 32;

const EXPECT: &str = "expect S inside [group G], expect S waiting [for 4ms], expect S idle|lost, \
    expect S shows NAME TEXT, expect A -> B has KIND, expect A -> B empty, expect quiet, \
    expect messages N, expect broken PROPERTY";

/// One line at the margin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    Protocol(String),
    Sites(usize),
    QuorumOf(SiteId, SiteSet),
    QuorumKind(String),
    Option(Setting),
    Sessions(Contract),
    Order(Order),
    Do(Deed),
}

impl Statement {
    /// The word it begins with.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Protocol(_) => "protocol",
            Self::Sites(_) => "sites",
            Self::QuorumOf(..) | Self::QuorumKind(_) => "quorum",
            Self::Option(_) => "option",
            Self::Sessions(_) => "sessions",
            Self::Order(_) => "order",
            Self::Do(_) => "command",
        }
    }
}

/// Reads one line at the margin, without its comment.
pub(super) fn statement(text: &str) -> Result<Statement, Fault> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.first().copied() {
        Some("protocol" | "sites" | "quorum" | "option" | "order") => setting(text, &words),
        Some("sessions") => sessions(text, &words[1..]),
        Some("expect") => check(text, &words[1..]).map(|check| Statement::Do(Deed::Expect(check))),
        Some(word) if LATER.contains(&word) => Err(Fault::NotYet(word.to_owned())),
        _ => {
            let (words, quietly) = match words.split_last() {
                Some((&"quietly", rest)) if !rest.is_empty() => (rest, true),
                _ => (&words[..], false),
            };
            let action = action(text, words)?;
            Ok(Statement::Do(Deed::Act { action, quietly }))
        }
    }
}

fn setting(text: &str, words: &[&str]) -> Result<Statement, Fault> {
    match words {
        ["protocol", name] => Ok(Statement::Protocol((*name).to_owned())),
        ["protocol", ..] => Err(form(text, "protocol P")),
        ["option", name, value] => {
            let (name, value) = ((*name).to_owned(), (*value).to_owned());
            Ok(Statement::Option(Setting { name, value }))
        }
        ["option", ..] => Err(form(text, "option NAME VALUE")),
        ["order", "any"] => Ok(Statement::Order(Order::Any { duplicates: 0 })),
        ["order", "fifo"] => Ok(Statement::Order(Order::Fifo)),
        ["order", ..] => Err(form(text, "order fifo|any")),
        ["quorum", kind] if !kind.contains(':') => Ok(Statement::QuorumKind((*kind).to_owned())),
        ["quorum", ..] if !text.contains(':') => {
            Err(form(text, "quorum S: A B C` or `quorum KIND"))
        }
        _ => match QuorumLine::parse(0, text).map_err(refused)? {
            Some(QuorumLine::Sites(n)) => Ok(Statement::Sites(n)),
            Some(QuorumLine::Quorum(owner, members)) => Ok(Statement::QuorumOf(owner, members)),
            None => Err(Fault::UnknownCommand(String::new())),
        },
    }
}

/// Sessions that come back, sites too, and fence ceilings moved on by two, unless the words say
/// otherwise.
fn sessions(text: &str, mut words: &[&str]) -> Result<Statement, Fault> {
    let mut contract = Contract::MENDED;
    loop {
        words = match words {
            [] => return Ok(Statement::Sessions(contract)),
            ["no-reopen", rest @ ..] => {
                contract.reopens = false;
                rest
            }
            ["no-restart", rest @ ..] => {
                contract.restarts = false;
                rest
            }
            ["fences", block, rest @ ..] => {
                let block = number(block, text, SESSIONS)?;
                contract.fence_block = Some(block)
                    .filter(|block| (1..=FENCES_MAX).contains(block))
                    .ok_or_else(|| form(text, SESSIONS))?;
                rest
            }
            _ => return Err(form(text, SESSIONS)),
        }
    }
}

/// What the crate of quorums says, without the line number it does not know.
fn refused(error: QuorumError) -> Fault {
    Fault::Refused(match error {
        QuorumError::Line { message, .. } => message,
        other => other.to_string(),
    })
}

fn action(text: &str, words: &[&str]) -> Result<Action, Fault> {
    match words {
        ["settle"] => Ok(Action::Settle),
        ["heal"] => Ok(Action::Heal),
        ["settle", ..] => Err(form(text, "settle")),
        ["heal", ..] => Err(form(text, "heal")),
        ["hold", from, "->", to] => Ok(Action::Hold(channel(from, to)?)),
        ["hold", ..] => Err(form(text, "hold A -> B")),
        ["deliver", from, "->", to] => Ok(Action::Deliver(channel(from, to)?, None)),
        ["deliver", from, "->", to, kind] => {
            Ok(Action::Deliver(channel(from, to)?, Some((*kind).to_owned())))
        }
        ["deliver", ..] => Err(form(text, "deliver A -> B [KIND]")),
        ["drop", from, "->", to] => Ok(Action::Drop(channel(from, to)?, None)),
        ["drop", from, "->", to, kind] => {
            Ok(Action::Drop(channel(from, to)?, Some((*kind).to_owned())))
        }
        ["drop", ..] => Err(form(text, "drop A -> B [KIND]")),
        ["expire", timer, "at", at] => Ok(Action::Expire(site(at)?, (*timer).to_owned())),
        ["expire", ..] => Err(form(text, "expire TIMER at S")),
        ["advance", time] => {
            let time = milliseconds(time).map(Action::Advance);
            time.ok_or_else(|| form(text, "advance 50ms"))
        }
        ["advance", ..] => Err(form(text, "advance 50ms")),
        ["crash", at] => Ok(Action::Suffer(Mishap::Crash(site(at)?))),
        ["crash", ..] => Err(form(text, "crash S")),
        ["restart", at] => Ok(Action::Suffer(Mishap::Restart(site(at)?))),
        ["restart", ..] => Err(form(text, "restart S")),
        ["clock", at, "=", time] => {
            Ok(Action::Clock(site(at)?, number(time, text, "clock S = 5")?))
        }
        ["clock", ..] => Err(form(text, "clock S = 5")),
        [subject, "acquires", claim @ ..] => {
            let claim = claim.iter().map(|&word| word.to_owned()).collect();
            Ok(Action::Acquire(who(subject)?, claim))
        }
        [subject, "releases"] => Ok(Action::Release(who(subject)?)),
        [_, "releases", ..] => Err(form(text, "S releases")),
        [subject, "gives", "up"] => Ok(Action::GiveUp(who(subject)?)),
        [_, "gives", ..] => Err(form(text, "S gives up")),
        [at, "hears" | "loses" | "closes" | "opens" | "has" | "leaves", ..] => {
            site(at)?;
            mishap(text, words)
        }
        [subject, verb, ..] if who(subject).is_ok() => {
            Err(Fault::UnknownCommand((*verb).to_owned()))
        }
        [word, ..] => Err(Fault::UnknownCommand((*word).to_owned())),
        [] => Err(Fault::UnknownCommand(String::new())),
    }
}

/// What becomes of a session, in the words of a trace.
fn mishap(text: &str, words: &[&str]) -> Result<Action, Fault> {
    let fault = match words {
        [client, "hears", "nothing", "of", server] => Mishap::Silence(site(client)?, site(server)?),
        [client, "loses", "its", "session", "at", server] => {
            Mishap::Lose(site(client)?, site(server)?)
        }
        [server, "closes", "the", "session", "of", client] => {
            Mishap::Close(site(client)?, site(server)?)
        }
        [server, "opens", "a", "session", "of", client] => {
            Mishap::Reopen(site(client)?, site(server)?)
        }
        [client, "has", "a", "session", "at", server] => Mishap::Open(site(client)?, site(server)?),
        [at, "leaves", "its", "quarantine"] => Mishap::Clear(site(at)?),
        [_, "hears", ..] => return Err(form(text, "S hears nothing of A")),
        [_, "loses", ..] => return Err(form(text, "S loses its session at A")),
        [_, "closes", ..] => return Err(form(text, "A closes the session of S")),
        [_, "opens", ..] => return Err(form(text, "A opens a session of S")),
        [_, "has", ..] => return Err(form(text, "S has a session at A")),
        _ => return Err(form(text, "S leaves its quarantine")),
    };
    Ok(Action::Suffer(fault))
}

fn check(text: &str, words: &[&str]) -> Result<Check, Fault> {
    match words {
        ["quiet"] => Ok(Check::Quiet),
        ["messages", n] => Ok(Check::Messages(number(n, text, "expect messages N")?)),
        ["broken", name @ ..] if !name.is_empty() => Ok(Check::Broken(property(&name.join(" "))?)),
        [from, "->", to, "empty"] => Ok(Check::Empty(channel(from, to)?)),
        [from, "->", to, "has", kind] => Ok(Check::Has(channel(from, to)?, (*kind).to_owned())),
        [at, "shows", what, text @ ..] if !text.is_empty() => {
            Ok(Check::Shows(site(at)?, (*what).to_owned(), text.join(" ")))
        }
        [_, "shows", ..] => Err(form(text, "expect S shows NAME TEXT")),
        [subject, place, grant @ ..] => {
            let known = Place::ALL.into_iter().find(|known| known.word() == *place);
            let says_more = |place| matches!(place, Place::Inside | Place::Waiting);
            match known.filter(|&place| grant.is_empty() || says_more(place)) {
                Some(place) => {
                    let grant = grant.iter().map(|&word| word.to_owned()).collect();
                    Ok(Check::Stands(who(subject)?, place, grant))
                }
                None => Err(form(text, EXPECT)),
            }
        }
        _ => Err(form(text, EXPECT)),
    }
}

fn property(name: &str) -> Result<&'static str, Fault> {
    PROPERTIES.into_iter().find(|&known| known == name).ok_or_else(|| {
        let known = PROPERTIES.join(", ");
        Fault::Refused(format!("unknown property `{name}`; expected one of {known}"))
    })
}

fn channel(from: &str, to: &str) -> Result<Channel, Fault> {
    let (from, to) = (site(from)?, site(to)?);
    if from == to {
        return Err(Fault::OwnChannel(from));
    }
    Ok(Channel { from, to })
}

fn who(word: &str) -> Result<Who, Fault> {
    let Some((at, claim)) = word.split_once('/') else {
        return Ok(Who { site: site(word)?, claim: None });
    };
    let claim = digits(claim).filter(|&number| number > 0).map(ClaimId);
    match claim {
        Some(claim) => Ok(Who { site: site(at)?, claim: Some(claim) }),
        None => Err(form(word, "S/1")),
    }
}

fn site(word: &str) -> Result<SiteId, Fault> {
    let place = digits::<u32>(word).and_then(|number| number.checked_sub(1));
    let place = place.ok_or_else(|| Fault::NotASite(word.to_owned()))?;
    Ok(SiteId::new(place as usize))
}

fn number<T: FromStr>(word: &str, text: &str, expected: &'static str) -> Result<T, Fault> {
    digits(word).ok_or_else(|| form(text, expected))
}

/// A time as in `50ms`.
pub(super) fn milliseconds(word: &str) -> Option<Duration> {
    word.strip_suffix("ms").and_then(digits).map(Duration::from_millis)
}

/// A number without a sign.
fn digits<T: FromStr>(word: &str) -> Option<T> {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit());
    if plain { word.parse().ok() } else { None }
}

fn form(found: &str, expected: &'static str) -> Fault {
    Fault::Form { found: found.to_owned(), expected }
}

//! Parses one line.

use std::str::FromStr;

use quorate_protocol::ClaimId;
use quorate_protocol::group::Group;
use quorate_quorum::{QuorumError, QuorumLine, SiteId, SiteSet};

use super::command::{Action, Body, Channel, Check, Who};
use super::error::ErrorKind;
use crate::time::{self, parse_time};
use crate::{ClaimState, Contract, Fault, Order, PROPERTIES, Setting};

/// The commands, as an error lists them.
pub(super) const COMMANDS: [&str; 28] = [
    "protocol",
    "sites",
    "quorum",
    "clock",
    "option",
    "sessions",
    "order",
    "host",
    "S acquires",
    "S releases",
    "S gives up",
    "deliver",
    "drop",
    "duplicate",
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

/// A larger step would serve no scenario, and could overflow.
const FENCES_MAX: u64 = 1 << 32;

const EXPECT: &str = "expect S inside [group G], expect S waiting [for 4ms], expect S idle|lost, \
    expect S fence N, expect S shows NAME TEXT, expect A -> B has KIND, expect A -> B empty, \
    expect quiet, expect messages N, expect KIND count N, expect broken PROPERTY";

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
    Host(Group, SiteId),
    Do(Body),
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
            Self::Host(..) => "host",
            Self::Do(_) => "command",
        }
    }
}

/// Reads one line at the margin, without its comment.
pub(super) fn statement(text: &str) -> Result<Statement, ErrorKind> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.first().copied() {
        Some("protocol" | "sites" | "quorum" | "option" | "order" | "host") => {
            setting(text, &words)
        }
        Some("sessions") => sessions(text, &words[1..]),
        Some("expect") => check(text, &words[1..]).map(|check| Statement::Do(Body::Expect(check))),
        Some(word) if LATER.contains(&word) => Err(ErrorKind::NotYet(word.to_owned())),
        _ => {
            let (words, quietly) = match words.split_last() {
                Some((&"quietly", rest)) if !rest.is_empty() => (rest, true),
                _ => (&words[..], false),
            };
            let action = action(text, words)?;
            Ok(Statement::Do(Body::Act { action, quietly }))
        }
    }
}

fn setting(text: &str, words: &[&str]) -> Result<Statement, ErrorKind> {
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
        ["host", group, "=", at] => Ok(Statement::Host(Group::new(group), site(at)?)),
        ["host", ..] => Err(form(text, "host G = S")),
        ["quorum", kind] if !kind.contains(':') => Ok(Statement::QuorumKind((*kind).to_owned())),
        ["quorum", ..] if !text.contains(':') => {
            Err(form(text, "quorum S: A B C` or `quorum KIND"))
        }
        _ => match QuorumLine::parse(0, text).map_err(refused)? {
            Some(QuorumLine::Sites(n)) => Ok(Statement::Sites(n)),
            Some(QuorumLine::Quorum(owner, members)) => Ok(Statement::QuorumOf(owner, members)),
            None => Err(ErrorKind::UnknownCommand(String::new())),
        },
    }
}

/// Sessions and sites that come back and fence ceilings that move by two, unless the words say
/// otherwise.
fn sessions(text: &str, mut words: &[&str]) -> Result<Statement, ErrorKind> {
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
fn refused(error: QuorumError) -> ErrorKind {
    ErrorKind::Refused(match error {
        QuorumError::Line { message, .. } => message,
        other => other.to_string(),
    })
}

fn action(text: &str, words: &[&str]) -> Result<Action, ErrorKind> {
    match words {
        ["settle"] => Ok(Action::Settle),
        ["heal"] => Ok(Action::Heal),
        ["settle", ..] => Err(form(text, "settle")),
        ["heal", ..] => Err(form(text, "heal")),
        ["hold", from, "->", to] => Ok(Action::Hold(channel(from, to)?)),
        ["hold", ..] => Err(form(text, "hold A -> B")),
        ["deliver" | "drop" | "duplicate", ..] => message_action(text, words),
        ["expire", timer, "at", at] => Ok(Action::Expire(site(at)?, (*timer).to_owned())),
        ["expire", ..] => Err(form(text, "expire TIMER at S")),
        ["advance", time] => {
            let refused =
                || ErrorKind::Refused(format!("`{time}` is no time; expected {}", time::EXPECTED));
            parse_time(time).map(Action::Advance).ok_or_else(refused)
        }
        ["advance", ..] => Err(form(text, "advance 50ms")),
        ["crash", at] => Ok(Action::Suffer(Fault::Crash(site(at)?))),
        ["crash", ..] => Err(form(text, "crash S")),
        ["restart", at] => Ok(Action::Suffer(Fault::Restart(site(at)?))),
        ["restart", ..] => Err(form(text, "restart S")),
        ["clock", at, "=", time] => {
            Ok(Action::Clock(site(at)?, number(time, text, "clock S = 5")?))
        }
        ["clock", ..] => Err(form(text, "clock S = 5")),
        [caller, "acquires", claim @ ..] => {
            let claim = claim.iter().map(|&word| word.to_owned()).collect();
            Ok(Action::Acquire(who(caller)?, claim))
        }
        [caller, "releases"] => Ok(Action::Release(who(caller)?)),
        [_, "releases", ..] => Err(form(text, "S releases")),
        [caller, "gives", "up"] => Ok(Action::GiveUp(who(caller)?)),
        [_, "gives", ..] => Err(form(text, "S gives up")),
        [at, "hears" | "loses" | "closes" | "opens" | "has" | "leaves", ..] => {
            site(at)?;
            session_fault(text, words)
        }
        [caller, verb, ..] if who(caller).is_ok() => {
            Err(ErrorKind::UnknownCommand((*verb).to_owned()))
        }
        [word, ..] => Err(ErrorKind::UnknownCommand((*word).to_owned())),
        [] => Err(ErrorKind::UnknownCommand(String::new())),
    }
}

/// A fault of a session, spelt as in a trace.
fn session_fault(text: &str, words: &[&str]) -> Result<Action, ErrorKind> {
    let fault = match words {
        [client, "hears", "nothing", "of", server] => Fault::Silence(site(client)?, site(server)?),
        [client, "loses", "its", "session", "at", server] => {
            Fault::Lose(site(client)?, site(server)?)
        }
        [server, "closes", "the", "session", "of", client] => {
            Fault::Close(site(client)?, site(server)?)
        }
        [server, "opens", "a", "session", "of", client] => {
            Fault::Reopen(site(client)?, site(server)?)
        }
        [client, "has", "a", "session", "at", server] => Fault::Open(site(client)?, site(server)?),
        [at, "leaves", "its", "quarantine"] => Fault::Clear(site(at)?),
        [_, "hears", ..] => return Err(form(text, "S hears nothing of A")),
        [_, "loses", ..] => return Err(form(text, "S loses its session at A")),
        [_, "closes", ..] => return Err(form(text, "A closes the session of S")),
        [_, "opens", ..] => return Err(form(text, "A opens a session of S")),
        [_, "has", ..] => return Err(form(text, "S has a session at A")),
        _ => return Err(form(text, "S leaves its quarantine")),
    };
    Ok(Action::Suffer(fault))
}

/// What happens to the next message of a channel.
fn message_action(text: &str, words: &[&str]) -> Result<Action, ErrorKind> {
    let (verb, channel, kind) = match words {
        [verb, from, "->", to] => (*verb, channel(from, to)?, None),
        [verb, from, "->", to, kind] => (*verb, channel(from, to)?, Some((*kind).to_owned())),
        ["deliver", ..] => return Err(form(text, "deliver A -> B [KIND]")),
        ["drop", ..] => return Err(form(text, "drop A -> B [KIND]")),
        _ => return Err(form(text, "duplicate A -> B [KIND]")),
    };
    Ok(match verb {
        "deliver" => Action::Deliver(channel, kind),
        "drop" => Action::Drop(channel, kind),
        _ => Action::Duplicate(channel, kind),
    })
}

fn check(text: &str, words: &[&str]) -> Result<Check, ErrorKind> {
    match words {
        ["quiet"] => Ok(Check::Quiet),
        ["messages", n] => Ok(Check::Messages(number(n, text, "expect messages N")?)),
        [kind, "count", n] => {
            Ok(Check::Count((*kind).to_owned(), number(n, text, "expect KIND count N")?))
        }
        [caller, "fence", n] => {
            Ok(Check::Fence(who(caller)?, number(n, text, "expect S fence N")?))
        }
        ["broken", name @ ..] if !name.is_empty() => Ok(Check::Broken(property(&name.join(" "))?)),
        [from, "->", to, "empty"] => Ok(Check::Empty(channel(from, to)?)),
        [from, "->", to, "has", kind] => Ok(Check::Has(channel(from, to)?, (*kind).to_owned())),
        [at, "shows", name, text @ ..] if !text.is_empty() => {
            let (name, text) = ((*name).to_owned(), text.join(" "));
            Ok(Check::Shows { site: site(at)?, name, text })
        }
        [_, "shows", ..] => Err(form(text, "expect S shows NAME TEXT")),
        [caller, "idle"] => Ok(Check::Claim(who(caller)?, None, vec![])),
        [caller, state, more @ ..] => {
            let state: Option<ClaimState> = state.parse().ok();
            match state.filter(|&state| more.is_empty() || state != ClaimState::Lost) {
                Some(state) => {
                    let more = more.iter().map(|&word| word.to_owned()).collect();
                    Ok(Check::Claim(who(caller)?, Some(state), more))
                }
                None => Err(form(text, EXPECT)),
            }
        }
        _ => Err(form(text, EXPECT)),
    }
}

fn property(name: &str) -> Result<&'static str, ErrorKind> {
    PROPERTIES.into_iter().find(|&known| known == name).ok_or_else(|| {
        let known = PROPERTIES.join(", ");
        ErrorKind::Refused(format!("unknown property `{name}`; expected one of {known}"))
    })
}

fn channel(from: &str, to: &str) -> Result<Channel, ErrorKind> {
    let (from, to) = (site(from)?, site(to)?);
    if from == to {
        return Err(ErrorKind::OwnChannel(from));
    }
    Ok(Channel { from, to })
}

fn who(word: &str) -> Result<Who, ErrorKind> {
    let Some((at, claim)) = word.split_once('/') else {
        return Ok(Who { site: site(word)?, claim: None });
    };
    let claim = digits(claim).filter(|&number| number > 0).map(ClaimId);
    match claim {
        Some(claim) => Ok(Who { site: site(at)?, claim: Some(claim) }),
        None => Err(form(word, "S/1")),
    }
}

fn site(word: &str) -> Result<SiteId, ErrorKind> {
    let place = digits::<u32>(word).and_then(|number| number.checked_sub(1));
    let place = place.ok_or_else(|| ErrorKind::NotASite(word.to_owned()))?;
    Ok(SiteId::new(place as usize))
}

fn number<T: FromStr>(word: &str, text: &str, expected: &'static str) -> Result<T, ErrorKind> {
    digits(word).ok_or_else(|| form(text, expected))
}

/// A number without a sign.
fn digits<T: FromStr>(word: &str) -> Option<T> {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit());
    if plain { word.parse().ok() } else { None }
}

fn form(found: &str, expected: &'static str) -> ErrorKind {
    ErrorKind::Form { found: found.to_owned(), expected }
}

//! Kept cases: the whole history of one site as text, from its first start.

use std::fmt::Write as _;
use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::Tick;
use quorate_session::client::ClientId;
use quorate_site::kinds::PoolProtocol;
use serde::Serialize;

use super::judge::caught;
use super::mutator::decode;
use super::spans::Encoded;
use super::victim::{Event, Victim};

/// The history of one site, from its first start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The site.
    pub site: SiteId,
    /// How many sites its cluster has.
    pub n: usize,
    /// Which protocol its pools have.
    pub pools: PoolProtocol,
    /// What happened to it, and when.
    pub events: Vec<(Tick, Event)>,
}

/// The end of the first line of a case whose pools are pools by arbiters.
const BY_ARBITERS: &str = ", pools by arbiters";

/// When every site starts.
pub(super) const START: Tick = Tick(1);

impl Case {
    /// Lets everything happen again.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn replay(&self) -> Result<(), String> {
        caught(|| {
            let (mut victim, _) = Victim::start(self.site, self.n, START, self.pools, None);
            for (now, event) in &self.events {
                victim.apply(*now, event.clone())?;
            }
            Ok(())
        })
    }

    /// A history with fewer events that fails in the same place.
    pub fn shortened(&self, failure: &str) -> Self {
        let fails =
            |case: &Case| case.replay().err().is_some_and(|why| place(&why) == place(failure));
        let mut best = self.clone();
        let mut chunk = best.events.len().div_ceil(2);
        while chunk > 0 {
            let mut start = 0;
            let before = best.events.len();
            while start < best.events.len() {
                let mut fewer = best.clone();
                fewer.events.drain(start..(start + chunk).min(best.events.len()));
                if fails(&fewer) {
                    best = fewer;
                } else {
                    start += chunk;
                }
            }
            if chunk == 1 && best.events.len() == before {
                break;
            }
            chunk = (chunk / 2).max(1);
        }
        best
    }

    /// The case as text: one line for each event.
    pub fn to_text(&self) -> String {
        let pools = if self.pools == PoolProtocol::Arbiters { BY_ARBITERS } else { "" };
        let mut text = format!("site {} of {}{pools}\n", self.site, self.n);
        for (now, event) in &self.events {
            let _ = writeln!(text, "{} {}", now.0, line(event));
        }
        text
    }

    /// Reads a case. Lines that begin with `#` are comments.
    ///
    /// # Errors
    ///
    /// The line that cannot be read.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let head = lines.next().unwrap_or_default();
        let (head, pools) = match head.strip_suffix(BY_ARBITERS) {
            Some(head) => (head, PoolProtocol::Arbiters),
            None => (head, PoolProtocol::Ledger),
        };
        let expected =
            || format!("a case begins with `site 1 of 3`, or the same and `{BY_ARBITERS}`");
        let ["site", site, "of", n] = head.split(' ').collect::<Vec<_>>()[..] else {
            return Err(expected());
        };
        let (site, n) = (parse_site(site), n.parse().ok());
        let (Some(site), Some(n)) = (site, n) else { return Err(expected()) };
        let read = |line: &str| event(line).ok_or_else(|| format!("no event: {line}"));
        Ok(Self { site, n, pools, events: lines.map(read).collect::<Result<_, _>>()? })
    }
}

/// Where it failed: the same failure may show different numbers.
pub fn place(failure: &str) -> &str {
    let end = failure.match_indices(": ").next().map_or(failure.len(), |(end, _)| end);
    &failure[..end]
}

fn line(event: &Event) -> String {
    match event {
        Event::Up(peer) => format!("up {peer}"),
        Event::Down(peer) => format!("down {peer}"),
        Event::Packet(from, packet) => format!("packet {from} {}", hex(packet)),
        Event::Client(client, packet) => format!("client {} {}", client.0, hex(packet)),
        Event::ClientDown(client) => format!("client-down {}", client.0),
        Event::Saved => "saved".to_owned(),
        Event::Time => "time".to_owned(),
        Event::Drain(time) => format!("drain {}", time.as_millis()),
        Event::Restart => "restart".to_owned(),
    }
}

fn event(line: &str) -> Option<(Tick, Event)> {
    let words: Vec<&str> = line.split(' ').collect();
    let (when, words) = words.split_first()?;
    let client = |text: &str| text.parse().ok().map(ClientId);
    let event = match *words {
        ["up", peer] => Event::Up(parse_site(peer)?),
        ["down", peer] => Event::Down(parse_site(peer)?),
        ["packet", from, packet] => Event::Packet(parse_site(from)?, unhex(packet)?),
        ["client", id, packet] => Event::Client(client(id)?, unhex(packet)?),
        ["client-down", id] => Event::ClientDown(client(id)?),
        ["saved"] => Event::Saved,
        ["time"] => Event::Time,
        ["drain", time] => Event::Drain(Duration::from_millis(time.parse().ok()?)),
        ["restart"] => Event::Restart,
        _ => return None,
    };
    Some((Tick(when.parse().ok()?), event))
}

fn parse_site(text: &str) -> Option<SiteId> {
    text.parse::<usize>().ok()?.checked_sub(1).map(SiteId::new)
}

fn hex<T: Serialize>(packet: &T) -> String {
    let bytes = Encoded::of(packet).expect("every packet can be encoded").bytes;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    let digits = text.as_bytes().chunks(2);
    let bytes = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    decode(&bytes.collect::<Option<Vec<u8>>>()?)
}

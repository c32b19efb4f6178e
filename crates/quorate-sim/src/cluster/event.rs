//! What can be seen of a run.

use std::fmt;

use quorate_protocol::token::Regeneration;
use quorate_protocol::{Fence, Tick};
use quorate_quorum::SiteId;
use quorate_session::session::{Opening, Packet};
use quorate_session::{CallId, Name};
use quorate_site::Said;

use super::faults::Fault;

/// Something that happens in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// A caller asks for a resource.
    Claims(SiteId, CallId, &'a Name),
    /// A caller is told that it is inside, with this fence, until this time of its site's clock.
    Enters(SiteId, CallId, &'a Name, Fence, Tick),
    /// A site tells its callers until when their grants are good.
    Horizon(SiteId, Tick),
    /// A caller is told something about its grant: `wanes`, `is steady`, `is broken`.
    Told(SiteId, CallId, &'static str, Tick),
    /// A caller's claim or grant is over, and how.
    Ends(SiteId, CallId, &'a str),
    /// A caller writes to the storage, and what becomes of it.
    Writes(SiteId, CallId, Fence, &'static str),
    /// A packet goes out.
    Sends(SiteId, SiteId, &'a Packet<Said>),
    /// A packet arrives: from, to.
    Receives(SiteId, SiteId, &'a Packet<Said>),
    /// A connection comes up, or goes down, at the first site.
    Connection(SiteId, SiteId, bool),
    /// A fault.
    Suffers(&'a Fault),
    /// A fault is over.
    Recovers(&'static str, Option<SiteId>),
    /// A record is on a site's disk.
    Written(SiteId),
    /// A site has made a token in place of one that was lost.
    Regenerates(SiteId, &'a Name, &'a Regeneration),
    /// Somebody wants a grant broken: where, and which fence.
    Breaks(SiteId, &'a Name, Fence),
    /// A site's note about another one.
    Notes(SiteId, SiteId, &'static str),
    /// A site starts: its how-manieth life, and the time of its clock.
    Starts(SiteId, u64, Tick),
}

/// Looks on while a run goes by.
pub trait Observer {
    /// Sees one event, at a true time in nanoseconds.
    fn see(&mut self, now: u64, event: &Event<'_>);
}

impl Observer for crate::Unwatched {
    fn see(&mut self, _: u64, _: &Event<'_>) {}
}

/// Writes every event down, one a line, with the true time in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Chronicle(pub Vec<String>);

impl Observer for Chronicle {
    fn see(&mut self, now: u64, event: &Event<'_>) {
        let (ms, rest) = (now / 1_000_000, now % 1_000_000 / 1_000);
        self.0.push(format!("{ms:>7}.{rest:03}  {event}"));
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Claims(site, call, name) => write!(f, "{site}/{} claims {name}", call.0),
            Event::Enters(site, call, name, fence, until) => {
                let call = call.0;
                write!(f, "{site}/{call} enters {name} with fence {fence}, until {}", until.0)
            }
            Event::Horizon(site, until) => write!(f, "{site} says: good until {}", until.0),
            Event::Told(site, call, what, until) => {
                write!(f, "{site}/{} {what}, until {}", call.0, until.0)
            }
            Event::Ends(site, call, how) => write!(f, "{site}/{} {how}", call.0),
            Event::Writes(site, call, fence, how) => {
                write!(f, "{site}/{} writes with fence {fence}: {how}", call.0)
            }
            Event::Sends(from, to, packet) => write!(f, "{from} -> {to}  {}", Words(packet)),
            Event::Receives(from, to, packet) => write!(f, "{to} <- {from}  {}", Words(packet)),
            Event::Connection(at, peer, true) => write!(f, "{at} is connected with {peer}"),
            Event::Connection(at, peer, false) => write!(f, "{at} has lost {peer}"),
            Event::Suffers(fault) => write!(f, "fault: {fault}"),
            Event::Recovers(what, None) => f.write_str(what),
            Event::Recovers(what, Some(site)) => write!(f, "{site} {what}"),
            Event::Written(site) => write!(f, "{site} has written to disk"),
            Event::Regenerates(site, name, what) => {
                let (epoch, before) = (what.epoch, what.before);
                write!(f, "{site} makes a token of {name}, epoch {epoch} after {before}")
            }
            Event::Breaks(site, name, fence) => {
                write!(f, "at {site} somebody wants fence {fence} of {name} broken")
            }
            Event::Notes(site, about, what) => write!(f, "{site} notes of {about}: {what}"),
            Event::Starts(site, life, now) => write!(f, "{site} starts, life {life}, at {}", now.0),
        }
    }
}

/// A packet in words.
struct Words<'a>(&'a Packet<Said>);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Packet::Hello(hello) => match hello.opening {
                Opening::New(n) => write!(f, "hello, new session {}", n.0),
                Opening::Resume(n, seq) => write!(f, "hello, session {} from {}", n.0, seq.0),
            },
            Packet::Welcome(welcome) => write!(f, "welcome to session {}", welcome.number.0),
            Packet::Later(n, left) => write!(f, "session {} in {} ms", n.0, left.as_millis()),
            Packet::Refused(n, why) => write!(f, "session {}: {}", n.0, why.reason()),
            Packet::Renew(n, k, _) => write!(f, "renew {} of session {}", k.0, n.0),
            Packet::Renewed(n, k, _) => write!(f, "renewed {} of session {}", k.0, n.0),
            Packet::Up(n, frame) | Packet::Down(n, frame) => {
                write!(f, "{}/{} ", n.0, frame.seq.0)?;
                match &frame.payload {
                    Said::Of(name, _, speech)
                    | Said::Vouched(name, _, speech, _)
                    | Said::Timed(name, _, speech, _) => write!(f, "{name}: {speech}"),
                    other => write!(f, "{other:?}"),
                }
            }
            Packet::UpTo(n, seq) | Packet::DownTo(n, seq) => {
                write!(f, "session {} received to {}", n.0, seq.0)
            }
        }
    }
}

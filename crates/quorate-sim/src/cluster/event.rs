//! The observable events of a run.

use std::fmt;

use quorate_protocol::token::Regeneration;
use quorate_protocol::{Fence, Tick, Violation};
use quorate_quorum::SiteId;
use quorate_session::client::{CallerLoss, ClientMessage};
use quorate_session::session::{Opening, Packet};
use quorate_session::{CallId, Name};
use quorate_site::identity::IdentityRefusal;
use quorate_site::{SiteMessage, SitePacket, StartError};

use super::faults::Fault;

/// An event of a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// A caller asks for a resource.
    Claims(ClientName, CallId, &'a Name),
    /// A caller gets a grant, with this fence, until this time of its client's clock.
    Enters(ClientName, CallId, &'a Name, Fence, Tick),
    /// A caller's grant is valid until this time of its client's clock, as far as the client knows.
    Believes(ClientName, CallId, Tick),
    /// The loss of a caller's grant is signalled.
    Loses(ClientName, CallId, &'a CallerLoss),
    /// A caller's claim or grant is over, and why.
    Ends(ClientName, CallId, &'a str),
    /// A caller writes to the storage, and the result.
    Writes(ClientName, CallId, Fence, &'static str),
    /// A packet is sent: from, to.
    Sends(Endpoint, Endpoint, &'a AnyPacket),
    /// A packet arrives: from, to.
    Receives(Endpoint, Endpoint, &'a AnyPacket),
    /// A connection comes up, or goes down, at the first endpoint.
    Connection(Endpoint, Endpoint, bool),
    /// A fault.
    Suffers(&'a Fault),
    /// A fault is over.
    Recovers(&'static str, Option<Endpoint>),
    /// A record is on a site's disk.
    Written(SiteId),
    /// A site has made a token to replace a lost one.
    Regenerates(SiteId, &'a Name, &'a Regeneration),
    /// A client asks to break the grant with this fence.
    Breaks(ClientName, &'a Name, Fence),
    /// A site's note about another one.
    Notes(SiteId, SiteId, &'static str),
    /// The first site says that the second sent what cannot be true.
    Violation(SiteId, SiteId, Violation),
    /// A site starts: its incarnation, from 0, and the time of its clock.
    Starts(SiteId, u64, Tick),
    /// A site cannot start with its disk.
    CannotStart(SiteId, &'a StartError),
    /// A site has joined its cluster.
    Joins(SiteId),
    /// The first site refuses the second.
    Refuses(SiteId, SiteId, IdentityRefusal),
    /// A client process starts, embedded or remote, and the time of its clock.
    ClientStarts(ClientName, Option<SiteId>, Tick),
}

/// A client process: its slot, and its ordinal in that slot, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientName {
    /// Its slot.
    pub place: usize,
    /// Its ordinal in that slot.
    pub life: u64,
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.place + 1)?;
        if self.life > 0 { write!(f, ".{}", self.life) } else { Ok(()) }
    }
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A site.
    Site(SiteId),
    /// A client process.
    Client(ClientName),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Site(site) => site.fmt(f),
            Endpoint::Client(client) => client.fmt(f),
        }
    }
}

/// A packet on any connection.
#[derive(Clone, Debug)]
pub enum AnyPacket {
    /// Between sites.
    Site(SitePacket),
    /// Between a client and its site.
    Client(Packet<ClientMessage>),
}

/// Observes the events of a run.
pub trait Observer {
    /// Called for each event, with its true time in nanoseconds.
    fn see(&mut self, now: u64, event: &Event<'_>);
}

impl Observer for crate::Unwatched {
    fn see(&mut self, _: u64, _: &Event<'_>) {}
}

/// Writes every event on a line, with the true time in milliseconds.
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
            Event::Claims(client, call, name) => write!(f, "{client}/{} claims {name}", call.0),
            Event::Enters(client, call, name, fence, until) => {
                let call = call.0;
                write!(f, "{client}/{call} enters {name} with fence {fence}, until {}", until.0)
            }
            Event::Believes(client, call, until) => {
                write!(f, "{client}/{} is good until {}", call.0, until.0)
            }
            Event::Loses(client, call, loss) => write!(f, "{client}/{} loses it: {loss}", call.0),
            Event::Ends(client, call, how) => write!(f, "{client}/{} {how}", call.0),
            Event::Writes(client, call, fence, how) => {
                write!(f, "{client}/{} writes with fence {fence}: {how}", call.0)
            }
            Event::Sends(from, to, packet) => write!(f, "{from} -> {to}  {packet}"),
            Event::Receives(from, to, packet) => write!(f, "{to} <- {from}  {packet}"),
            Event::Connection(at, peer, true) => write!(f, "{at} is connected with {peer}"),
            Event::Connection(at, peer, false) => write!(f, "{at} has lost {peer}"),
            Event::Suffers(fault) => write!(f, "fault: {fault}"),
            Event::Recovers(what, None) => f.write_str(what),
            Event::Recovers(what, Some(end)) => write!(f, "{end} {what}"),
            Event::Written(site) => write!(f, "{site} has written to disk"),
            Event::Regenerates(site, name, what) => {
                let (epoch, before) = (what.epoch, what.before);
                write!(f, "{site} makes a token of {name}, epoch {epoch} after {before}")
            }
            Event::Breaks(client, name, fence) => {
                write!(f, "{client} wants fence {fence} of {name} broken")
            }
            Event::Violation(site, about, why) => write!(f, "{site} rejects {about}: {why}"),
            Event::Notes(site, about, what) => write!(f, "{site} notes of {about}: {what}"),
            Event::Starts(site, life, now) => write!(f, "{site} starts, life {life}, at {}", now.0),
            Event::CannotStart(site, error) => write!(f, "{site} cannot start: {error}"),
            Event::Joins(site) => write!(f, "{site} has joined"),
            Event::Refuses(site, other, why) => write!(f, "{site} refuses {other}: {why}"),
            Event::ClientStarts(client, Some(site), now) => {
                write!(f, "{client} starts in the process of {site}, at {}", now.0)
            }
            Event::ClientStarts(client, None, now) => write!(f, "{client} starts, at {}", now.0),
        }
    }
}

impl fmt::Display for AnyPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyPacket::Site(SitePacket::Identity(message)) => write!(f, "{message:?}"),
            AnyPacket::Site(SitePacket::Session(packet)) => {
                write_packet(packet, f, |said, f| match said {
                    SiteMessage::Protocol(addressed)
                    | SiteMessage::Delegated(addressed, _)
                    | SiteMessage::Timed(addressed, _) => {
                        write!(f, "{}: {}", addressed.name, addressed.message)
                    }
                    other => write!(f, "{other:?}"),
                })
            }
            AnyPacket::Client(packet) => write_packet(packet, f, |message, f| match message {
                ClientMessage::Request(request) => write!(f, "{request:?}"),
                ClientMessage::Reply(reply) => write!(f, "{reply:?}"),
            }),
        }
    }
}

/// Writes a packet as text.
fn write_packet<M>(
    packet: &Packet<M>,
    f: &mut fmt::Formatter<'_>,
    write_payload: impl FnOnce(&M, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    match packet {
        Packet::Hello(hello) => match hello.opening {
            Opening::New(n) => write!(f, "hello, new session {}", n.0),
            Opening::Resume(n, seq) => write!(f, "hello, session {} from {}", n.0, seq.0),
        },
        Packet::Welcome(welcome) => write!(f, "welcome to session {}", welcome.number.0),
        Packet::RetryAfter(n, left) => write!(f, "session {} in {} ms", n.0, left.as_millis()),
        Packet::Refused(n, why) => write!(f, "session {}: {}", n.0, why.reason()),
        Packet::Renew(n, k, _) => write!(f, "renew {} of session {}", k.0, n.0),
        Packet::Renewed(n, k, _) => write!(f, "renewed {} of session {}", k.0, n.0),
        Packet::Up(n, frame) | Packet::Down(n, frame) => {
            write!(f, "{}/{} ", n.0, frame.seq.0)?;
            write_payload(&frame.payload, f)
        }
        Packet::UpAck(n, seq) | Packet::DownAck(n, seq) => {
            write!(f, "session {} received to {}", n.0, seq.0)
        }
        Packet::Draining(n) => write!(f, "draining, session {}", n.0),
    }
}

//! The client's end of a session: it opens, renews, and is the first to give up.

mod live;
mod talk;

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::SiteId;

use self::live::{Due, Live};
use super::RelativeDeadline;
use super::{
    At, Drift, Effect, Event, Hello, Incarnation, Lease, Opening, Packet, Refusal, Renewal, Rule,
    Seq, Stream, StreamOver, Welcome,
};
use crate::{SessionNo, Tick};

/// Our end of our session at a server.
///
/// It is none, opening, open or silent. Open and silent differ only in whether we expect to hear
/// again of the server; what it lent us counts until the deadline `L_c` in both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientEnd<M> {
    server: SiteId,
    connected: bool,
    /// The number of the latest session asked for; no number is used twice.
    number: SessionNo,
    state: State<M>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State<M> {
    /// No session; the server may have said when to ask again.
    None { retry: Option<Tick> },
    /// Asked for one on this connection, at this time: `sent` of renewal 0.
    Opening { sent: Tick },
    /// Open or silent.
    Live(Box<Live<M>>),
}

/// What a protocol may know of our session at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientView {
    /// Its number.
    pub number: SessionNo,
    /// The deadline `L_c`: until then, and not at it, what the server lent us counts.
    pub until: Tick,
    /// Whether nothing was heard for half a lease, or the stream is over.
    pub silent: bool,
    /// Until when the server lends nothing, by our clock.
    pub quarantined_until: Tick,
    /// The server's incarnation.
    pub server: Incarnation,
    /// The lease it grants.
    pub lease: Lease,
}

impl<M: Clone> ClientEnd<M> {
    /// No session at `server`, and no connection to it.
    pub fn new(server: SiteId) -> Self {
        let state = State::None { retry: None };
        Self { server, connected: false, number: SessionNo(0), state }
    }

    /// The session, while there is one.
    pub fn view(&self) -> Option<ClientView> {
        let live = self.live()?;
        Some(ClientView {
            number: live.number,
            until: live.until,
            silent: live.silent,
            quarantined_until: live.quarantined_until,
            server: live.server,
            lease: live.lease,
        })
    }

    /// The deadline of what the server handed down to us: sent(k) + x(1 - drift).
    ///
    /// `None` without a session, or if renewal k is unknown, being older than a lease.
    pub fn handed(&self, drift: Drift, down: RelativeDeadline) -> Option<Tick> {
        let sent = *self.live()?.sent.get(&down.renewal)?;
        let until = sent + drift.shorten(down.after);
        assert!(until <= sent + down.after, "I8: drift only shortens");
        Some(until)
    }

    /// The next time at which something is due; an input can make it the present.
    pub fn deadline(&self) -> Option<Tick> {
        self.due().map(|(when, _)| when)
    }

    /// Handles the first deadline, which `at` has reached.
    pub fn on_deadline(&mut self, at: At<'_>, out: &mut Vec<Effect<M>>) {
        let Some((when, due)) = self.due() else { return };
        assert!(when <= at.now, "a deadline is not handled before its time");
        match due {
            Due::Silence => self.fall_silent(out),
            Due::Lapse => self.lose(at, out),
            Due::Renewal => self.renew(at, out),
            Due::Retry => {
                self.state = State::None { retry: None };
                self.greet(at, out);
            }
        }
    }

    /// A connection to the server is up.
    pub fn on_up(&mut self, at: At<'_>, out: &mut Vec<Effect<M>>) {
        self.connected = true;
        if self.live().is_some() && !at.terms.keep(Rule::ReopenAfterDeadline) {
            return self.lose(at, out);
        }
        self.greet(at, out);
    }

    /// The connection is gone: nothing else is, and a session that was not welcomed never was.
    pub fn on_down(&mut self) {
        self.connected = false;
        match &mut self.state {
            State::None { .. } => {}
            State::Opening { .. } => self.state = State::None { retry: None },
            State::Live(live) => live.attached = false,
        }
    }

    /// The server welcomes us: to a new session, or back to the one we have.
    pub fn on_welcome(&mut self, at: At<'_>, welcome: Welcome, out: &mut Vec<Effect<M>>) {
        match &mut self.state {
            State::Opening { sent } if welcome.number == self.number => {
                let sent = *sent;
                self.open(at, sent, welcome, out);
            }
            State::Live(live) if welcome.number == live.number && !live.attached => {
                if welcome.incarnation != live.server {
                    return self.end_stream(StreamOver::Broken, out);
                }
                self.reattach(welcome, out);
            }
            _ => out.push(Effect::Note(self.server, "ignored: a welcome nobody waits for")),
        }
    }

    /// An earlier incarnation of ours still has a lease there; we ask again when it is over.
    pub fn on_later(
        &mut self,
        at: At<'_>,
        (number, left): (SessionNo, Duration),
        out: &mut Vec<Effect<M>>,
    ) {
        if number == self.number && matches!(self.state, State::Opening { .. }) {
            self.state = State::None { retry: Some(at.now + left) };
            out.push(Effect::Note(self.server, "a lease of our former life still runs there"));
        }
    }

    /// The server refuses a session. If we have it, its stream is over; its lease is not.
    pub fn on_refused(&mut self, number: SessionNo, why: Refusal, out: &mut Vec<Effect<M>>) {
        match &self.state {
            State::Opening { .. } if number == self.number => {
                self.state = State::None { retry: None }; // until the next connection
                out.push(Effect::Note(self.server, why.reason()));
            }
            State::Live(live) if live.number == number => {
                self.end_stream(StreamOver::Broken, out);
            }
            _ => out.push(Effect::Note(self.server, "ignored: a refusal of another session")),
        }
    }

    /// The server has recorded renewal `k`: the lease counts from when we made it.
    pub fn on_renewed(
        &mut self,
        at: At<'_>,
        (number, k, received): (SessionNo, Renewal, Seq),
        out: &mut Vec<Effect<M>>,
    ) {
        let Some(live) = self.attached_mut(number) else {
            return out.push(Effect::Note(self.server, "ignored: a renewal of another session"));
        };
        if k > live.acknowledged && k <= live.made {
            live.acknowledge(at, k);
        }
        if let Some(Err(over)) = live.stream.as_mut().map(|stream| stream.acknowledge(received)) {
            self.end_stream(over, out);
        }
    }

    /// Says the first word on a connection: we ask for a session, or go on with the one we have.
    ///
    /// One whose stream is over is neither: it ends at its deadline, and the next comes after it.
    fn greet(&mut self, at: At<'_>, out: &mut Vec<Effect<M>>) {
        let opening = match &mut self.state {
            State::None { retry: Some(when) } if *when > at.now => return,
            State::None { .. } | State::Opening { .. } => {
                self.number = SessionNo(self.number.0 + 1);
                self.state = State::Opening { sent: at.now };
                Opening::New(self.number)
            }
            State::Live(live) => {
                live.attached = false;
                let Some(stream) = &mut live.stream else { return };
                Opening::Resume(live.number, stream.tell_received())
            }
        };
        let hello = Hello { badge: at.terms.badge, incarnation: at.incarnation, opening };
        out.push(Effect::Packet(self.server, Packet::Hello(hello)));
    }

    fn open(&mut self, at: At<'_>, sent: Tick, welcome: Welcome, out: &mut Vec<Effect<M>>) {
        let sent = if at.terms.keep(Rule::CountFromSending) { sent } else { at.now };
        let until = sent + at.terms.drift.shorten(welcome.lease.length());
        if until <= at.now {
            self.state = State::None { retry: None };
            out.push(Effect::Note(self.server, "the welcome came after the lease was over"));
            return self.greet(at, out);
        }
        let quarantine = at.terms.drift.lengthen(welcome.quarantine);
        self.state = State::Live(Box::new(Live {
            number: welcome.number,
            server: welcome.incarnation,
            lease: welcome.lease,
            until,
            sent: BTreeMap::from([(Renewal(0), sent)]),
            acknowledged: Renewal(0),
            made: Renewal(0),
            renew_at: sent + welcome.lease.rhythm(),
            silent: false,
            quarantined_until: at.now + quarantine,
            attached: true,
            stream: Some(Stream::new()),
        }));
        out.push(Effect::Tell(Event::Open(self.server, welcome.number)));
    }

    /// Makes the next renewal; the one before it is never made again.
    fn renew(&mut self, at: At<'_>, out: &mut Vec<Effect<M>>) {
        let server = self.server;
        let live = self.live_mut().expect("renewals are due in sessions");
        if at.now >= live.until {
            live.renew_at = live.until; // we slept past it: the lapse is next, and no renewal
            return;
        }
        let again = live.made > live.acknowledged && !at.terms.keep(Rule::StampOnce);
        let k = if again { live.made } else { live.made.next() };
        assert!(at.now < live.until, "I7: no renewal after the deadline");
        assert!(k > live.made || again, "I7: renewals are numbered upwards");
        live.made = k;
        live.sent.insert(k, at.now);
        live.renew_at = at.now + live.lease.rhythm();
        live.forget_old(at.now);
        let Some(stream) = &mut live.stream else { return };
        let renew = Packet::Renew(live.number, k, stream.tell_received());
        out.push(Effect::Packet(server, renew));
    }

    fn fall_silent(&mut self, out: &mut Vec<Effect<M>>) {
        let Some(live) = self.live_mut() else { return };
        if !live.silent {
            live.silent = true;
            out.push(Effect::Tell(Event::Silent(self.server)));
        }
    }

    /// The lease is over by our clock, before it is by the server's. Then we may ask anew.
    fn lose(&mut self, at: At<'_>, out: &mut Vec<Effect<M>>) {
        self.state = State::None { retry: None };
        out.push(Effect::Tell(Event::Lost(self.server)));
        if self.connected {
            self.greet(at, out);
        }
    }

    fn due(&self) -> Option<(Tick, Due)> {
        let live = match &self.state {
            State::Live(live) => live,
            State::None { retry } => {
                return retry.filter(|_| self.connected).map(|when| (when, Due::Retry));
            }
            State::Opening { .. } => return None,
        };
        Some(live.due())
    }

    fn live(&self) -> Option<&Live<M>> {
        if let State::Live(live) = &self.state { Some(live) } else { None }
    }

    fn live_mut(&mut self) -> Option<&mut Live<M>> {
        if let State::Live(live) = &mut self.state { Some(live) } else { None }
    }

    fn attached_mut(&mut self, number: SessionNo) -> Option<&mut Live<M>> {
        self.live_mut().filter(|live| live.attached && live.number == number)
    }
}

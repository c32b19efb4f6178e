//! Checks the promises of sessions from outside, by both clocks at once.
//!
//! S1 to S7 and the invariants I7 and I8 are listed in `docs/site.md`.

use std::collections::BTreeMap;

use quorate_protocol::{SessionNo, Tick};
use quorate_session::session::{Effect, Event, Half, Incarnation, Packet, Sessions};

use super::world::{Payload, other, site};

/// A session: its client, the client's incarnation, and the number.
pub(super) type Id = (usize, Incarnation, SessionNo);

/// The history of the sessions between two sites, and the first broken promise.
///
/// A client's callers rely on the latest deadline it ever had in a session, whatever happens to the
/// client itself: a crash, or a client that gives up early, does not shorten a promise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Monitor {
    pub(super) broken: Option<&'static str>,
    /// The current incarnation of each site.
    lives: [Incarnation; 2],
    /// Client deadlines that have not passed, each with the incarnation of the lending server.
    promised: BTreeMap<Id, (Tick, Incarnation)>,
    /// The open sessions of the requester halves.
    open: [Option<SessionNo>; 2],
    /// The open sessions of the arbiter halves.
    opened: [Option<Id>; 2],
    /// The latest session of each half.
    last: [Option<SessionNo>; 2],
    last_opened: [Option<Id>; 2],
    /// Messages sent and received, by session and receiving half.
    sent: BTreeMap<(Id, Half), u8>,
    received: BTreeMap<(Id, Half), u8>,
    /// Delegated validities by receiver: their end by the giver's clock and by the receiver's.
    delegated: BTreeMap<usize, (Tick, Tick)>,
}

impl Monitor {
    /// Records `property` as broken if it does not hold and is the first.
    pub(super) fn expect(&mut self, holds: bool, property: &'static str) {
        if !holds && self.broken.is_none() {
            self.broken = Some(property);
        }
    }

    /// The number of the next message in a session to this half.
    pub(super) fn next_number(&mut self, session: Id, half: Half) -> u8 {
        let sent = self.sent.entry((session, half)).or_default();
        *sent += 1;
        *sent
    }

    /// Checks a client after its step, before the effects are checked.
    pub(super) fn check_client(&mut self, me: usize, clock: Tick, sessions: &Sessions<Payload>) {
        self.lives[me] = sessions.incarnation();
        let Some(view) = sessions.at(site(other(me))) else { return };
        let promised = (view.until, view.server);
        let entry = self.promised.entry((me, self.lives[me], view.number)).or_insert(promised);
        *entry = (*entry).max(promised);
        let length = view.lease.length();
        self.expect(view.until <= clock + length, "S6: the client learns within a lease");
    }

    /// Checks a server after its step, after the effects were checked.
    pub(super) fn check_server(&mut self, me: usize, clock: Tick, sessions: &Sessions<Payload>) {
        let Some(view) = sessions.of(site(other(me))) else { return };
        let session = (other(me), view.incarnation, view.number);
        if self.opened[me] != Some(session) {
            self.expect(self.last_opened[me] < Some(session), "S3: opened once");
            (self.opened[me], self.last_opened[me]) = (Some(session), Some(session));
        }
        let length = sessions.terms().lease.length();
        self.expect(view.until <= clock + length, "S6: the server learns within a lease");
    }

    /// Checks an effect of a step of `me`.
    pub(super) fn on_effect(&mut self, me: usize, clocks: [Tick; 2], effect: &Effect<Payload>) {
        match effect {
            Effect::Notify(event) => self.on_event(me, clocks, *event),
            Effect::Deliver(_, Half::Requester, number, payload) => {
                let session = (me, self.lives[me], *number);
                let valid = self.promised.contains_key(&session);
                self.expect(valid && self.open[me] == Some(*number), "S2: nothing after lost");
                self.on_message((session, Half::Requester), *payload);
            }
            Effect::Deliver(_, Half::Arbiter, number, payload) => {
                let session = self.opened[me].filter(|(.., opened)| opened == number);
                self.expect(session.is_some(), "S2: nothing after closed");
                if let Some(session) = session {
                    self.on_message((session, Half::Arbiter), *payload);
                }
            }
            Effect::Packet(_, Packet::Renew(number, ..)) => {
                let valid = self.promised.contains_key(&(me, self.lives[me], *number));
                self.expect(valid, "I7: no renewal after the deadline");
            }
            _ => {}
        }
    }

    fn on_event(&mut self, me: usize, clocks: [Tick; 2], event: Event) {
        match event {
            Event::Open(_, number) => {
                let fresh = self.open[me].is_none() && Some(number) > self.last[me];
                self.expect(fresh, "S3: open after the loss of the one before");
                (self.open[me], self.last[me]) = (Some(number), Some(number));
            }
            Event::Silent(_) => {
                self.expect(self.open[me].is_some(), "S5: silent only while there is a session");
            }
            Event::Lost(_) => {
                let was = self.open[me].take();
                self.expect(was.is_some(), "S5: lost is told once");
            }
            Event::Opened(_, number) => {
                self.expect(self.opened[me].is_none(), "S3: opened after the close of the last");
                self.opened[me] = Some((other(me), Incarnation(0), number)); // until `check_server`
            }
            Event::Closed(_) => {
                self.expect(self.opened[me].is_some(), "S5: closed is told once");
                self.check_close(me, clocks);
                self.opened[me] = None;
            }
        }
    }

    /// S1: when a server frees the loans of a session, no caller relies on them any more.
    pub(super) fn check_close(&mut self, me: usize, clocks: [Tick; 2]) {
        let Some(session) = self.opened[me] else { return };
        let until = self.promised.get(&session).map(|(until, _)| *until);
        let over = until.is_none_or(|until| until <= clocks[session.0]);
        self.expect(over, "S1: lost at the client before closed at the server");
    }

    fn on_message(&mut self, session: (Id, Half), payload: Payload) {
        let Payload::Message(number) = payload else { return };
        let sent = self.sent.get(&session).copied().unwrap_or_default();
        let received = self.received.entry(session).or_default();
        *received += 1;
        let in_order = *received == number && number <= sent;
        self.expect(in_order, "S4: in order, once, and a prefix");
    }

    /// Records a validity delegated to `me`, which ends at `until` by its own clock and at `giver`
    /// by the giver's.
    pub(super) fn on_delegation(&mut self, me: usize, giver: Tick, until: Option<Tick>) {
        if let Some(until) = until {
            self.delegated.insert(me, (giver, until));
        }
    }

    /// A site has crashed: its halves forget their sessions, but its callers' deadlines remain.
    pub(super) fn on_crash(&mut self, me: usize) {
        (self.open[me], self.opened[me], self.last[me]) = (None, None, None);
        self.last_opened[me] = None;
    }

    /// Checks the present moment, and forgets what has expired by the clocks.
    pub(super) fn check_moment(&mut self, clocks: [Tick; 2], sites: [&Sessions<Payload>; 2]) {
        self.promised.retain(|(client, ..), (until, _)| *until > clocks[*client]);
        for server in [0, 1] {
            let lends = clocks[server] >= sites[server].quarantined_until();
            let counted = self.promised.iter().any(|((client, ..), (_, lender))| {
                *client == other(server) && *lender < sites[server].incarnation()
            });
            self.expect(!(lends && counted), "quarantine outlasts what was lent before it");
        }
        let late = self.delegated.iter().any(|(receiver, (giver, until))| {
            clocks[other(*receiver)] >= *giver && clocks[*receiver] < *until
        });
        self.expect(!late, "I8: no later than the giver's");
        self.delegated.retain(|receiver, (_, until)| *until > clocks[*receiver]);
        self.forget_ended_sessions(sites);
    }

    /// S7: a stream goes on as long as both ends do. If all packets have arrived, no message waits
    /// for room, and there is room for more.
    pub(super) fn check_streams(&mut self, sites: [&Sessions<Payload>; 2], all_arrived: bool) {
        for (client, server) in [(0, 1), (1, 0)] {
            let (ours, theirs) = (sites[client], sites[server]);
            let (here, there) = (site(client), site(server));
            let (Some(at), Some(of)) = (ours.at(there), theirs.of(here)) else { continue };
            let is_same = at.number == of.number
                && ours.incarnation() == of.incarnation
                && theirs.incarnation() == at.server;
            if !is_same {
                continue;
            }
            self.expect(ours.goes_on(there), "S7: the stream goes on while both ends do");
            let waits = ours.is_waiting(there, Half::Arbiter)
                || theirs.is_waiting(here, Half::Requester)
                || !ours.has_room(there);
            self.expect(
                !(all_arrived && waits),
                "S7: no message waits once all packets have arrived",
            );
        }
    }

    /// Forgets the messages of sessions that neither end has and that the client cannot open later.
    fn forget_ended_sessions(&mut self, sites: [&Sessions<Payload>; 2]) {
        let lasts = |&((client, life, number), _): &(Id, Half)| {
            let (there, here) = (sites[client].at(site(other(client))), site(client));
            let at_client = life == sites[client].incarnation()
                && there.is_none_or(|view| view.number <= number);
            let at_server = sites[other(client)]
                .of(here)
                .is_some_and(|view| (view.incarnation, view.number) == (life, number));
            at_client || at_server
        };
        self.sent.retain(|key, _| lasts(key));
        self.received.retain(|key, _| lasts(key));
    }
}

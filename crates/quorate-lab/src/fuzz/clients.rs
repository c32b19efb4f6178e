//! Clients that speak the protocol of sessions, and no more of it than a run needs.

use std::collections::BTreeSet;
use std::time::Duration;

use quorate_protocol::Fence;
use quorate_session::client::{ClientId, ClientMessage, ClientRequest, SiteReply};
use quorate_session::session::{
    ClusterId, Frame, Hello, Incarnation, Opening, Packet, Renewal, Seq,
};
use quorate_session::{
    BreakRequest, ClaimRequest, Claimant, ListQuestion, LockSpec, Name, OwnerText, Question,
    ReasonText, SessionNo,
};
use quorate_wire::ClientPacket;

use super::chance::Chance;

/// A client of one site.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) id: ClientId,
    session: SessionNo,
    open: bool,
    sent: Seq,
    received: Seq,
    renewal: Renewal,
    calls: u64,
    running: BTreeSet<u64>,
    /// The last fence that it was granted, and whose.
    granted: Fence,
}

impl Client {
    pub(super) fn new(id: u128) -> Self {
        Self {
            id: ClientId(id),
            session: SessionNo(0),
            open: false,
            sent: Seq(0),
            received: Seq(0),
            renewal: Renewal(0),
            calls: 0,
            running: BTreeSet::new(),
            granted: Fence(0),
        }
    }

    /// Asks for the next session.
    pub(super) fn hello(&mut self) -> ClientPacket {
        self.session = SessionNo(self.session.0 + 1);
        (self.open, self.sent, self.received) = (false, Seq(0), Seq(0));
        self.renewal = Renewal(0);
        self.running.clear();
        let opening = Opening::New(self.session);
        Packet::Hello(Hello {
            cluster_id: ClusterId::default(),
            incarnation: Incarnation(1),
            opening,
        })
    }

    pub(super) fn renew(&mut self) -> ClientPacket {
        self.renewal = Renewal(self.renewal.0 + 1);
        Packet::Renew(self.session, self.renewal, self.received)
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    fn frame(&mut self, request: ClientRequest) -> ClientPacket {
        self.sent = Seq(self.sent.0 + 1);
        let payload = ClientMessage::Request(request);
        Packet::Up(self.session, Frame { seq: self.sent, received: self.received, payload })
    }

    /// A packet of the site; true if the session is over.
    pub(super) fn on_packet(&mut self, packet: &ClientPacket) -> bool {
        match packet {
            Packet::Welcome(welcome) if welcome.number == self.session => self.open = true,
            Packet::Refused(number, _) => return *number == self.session,
            Packet::Down(number, frame) if *number == self.session => {
                self.received = frame.seq;
                if let ClientMessage::Reply(reply) = &frame.payload {
                    self.on_reply(reply);
                }
            }
            _ => {}
        }
        false
    }

    fn on_reply(&mut self, reply: &SiteReply) {
        match reply {
            SiteReply::Granted(_, fence, ..) => self.granted = *fence,
            SiteReply::Lost(call, _) | SiteReply::Denied(call, _) | SiteReply::Moved(call, _) => {
                self.running.remove(call);
            }
            _ => {}
        }
    }

    /// One of the things that a client can ask for.
    pub(super) fn request(
        &mut self,
        name: Name,
        spec: LockSpec,
        chance: &mut Chance,
    ) -> ClientPacket {
        let leaves = self.running.len() > 3 || chance.percent(35);
        if let Some(call) = self.running.first().copied().filter(|_| leaves) {
            self.running.remove(&call);
            return self.frame(ClientRequest::Leave(call));
        }
        let claimant = Claimant { owner: OwnerText::fitted("anna"), ..Claimant::default() };
        match chance.below(20) {
            0 => {
                let (fence, reason) = (self.granted, ReasonText::fitted("it hangs"));
                self.frame(ClientRequest::Break(BreakRequest { name, fence, by: claimant, reason }))
            }
            1 | 2 => {
                let (show, list) = (Question::Show(name, None), ListQuestion::default());
                let questions = [show, Question::List(list), Question::Sites];
                let question = questions[chance.index(3)].clone();
                self.frame(ClientRequest::Ask(self.calls + 1000, question))
            }
            draw => {
                self.calls += 1;
                self.running.insert(self.calls);
                let timeout = (draw < 6).then(|| Duration::from_millis(500 * draw));
                let (no_wait, since) = (draw == 7, (draw == 8).then_some(3));
                let request = ClaimRequest { name, spec, claimant, timeout, no_wait, since };
                self.frame(ClientRequest::Claim(self.calls, request))
            }
        }
    }
}

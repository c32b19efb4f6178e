//! Clients that send whatever they like, and never read: what they make a site keep is bounded.

use std::time::Duration;

use quorate_protocol::Tick;
use quorate_quorum::{Kind, SiteId, build};
use quorate_session::client::{ClientId, ClientMessage, ClientRequest, SiteReply};
use quorate_session::session::{
    ClusterId, Frame, Hello, Incarnation, Opening, Packet, Refusal, Renewal, Seq,
};
use quorate_session::{
    ClaimRequest, Claimant, Denial, LockSpec, PurposeText, Question, SessionNo, limits,
};
use quorate_site::client_gateway::{GatewayEffect, GatewayInput, SiteWithClients};
use quorate_site::{Config, Disk, Start};

const ID: ClientId = ClientId(7);
const NUMBER: SessionNo = SessionNo(1);

/// A site alone in its cluster, and a client that is no [`ClientMachine`].
///
/// [`ClientMachine`]: quorate_session::client::ClientMachine
struct Rig {
    site: SiteWithClients,
    now: Tick,
    /// How many frames the client has sent, and received.
    sent: u64,
    received: u64,
    /// Whether it acknowledges what it receives.
    reads: bool,
}

impl Rig {
    fn new(reads: bool) -> Self {
        let config = Config::new(SiteId::new(0), build(Kind::Majority, 1).unwrap());
        let (site, _) =
            SiteWithClients::start(Tick(1), config, Disk::default(), &Start::default()).unwrap();
        let mut rig = Self { site, now: Tick(1), sent: 0, received: 0, reads };
        let (cluster_id, incarnation) = (ClusterId::default(), Incarnation(1));
        let hello = Hello { cluster_id, incarnation, opening: Opening::New(NUMBER) };
        rig.send(Packet::Hello(hello));
        rig
    }

    /// Sends a packet, and returns the packets to the client.
    fn send(&mut self, packet: Packet<ClientMessage>) -> Vec<Packet<ClientMessage>> {
        let effects = self.site.step(self.now, GatewayInput::Client(ID, packet));
        let packets = effects.into_iter().filter_map(|effect| match effect {
            GatewayEffect::Client(_, packet) => Some(packet),
            GatewayEffect::Site(_) => None,
        });
        packets.collect()
    }

    /// Sends a request, and returns the replies.
    fn request(&mut self, request: ClientRequest) -> Vec<Packet<ClientMessage>> {
        self.sent += 1;
        let (seq, received) = (Seq(self.sent), Seq(self.received));
        let payload = ClientMessage::Request(request);
        let packets = self.send(Packet::Up(NUMBER, Frame { seq, received, payload }));
        let frames = packets.iter().filter(|packet| matches!(packet, Packet::Down(..))).count();
        self.received += if self.reads { frames as u64 } else { 0 };
        packets
    }

    fn claim(&mut self, number: u64, purpose: usize) -> Vec<Packet<ClientMessage>> {
        let purpose = PurposeText::new("purpose", &"p".repeat(purpose)).unwrap();
        let claimant = Claimant { purpose, ..Claimant::default() };
        let (name, spec) = ("deploy".parse().unwrap(), LockSpec::Mutex);
        let (timeout, no_wait, since) = (None, false, None);
        let request = ClaimRequest { name, spec, claimant, timeout, no_wait, since };
        self.request(ClientRequest::Claim(number, request))
    }
}

fn denial(packets: &[Packet<ClientMessage>]) -> Option<&Denial> {
    packets.iter().find_map(|packet| match packet {
        Packet::Down(_, frame) => match &frame.payload {
            ClientMessage::Reply(SiteReply::Denied(_, denial)) => Some(denial),
            _ => None,
        },
        _ => None,
    })
}

#[test]
fn a_client_has_so_many_claims() {
    let mut rig = Rig::new(true);
    for number in 0..limits::CLAIMS_PER_CLIENT as u64 {
        assert_eq!(denial(&rig.claim(number, 0)), None);
    }
    let more = rig.claim(u64::MAX, 0);
    assert_eq!(denial(&more), Some(&Denial::TooManyClaims));
    let text = "too many claims of one client: it may have 131072, of 64 MiB together";
    assert_eq!(Denial::TooManyClaims.to_string(), text);
    rig.request(ClientRequest::Leave(5));
    assert_eq!(denial(&rig.claim(u64::MAX, 0)), None, "there is room again");
}

#[test]
fn the_claims_of_a_client_have_so_many_bytes() {
    let mut rig = Rig::new(true);
    let claims =
        (0..200_000).take_while(|number| denial(&rig.claim(*number, 1024)).is_none()).count();
    assert!((60_000..limits::CLAIMS_BYTES_PER_CLIENT / 1024).contains(&claims), "{claims}");
}

/// It leaves calls that it never made, and each time a reply waits.
#[test]
fn a_client_that_makes_replies_wait_loses_its_stream() {
    let mut rig = Rig::new(false);
    let gone = Packet::Refused(NUMBER, Refusal::Gone);
    let leaves =
        (0..1_000_000).position(|number| rig.request(ClientRequest::Leave(number)).contains(&gone));
    let leaves = leaves.expect("it is given up on");
    assert!(leaves > 2 * limits::CLAIMS_PER_CLIENT, "an honest client has so many: {leaves}");
    assert_eq!(rig.request(ClientRequest::Leave(7)), [], "nothing more is heard of it");
    let renewed = rig.send(Packet::Renew(NUMBER, Renewal(1), Seq(0)));
    assert!(matches!(renewed[..], [Packet::Renewed(..)]), "its lease goes on: {renewed:?}");
}

#[test]
fn questions_that_nobody_reads_the_answers_of_are_bounded() {
    let mut rig = Rig::new(false);
    let mut bytes = 0;
    for number in 0..100_000 {
        let question = Question::Show("deploy".parse().unwrap(), None);
        let packets = rig.request(ClientRequest::Ask(number, question));
        bytes += packets.len();
        rig.now = rig.now + Duration::from_micros(1);
    }
    assert!(bytes < 10_000, "{bytes} packets");
}

//! A client process, packet by packet.

use std::sync::Arc;
use std::time::Duration;

use quorate_session::client::{
    CallerLoss, ClientEffect, ClientInput, ClientMachine, ClientMessage, ClientRequest, SiteReply,
};
use quorate_session::session::{
    Frame, Incarnation, Lease, Packet, RelativeDeadline, Renewal, Seq, Terms, Welcome,
};
use quorate_session::{Card, ClaimRequest, Fence, Got, Loss, SessionNo, Tick, Want};

const MS: u64 = 1_000_000;

/// A client with a session, and its site, which is only played.
struct Played {
    client: ClientMachine,
    now: u64,
    said: u64,
}

impl Played {
    fn new() -> Self {
        let mut played =
            Self { client: ClientMachine::new(Tick::ZERO, Terms::default()), now: MS, said: 0 };
        played.step(ClientInput::Up);
        let welcome = Welcome {
            incarnation: Incarnation(1),
            number: SessionNo(1),
            lease: Lease::default(),
            quarantine: Duration::ZERO,
            received: Seq(0),
        };
        played.step(ClientInput::Packet(Packet::Welcome(welcome)));
        assert!(played.client.is_open());
        played
    }

    fn step(&mut self, input: ClientInput) -> Vec<ClientEffect> {
        self.now += MS;
        self.client.step(Tick(self.now), input)
    }

    /// The site says this.
    fn hear(&mut self, reply: SiteReply) -> Vec<ClientEffect> {
        self.said += 1;
        let payload = ClientMessage::Reply(reply);
        let frame = Frame { seq: Seq(self.said), received: Seq(0), payload };
        self.step(ClientInput::Packet(Packet::Down(SessionNo(1), frame)))
    }

    /// A caller is inside, for a second from the start of the session.
    fn enter(&mut self, call: u64) {
        let name = format!("lock-{call}").parse().unwrap();
        let (want, card) = (Want::Mutex, Card::default());
        let claim = ClaimRequest { name, want, card, patience: None, hasty: false };
        self.step(ClientInput::Request(ClientRequest::Claim(call, claim)));
        let granted = self.hear(SiteReply::Granted(call, Fence(call), Got::Mutex, second()));
        assert!(matches!(granted[..], [ClientEffect::Granted(..)]), "{granted:?}");
    }
}

fn second() -> RelativeDeadline {
    RelativeDeadline { renewal: Renewal(0), after: Duration::from_secs(1) }
}

/// The calls that the client says to have left.
fn left(effects: &[ClientEffect]) -> Vec<u64> {
    let call = |effect: &ClientEffect| match effect {
        ClientEffect::Packet(Packet::Up(_, frame)) => match frame.payload {
            ClientMessage::Request(ClientRequest::Leave(call)) => Some(call),
            _ => None,
        },
        _ => None,
    };
    effects.iter().filter_map(call).collect()
}

/// Seed 95 of three simulated sites: the holder of a broken grant was told until when it may go on,
/// its client stopped, and somebody else was let in before that.
#[test]
fn a_client_that_stops_does_not_give_back_what_its_holder_may_rely_on() {
    let mut played = Played::new();
    played.enter(1);
    played.enter(2);
    let told = played.hear(SiteReply::Broken(1, second(), Arc::from("it hangs")));
    let broken = ClientEffect::Lost(1, CallerLoss::Told(Loss::Broken(Arc::from("it hangs"))));
    assert_eq!(told, [broken]);
    let end = played.client.valid_until(1).expect("it goes on for a while");

    let stopped = played.step(ClientInput::Stop);
    assert!(stopped.contains(&ClientEffect::Lost(2, CallerLoss::Unheard)), "{stopped:?}");
    assert_eq!(left(&stopped), [2]);
    assert_eq!(played.client.valid_until(1), Some(end));
    assert_eq!(played.client.valid_until(2), None);

    let over = played.client.step(end, ClientInput::Time);
    assert_eq!(left(&over), [1], "{over:?}");
}

//! A client process, packet by packet.

use std::time::Duration;

use quorate_session::client::{
    CallerLoss, ClientEffect, ClientInput, ClientMachine, ClientMessage, ClientRequest, SiteReply,
};
use quorate_session::session::{
    Frame, Incarnation, Lease, Packet, RelativeDeadline, Renewal, Seq, Terms, Welcome,
};
use quorate_session::{ClaimRequest, Claimant, Fence, Granted, LockSpec, Loss, SessionNo, Tick};

const MS: u64 = 1_000_000;

/// A client with a session, and its site, that the test plays.
struct ClientWithFakeSite {
    machine: ClientMachine,
    now: u64,
    sent: u64,
}

impl ClientWithFakeSite {
    fn new() -> Self {
        let mut client =
            Self { machine: ClientMachine::new(Tick::ZERO, Terms::default()), now: MS, sent: 0 };
        client.step(ClientInput::Up);
        let welcome = Welcome {
            incarnation: Incarnation(1),
            number: SessionNo(1),
            lease: Lease::default(),
            quarantine: Duration::ZERO,
            received: Seq(0),
        };
        client.step(ClientInput::Packet(Packet::Welcome(welcome)));
        assert!(client.machine.is_open());
        client
    }

    fn step(&mut self, input: ClientInput) -> Vec<ClientEffect> {
        self.now += MS;
        self.machine.step(Tick(self.now), input)
    }

    /// The site sends this.
    fn on_reply(&mut self, reply: SiteReply) -> Vec<ClientEffect> {
        self.sent += 1;
        let payload = ClientMessage::Reply(reply);
        let frame = Frame { seq: Seq(self.sent), received: Seq(0), payload };
        self.step(ClientInput::Packet(Packet::Down(SessionNo(1), frame)))
    }

    /// A claim is granted, for a second from the start of the session.
    fn enter(&mut self, call: u64) {
        let name = format!("lock-{call}").parse().unwrap();
        let (spec, claimant) = (LockSpec::Mutex, Claimant::default());
        let claim =
            ClaimRequest { name, spec, claimant, timeout: None, no_wait: false, since: None };
        self.step(ClientInput::Request(ClientRequest::Claim(call, claim)));
        let granted =
            self.on_reply(SiteReply::Granted(call, Fence(call), Granted::Mutex, second()));
        assert!(matches!(granted[..], [ClientEffect::Granted(..)]), "{granted:?}");
    }
}

fn second() -> RelativeDeadline {
    RelativeDeadline { renewal: Renewal(0), after: Duration::from_secs(1) }
}

/// The calls that the client leaves.
fn left(sent: &[ClientEffect]) -> Vec<u64> {
    let call = |effect: &ClientEffect| match effect {
        ClientEffect::Packet(Packet::Up(_, frame)) => match frame.payload {
            ClientMessage::Request(ClientRequest::Leave(call)) => Some(call),
            _ => None,
        },
        _ => None,
    };
    sent.iter().filter_map(call).collect()
}

/// Seed 95 of three simulated sites: the holder of a broken grant knew until when it may go on,
/// its client stopped, and another caller was granted the lock before that.
#[test]
fn a_client_that_stops_does_not_give_back_what_its_holder_may_rely_on() {
    let mut client = ClientWithFakeSite::new();
    client.enter(1);
    client.enter(2);
    let effects = client.on_reply(SiteReply::Broken(1, second(), "it hangs".parse().unwrap()));
    let broken =
        ClientEffect::Lost(1, CallerLoss::Reported(Loss::Broken("it hangs".parse().unwrap())));
    assert_eq!(effects, [broken]);
    let end = client.machine.valid_until(1).expect("it goes on for a while");

    let stopped = client.step(ClientInput::Stop);
    assert!(stopped.contains(&ClientEffect::Lost(2, CallerLoss::Expired)), "{stopped:?}");
    assert_eq!(left(&stopped), [2]);
    assert_eq!(client.machine.valid_until(1), Some(end));
    assert_eq!(client.machine.valid_until(2), None);

    let over = client.machine.step(end, ClientInput::Time);
    assert_eq!(left(&over), [1], "{over:?}");
}

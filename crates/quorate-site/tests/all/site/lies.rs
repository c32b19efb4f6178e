//! A peer that says what cannot be true: its stream ends, nothing of it is kept, and its next
//! session is as good as any.

use std::collections::BTreeSet;
use std::time::Duration;

use quorate_protocol::mutex::Message;
use quorate_protocol::{ClaimId, Fence, Field, JUMP_MAX, SiteId, Tick, Ticket, Violation};
use quorate_quorum::{Kind, build};
use quorate_session::session::{Frame, Incarnation, Packet, Seq};
use quorate_site::{
    Addressed, Config, Disk, Effect, Past, Site, SiteMessage, SitePacket, Start, StartError,
};

use super::net::{Net, name};

/// The first frame of site 2 in its session at site 1.
fn first_frame(net: &Net, message: Message) -> SitePacket {
    let number = net.site(0).sessions().of(SiteId::new(1)).unwrap().number;
    let kind = quorate_session::Kind::Mutex;
    let addressed = Addressed { name: name("deploy"), kind, message: message.into() };
    let payload = SiteMessage::Protocol(addressed);
    let frame = Frame { seq: Seq(1), received: Seq(0), payload };
    SitePacket::Session(Packet::Up(number, frame))
}

fn ticket(time: u64) -> Ticket {
    Ticket { time, site: SiteId::new(1), claim: ClaimId(1) }
}

#[test]
fn a_lie_ends_the_stream_and_the_next_session_is_good() {
    let lies = [
        (
            Message::Request { ticket: ticket(u64::MAX), held: false, cut: BTreeSet::new() },
            Field::Time,
        ),
        (Message::Raise { ticket: ticket(1), ceil: Fence(u64::MAX - 1) }, Field::Fence),
    ];
    for (message, field) in lies {
        let mut net = Net::new(3);
        let (peer, disk) = (SiteId::new(1), net.disk(0).clone());
        let before = net.site(0).sessions().of(peer).unwrap().number;
        net.deliver(1, 0, first_frame(&net, message));
        let violation = Effect::Violation(peer, Violation::Implausible(field));
        assert!(net.effects.contains(&(0, violation)), "{:?}", net.effects);
        assert_eq!((net.site(0).violations(), net.site(0).names().count()), (1, 0));
        assert_eq!(net.disk(0), &disk, "nothing is written");
        net.pass(Duration::from_secs(7));
        assert!(net.site(0).sessions().of(peer).unwrap().number > before, "a new session");
        let call = net.claim(1, "deploy");
        assert!(net.grant(call).is_some());
        assert_eq!(net.site(0).violations(), 1);
    }
}

#[test]
fn a_lie_of_an_arbiter_ends_our_session_there() {
    let mut net = Net::new(3);
    let peer = SiteId::new(1);
    let number = net.site(0).sessions().at(peer).unwrap().number;
    let ticket = Ticket { site: SiteId::new(0), ..ticket(1) };
    let message = Message::Raised { ticket, ceil: Fence(u64::MAX) };
    let SitePacket::Session(Packet::Up(_, frame)) = first_frame(&net, message) else {
        unreachable!("it is a frame to the arbiter");
    };
    net.deliver(1, 0, SitePacket::Session(Packet::Down(number, frame)));
    assert_eq!(net.site(0).violations(), 1);
    assert!(net.site(0).sessions().at(peer).unwrap().silent, "nothing is expected of it");
    net.pass(Duration::from_secs(7));
    let again = net.site(0).sessions().at(peer).unwrap();
    assert!(again.number > number && !again.silent, "{again:?}");
    let call = net.claim(0, "deploy");
    assert!(net.grant(call).is_some());
}

#[test]
fn a_site_that_was_lied_to_is_rejected_once_and_then_served() {
    let mut net = Net::new(3);
    let request = Message::Request { ticket: ticket(JUMP_MAX), held: false, cut: BTreeSet::new() };
    net.deliver(1, 0, first_frame(&net, request));
    assert_eq!(net.site(0).violations(), 0, "it is as far as is possible at once");
    assert!(net.disk(0).disk.clock > JUMP_MAX);
    net.crash(0);
    net.pass(Duration::from_secs(7));
    net.start(0);
    net.pass(Duration::from_secs(7));
    let call = net.claim(0, "other");
    assert!([1, 2].map(|site| net.site(site).violations()).contains(&1), "somebody rejects it");
    net.pass(Duration::from_secs(20));
    assert!(net.grant(call).is_some());
    net.leave(0, call);
    let again = net.claim(0, "other");
    assert!(net.grant(again).is_some());
    assert!(net.site(1).violations() <= 1 && net.site(2).violations() <= 1);
}

#[test]
fn a_record_that_cannot_be_true_is_an_error_at_the_start() {
    let start = |disk: Disk| {
        let config = Config::new(SiteId::new(0), build(Kind::Majority, 1).unwrap());
        Site::start(Tick(1), config, Past::from(disk), &Start::default()).map(|_| ())
    };
    assert_eq!(start(Disk::default()), Ok(()));
    let mut incarnation = Disk::default();
    incarnation.sessions.incarnation = Incarnation(u64::from(u32::MAX));
    let wrong = [
        (Disk { clock: u64::MAX, ..Disk::default() }, "Lamport time", u64::MAX),
        (Disk { ceil: Fence(u64::MAX - 7), ..Disk::default() }, "fence", u64::MAX - 7),
        (incarnation, "incarnation", u64::from(u32::MAX)),
    ];
    for (disk, field, number) in wrong {
        let error = start(disk).unwrap_err();
        assert_eq!(error, StartError::Implausible { field, number });
        assert!(error.to_string().contains("the folder is damaged"), "{error}");
    }
}

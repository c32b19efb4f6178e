//! Every packet survives encoding and decoding; no bytes do any harm.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../../quorate-site/tests/all/site/net.rs"]
#[allow(dead_code, reason = "the tests of sites use the rest")]
mod net;

use proptest::prelude::*;
use quorate_session::client::{ClientId, ClientMessage, ClientRequest, SiteReply};
use quorate_session::session::{ClusterId, Frame, Packet, Seq};
use quorate_session::{ClaimRequest, Claimant, Denial, Group, GroupSpec, LockSpec, Question};
use quorate_site::{SiteMessage, SitePacket};
use quorate_wire::{
    ClientPacket, Decoder, Handshake, HandshakeReply, MAX_FRAME, Refusal, VERSION, Who, WireError,
    encode,
};

use crate::net::Net;

/// The packets of sites while they contend, lose each other and restart.
fn site_packets() -> Vec<SitePacket> {
    let mut net = Net::new(3);
    net.record = Some(Vec::new());
    for round in 0..4 {
        let calls: Vec<_> = (0..6).map(|call| (call % 3, net.claim(call % 3, "deploy"))).collect();
        if round == 2 {
            net.crash(1);
            net.pass(std::time::Duration::from_secs(7));
            net.start(1);
        }
        let groups = LockSpec::Group(GroupSpec(["a", "b"].map(Group::new).into_iter().collect()));
        let joint = [0, 1, 2].map(|site| (site, net.claim_as(site, "joint", groups.clone(), None)));
        net.pass(std::time::Duration::from_secs(2));
        for (site, call) in joint {
            net.leave(site, call);
        }
        net.break_it(2, "deploy", quorate_protocol::Fence(round));
        for (site, call) in calls {
            net.leave(site, call);
        }
    }
    net.record.take().expect("it was recorded")
}

fn client_packets() -> Vec<ClientPacket> {
    let name: quorate_session::Name = "deploy/web".parse().unwrap();
    let claimant = Claimant { owner: "anna".into(), host: "h1".into(), pid: 7, purpose: "".into() };
    let (spec, timeout) = (LockSpec::Mutex, None);
    let request = ClaimRequest { name: name.clone(), spec, claimant, timeout, no_wait: true };
    let denial = Denial::NoQuorum { answering: 1, sites: 5, needed: 3 };
    let messages = [
        ClientMessage::Request(ClientRequest::Claim(1, request)),
        ClientMessage::Request(ClientRequest::Leave(1)),
        ClientMessage::Request(ClientRequest::Ask(2, Question::Show(name))),
        ClientMessage::Reply(SiteReply::Denied(3, denial)),
    ];
    let frame = |payload| Frame { seq: Seq(1), received: Seq(0), payload };
    messages.map(|payload| Packet::Up(quorate_protocol::SessionNo(4), frame(payload))).into()
}

#[test]
fn all_packets_survive() {
    let packets = site_packets();
    assert!(packets.len() > 100, "{}", packets.len());
    let is_delegation = |packet: &SitePacket| match packet {
        SitePacket::Session(Packet::Down(_, frame)) => {
            matches!(frame.payload, SiteMessage::Delegations(_))
        }
        _ => false,
    };
    assert!(packets.iter().any(is_delegation), "callers that join get a deadline");
    let mut bytes = Vec::new();
    for packet in &packets {
        encode(packet, &mut bytes).unwrap();
    }
    let mut decoder = Decoder::default();
    let mut read = Vec::new();
    for chunk in bytes.chunks(13) {
        decoder.extend(chunk);
        while let Some(packet) = decoder.next::<SitePacket>().unwrap() {
            read.push(packet);
        }
    }
    assert_eq!(read, packets);
    for packet in client_packets() {
        let mut bytes = Vec::new();
        encode(&packet, &mut bytes).unwrap();
        let mut decoder = Decoder::default();
        decoder.extend(&bytes);
        assert_eq!(decoder.next::<ClientPacket>(), Ok(Some(packet)));
    }
}

#[test]
fn a_frame_that_is_too_long_is_neither_written_nor_read() {
    let mut bytes = vec![1, 2, 3];
    let long = "x".repeat(MAX_FRAME);
    assert_eq!(encode(&long, &mut bytes), Err(WireError::TooLong(MAX_FRAME + 3)));
    assert_eq!(bytes, [1, 2, 3], "unchanged");
    let mut decoder = Decoder::default();
    decoder.extend(&u32::MAX.to_le_bytes());
    assert_eq!(decoder.next::<SitePacket>(), Err(WireError::TooLong(u32::MAX as usize)));
}

#[test]
fn an_invalid_name_is_refused_by_the_decoder() {
    let mut bytes = Vec::new();
    encode(&("bad\nname", 0_u8), &mut bytes).unwrap();
    let mut decoder = Decoder::default();
    decoder.extend(&bytes);
    assert_eq!(decoder.next::<(quorate_session::Name, u8)>(), Err(WireError::Malformed));
}

#[test]
fn a_handshake_says_why_it_is_refused() {
    let good = Handshake::new(Who::Client(ClientId(3)));
    assert_eq!(good.refusal(), None);
    let other = Handshake { version: VERSION + 5, ..good.clone() };
    assert_eq!(other.refusal(), Some(Refusal::OtherVersion(VERSION)));
    let other_protocol = Handshake { magic: *b"GET / H", ..good };
    assert_eq!(other_protocol.refusal(), Some(Refusal::NotQuorate));
    let answer = HandshakeReply::Refused(Refusal::OtherEpoch(4));
    let mut bytes = Vec::new();
    encode(&answer, &mut bytes).unwrap();
    let mut decoder = Decoder::default();
    decoder.extend(&bytes);
    assert_eq!(decoder.next::<HandshakeReply>(), Ok(Some(answer)));
    assert_eq!(ClusterId::default().epoch, 0);
}

/// Decodes all bytes as each type of frame, which ends with the bytes or in an error.
fn read_all(bytes: &[u8]) -> usize {
    let mut count = 0;
    for pass in 0..3 {
        let mut decoder = Decoder::default();
        decoder.extend(bytes);
        loop {
            let more = match pass {
                0 => decoder.next::<SitePacket>().map(|frame| frame.is_some()),
                1 => decoder.next::<ClientPacket>().map(|frame| frame.is_some()),
                _ => decoder.next::<Handshake>().map(|frame| frame.is_some()),
            };
            match more {
                Ok(true) => count += 1,
                Ok(false) | Err(_) => break,
            }
        }
    }
    count
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(read_all(&bytes) <= bytes.len());
    }

    #[test]
    fn framed_garbage_does_no_harm(garbage in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = u32::try_from(garbage.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend(&garbage);
        prop_assert!(read_all(&bytes) <= 3);
    }

    #[test]
    fn mutated_packets_do_no_harm(
        pick in any::<proptest::sample::Index>(),
        at in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        thread_local!(static PACKETS: Vec<SitePacket> = site_packets());
        let mut bytes = Vec::new();
        PACKETS.with(|packets| encode(pick.get(packets), &mut bytes)).unwrap();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        prop_assert!(read_all(&bytes) <= 3 * bytes.len());
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(read_all(&bytes) <= 3 * bytes.len());
    }
}

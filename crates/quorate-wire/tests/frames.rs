//! Every packet survives encoding and decoding; no bytes do any harm.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../../quorate-site/tests/all/site/net.rs"]
#[allow(dead_code, reason = "the tests of sites use the rest")]
mod net;

use proptest::prelude::*;
use quorate_session::SiteId;
use quorate_session::client::{ClientId, ClientMessage, ClientRequest, SiteReply};
use quorate_session::session::{Frame, Packet, Seq};
use quorate_session::{ClaimRequest, Claimant, Denial, Group, GroupSpec, LockSpec, Question};
use quorate_site::{SiteMessage, SitePacket};
use quorate_wire::{
    ClientPacket, Configuration, Decoder, Handshake, HandshakeReply, MAX_FRAME, Refusal, Versions,
    Who, WireError, encode,
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
    let claimant = Claimant {
        owner: "anna".parse().unwrap(),
        host: "h1".parse().unwrap(),
        pid: 7,
        purpose: "".parse().unwrap(),
    };
    let (spec, timeout) = (LockSpec::Mutex, None);
    let request =
        ClaimRequest { name: name.clone(), spec, claimant, timeout, no_wait: true, since: None };
    let denial = Denial::NoQuorum { answering: 1, sites: 5, needed: 3 };
    let messages = [
        ClientMessage::Request(ClientRequest::Claim(1, request)),
        ClientMessage::Request(ClientRequest::Leave(1)),
        ClientMessage::Request(ClientRequest::Ask(2, Question::Show(name, None))),
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
    assert_eq!(encode(&long, &mut bytes), Err(too_long(MAX_FRAME + 3)));
    assert_eq!(bytes, [1, 2, 3], "unchanged");
    let mut decoder = Decoder::default();
    decoder.extend(&u32::MAX.to_le_bytes());
    assert_eq!(decoder.next::<SitePacket>(), Err(too_long(u32::MAX as usize)));
}

fn too_long(bytes: usize) -> WireError {
    WireError::TooLong { bytes, most: MAX_FRAME }
}

#[test]
fn a_decoder_with_a_lower_limit_refuses_more_and_keeps_little() {
    let (mut bytes, mut decoder) = (Vec::new(), Decoder::with_limit(100));
    for _ in 0..10_000 {
        encode(&"x".repeat(50), &mut bytes).unwrap();
    }
    for part in bytes.chunks(1000) {
        decoder.buffer().extend_from_slice(part);
        while decoder.next::<String>().unwrap().is_some() {}
    }
    assert!(decoder.buffer().capacity() < 20_000, "{}", decoder.buffer().capacity());
    decoder.set_limit(40);
    decoder.extend(&bytes[..20]);
    let refused = WireError::TooLong { bytes: 51, most: 40 };
    assert_eq!(decoder.next::<String>(), Err(refused), "before its end has arrived");
}

#[test]
fn text_beyond_its_limit_is_refused_by_the_decoder() {
    fn decode<T: serde::de::DeserializeOwned>(value: &impl serde::Serialize) -> bool {
        let mut decoder = Decoder::default();
        decoder.extend(&encoded(value));
        decoder.next::<T>().is_ok()
    }
    for (purpose, is_valid) in
        [("x".repeat(1024), true), ("x".repeat(1025), false), ("a\u{1b}[2J".to_owned(), false)]
    {
        assert_eq!(decode::<Claimant>(&("anna", "h1", 7_u32, purpose.as_str())), is_valid);
        assert_eq!(decode::<quorate_session::ReasonText>(&purpose), is_valid);
    }
    let names = |count: usize, bytes: usize| -> Vec<String> {
        (0..count).map(|number| format!("{number:0bytes$}")).collect()
    };
    for (count, bytes, is_valid) in
        [(32, 128, true), (33, 3, false), (32, 129, false), (1, 257, false), (1, 256, true)]
    {
        let names = names(count, bytes);
        assert_eq!(decode::<quorate_session::Groups>(&names), is_valid, "{count} of {bytes}");
        let roles: std::collections::BTreeMap<String, u8> =
            names.into_iter().map(|name| (name, 0)).collect();
        let spec = (roles, std::time::Duration::ZERO);
        assert_eq!(decode::<quorate_session::RoleSpec>(&spec), is_valid, "{count} of {bytes}");
    }
}

#[test]
fn an_invalid_name_is_refused_by_the_decoder() {
    let mut bytes = Vec::new();
    encode(&("bad\nname", 0_u8), &mut bytes).unwrap();
    let mut decoder = Decoder::default();
    decoder.extend(&bytes);
    assert_eq!(decoder.next::<(quorate_session::Name, u8)>(), Err(WireError::Malformed));
}

fn site(configuration: Configuration) -> Who {
    Who::Site { from: SiteId::new(0), to: SiteId::new(2), configuration }
}

fn encoded(value: &impl serde::Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(value, &mut bytes).unwrap();
    bytes
}

fn decoded<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    let mut decoder = Decoder::default();
    decoder.extend(bytes);
    decoder.next().map(|frame| frame.expect("it is complete"))
}

/// The table in the documentation of the module: later versions must be able to read this.
#[test]
fn the_bytes_of_the_first_frames_are_fixed() {
    let who = Who::Client(ClientId(3));
    let bytes = encoded(&Handshake::new(&who));
    assert_eq!(bytes, b"\x0c\0\0\0quorate\x08\x08\x02\x01\x03");
    assert!(Handshake::is_start(&bytes[..Handshake::START]));
    assert!(!Handshake::is_start(b"\x16\x03\x01\0\xf4\x01\0\0\xf0\x03\x03"), "TLS");
    let bytes = encoded(&Handshake::new(&site([("a", "b")].into_iter().collect())));
    assert_eq!(bytes, b"\x12\0\0\0quorate\x08\x08\x08\0\0\x02\x01\x01a\x01b");
    let (here, there) = (Versions::OURS, Versions { lowest: 9, highest: 10 });
    let refused = HandshakeReply::Refused(Refusal::OtherVersion { here, there });
    assert_eq!(encoded(&refused), b"\x06\0\0\0\x01\x01\x08\x08\x09\x0a");
    let refused = HandshakeReply::Refused(Refusal::NeedsTls { here: true });
    assert_eq!(encoded(&refused), b"\x03\0\0\0\x01\x02\x01");
}

#[test]
fn the_highest_common_version_is_chosen() {
    let range = |lowest, highest| Versions { lowest, highest };
    assert_eq!(range(6, 6).common(range(6, 9)), Some(6));
    assert_eq!(range(4, 8).common(range(6, 7)), Some(7));
    assert_eq!(range(6, 6).common(range(7, 9)), None);
    assert_eq!(range(6, 6).common(range(9, 2)), None, "not a range");
    let mut later = Handshake::new(&site(Configuration::default()));
    later.versions = range(6, 40);
    assert_eq!(later.version(), Ok(8));
}

/// Who opens the connection may be of a sort, or have fields, that later versions added.
#[test]
fn a_later_version_is_understood_as_far_as_possible() {
    let bytes = b"\x0f\0\0\0quorate\x06\x09\x05\x01\x03new";
    let handshake: Handshake = decoded(bytes).unwrap();
    assert_eq!((handshake.version(), handshake.who()), (Ok(8), Ok(Who::Client(ClientId(3)))));
    let bytes = b"\x0d\0\0\0quorate\x09\x0a\x03\x09ab";
    let handshake: Handshake = decoded(bytes).unwrap();
    let why = handshake.version().unwrap_err();
    assert_eq!(why.to_string(), "no common wire version: 8 here, 9 to 10 there");
    let there = why.seen_from_there().to_string();
    assert_eq!(there, "no common wire version: 9 to 10 here, 8 there");
    assert_eq!(handshake.who(), Err(WireError::Malformed));
}

#[test]
fn a_refusal_names_the_settings_that_differ() {
    let with = |lease: &str, drift: &str, cluster: &str| -> Configuration {
        [("cluster", cluster), ("lease_ms", lease), ("drift_permille", drift)].into_iter().collect()
    };
    let ours = with("3000", "10", "prod");
    let says = |theirs: Configuration| {
        let why = Refusal::OtherConfiguration(ours.differences(&theirs));
        let reply: HandshakeReply = decoded(&encoded(&HandshakeReply::Refused(why))).unwrap();
        let HandshakeReply::Refused(why) = reply else { panic!("{reply:?}") };
        (why.to_string(), why.seen_from_there().to_string())
    };
    assert_eq!(ours.differences(&ours), []);
    let (here, there) = says(with("5000", "10", "prod"));
    assert_eq!(here, "lease_ms differs: 3000 here, 5000 there");
    assert_eq!(there, "lease_ms differs: 5000 here, 3000 there");
    let (here, _) = says(with("5000", "1", "prod"));
    assert_eq!(
        here,
        "lease_ms differs: 3000 here, 5000 there; drift_permille differs: 10 here, 1 there"
    );
    assert_eq!(says(with("5000", "1", "test")).0, "cluster differs: prod here, test there");
    let more = [("cluster", "prod"), ("lease_ms", "3000"), ("drift_permille", "10"), ("new", "1")];
    let more: Configuration = more.into_iter().collect();
    assert_eq!(says(more).0, "new differs: not known here, 1 there");
    let pool = |of: &str| -> Configuration { [("pool", of)].into_iter().collect() };
    let [difference] = &pool("ledger").differences(&pool("arbiters"))[..] else { panic!() };
    assert_eq!(
        difference.to_string(),
        "pool differs: ledger here, arbiters there (to change it, stop all sites, give all the \
         same and start them again; units that are held are lost then)"
    );
}

#[test]
fn a_configuration_has_a_limited_size() {
    let long = |end: &str| -> Configuration {
        [("quorum", "1,".repeat(9000) + end)].into_iter().collect()
    };
    let [difference] = &long("2").differences(&long("3"))[..] else { panic!("the end counts") };
    assert!(difference.here.len() <= Configuration::MAX_TEXT, "{}", difference.here.len());
    assert_eq!(decoded::<Configuration>(&encoded(&long("2"))), Ok(long("2")));
    let many = vec![("a", "b"); Configuration::MAX_FIELDS + 1];
    assert_eq!(decoded::<Configuration>(&encoded(&many)), Err(WireError::Malformed));
    let wide = vec![("a", "b".repeat(Configuration::MAX_TEXT + 1))];
    assert_eq!(decoded::<Configuration>(&encoded(&wide)), Err(WireError::Malformed));
}

#[test]
fn another_protocol_is_recognised() {
    let mut other = Handshake::new(&Who::Client(ClientId(3)));
    other.magic = *b"GET / H";
    assert_eq!(other.version(), Err(Refusal::NotQuorate));
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
                _ => decoder
                    .next::<Handshake>()
                    .map(|frame| frame.map(|handshake| handshake.who().ok()).is_some()),
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

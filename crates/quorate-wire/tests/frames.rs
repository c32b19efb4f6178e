//! Every word survives the way to bytes and back; no bytes do any harm.

#[path = "../../quorate-site/tests/all/site/net.rs"]
#[allow(dead_code, reason = "the tests of sites use the rest")]
mod net;

use proptest::prelude::*;
use quorate_session::client::{ClientId, ClientMessage, ClientRequest, SiteReply};
use quorate_session::session::{Badge, Frame, Packet, Seq};
use quorate_session::{Card, ClaimRequest, Denial, Group, Question, Want};
use quorate_site::Said;
use quorate_wire::{
    Answer, ClientWord, Decoder, Greeting, MAX_FRAME, Refusal, VERSION, Who, WireError, encode,
};

use crate::net::Net;

/// What sites say to each other.
type SiteWord = Packet<Said>;

/// What sites really say while they contend, lose each other and restart.
fn site_words() -> Vec<SiteWord> {
    let mut net = Net::new(3);
    net.record = Some(Vec::new());
    for round in 0..4 {
        let calls: Vec<_> = (0..6).map(|call| (call % 3, net.claim(call % 3, "deploy"))).collect();
        if round == 2 {
            net.crash(1);
            net.pass(std::time::Duration::from_secs(7));
            net.start(1);
        }
        let groups = Want::Group(["a", "b"].map(Group::new).into_iter().collect());
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

fn client_words() -> Vec<ClientWord> {
    let name: quorate_session::Name = "deploy/web".parse().unwrap();
    let card = Card { owner: "anna".into(), host: "h1".into(), pid: 7, purpose: "".into() };
    let (want, patience) = (Want::Mutex, None);
    let request = ClaimRequest { name: name.clone(), want, card, patience, hasty: true };
    let denial = Denial::NoQuorum { answering: 1, sites: 5, needed: 3 };
    let said = [
        ClientMessage::Request(ClientRequest::Claim(1, request)),
        ClientMessage::Request(ClientRequest::Leave(1)),
        ClientMessage::Request(ClientRequest::Ask(2, Question::Show(name))),
        ClientMessage::Reply(SiteReply::Denied(3, denial)),
    ];
    let frame = |payload| Frame { seq: Seq(1), received: Seq(0), payload };
    said.map(|payload| Packet::Up(quorate_protocol::SessionNo(4), frame(payload))).into()
}

#[test]
fn all_that_is_said_survives() {
    let words = site_words();
    assert!(words.len() > 100, "{}", words.len());
    let is_told = |word: &SiteWord| match word {
        Packet::Down(_, frame) => matches!(frame.payload, Said::Words(_)),
        _ => false,
    };
    assert!(words.iter().any(is_told), "who joined is told how long");
    let mut bytes = Vec::new();
    for word in &words {
        encode(word, &mut bytes).unwrap();
    }
    let mut decoder = Decoder::default();
    let mut read = Vec::new();
    for chunk in bytes.chunks(13) {
        decoder.extend(chunk);
        while let Some(word) = decoder.next::<SiteWord>().unwrap() {
            read.push(word);
        }
    }
    assert_eq!(read, words);
    for word in client_words() {
        let mut bytes = Vec::new();
        encode(&word, &mut bytes).unwrap();
        let mut decoder = Decoder::default();
        decoder.extend(&bytes);
        assert_eq!(decoder.next::<ClientWord>(), Ok(Some(word)));
    }
}

#[test]
fn a_frame_that_is_too_long_is_neither_written_nor_read() {
    let mut bytes = vec![1, 2, 3];
    let long = "x".repeat(MAX_FRAME);
    assert_eq!(encode(&long, &mut bytes), Err(WireError::TooLong(MAX_FRAME + 3)));
    assert_eq!(bytes, [1, 2, 3], "as it was");
    let mut decoder = Decoder::default();
    decoder.extend(&u32::MAX.to_le_bytes());
    assert_eq!(decoder.next::<SiteWord>(), Err(WireError::TooLong(u32::MAX as usize)));
}

#[test]
fn a_name_that_is_none_is_refused_by_the_decoder() {
    let mut bytes = Vec::new();
    encode(&("bad\nname", 0_u8), &mut bytes).unwrap();
    let mut decoder = Decoder::default();
    decoder.extend(&bytes);
    assert_eq!(decoder.next::<(quorate_session::Name, u8)>(), Err(WireError::Malformed));
}

#[test]
fn a_greeting_says_what_is_wrong_with_it() {
    let good = Greeting::new(Who::Client(ClientId(3)));
    assert_eq!(good.problem(), None);
    let other = Greeting { version: VERSION + 5, ..good.clone() };
    assert_eq!(other.problem(), Some(Refusal::OtherVersion(VERSION)));
    let stranger = Greeting { magic: *b"GET / H", ..good };
    assert_eq!(stranger.problem(), Some(Refusal::Stranger));
    let answer = Answer::Refused(Refusal::OtherEpoch(4));
    let mut bytes = Vec::new();
    encode(&answer, &mut bytes).unwrap();
    let mut decoder = Decoder::default();
    decoder.extend(&bytes);
    assert_eq!(decoder.next::<Answer>(), Ok(Some(answer)));
    assert_eq!(Badge::default().epoch, 0);
}

/// Reads all there is as any sort of word; it must only ever end in words or an error.
fn read_all(bytes: &[u8]) -> usize {
    let mut count = 0;
    for pass in 0..3 {
        let mut decoder = Decoder::default();
        decoder.extend(bytes);
        loop {
            let more = match pass {
                0 => decoder.next::<SiteWord>().map(|word| word.is_some()),
                1 => decoder.next::<ClientWord>().map(|word| word.is_some()),
                _ => decoder.next::<Greeting>().map(|word| word.is_some()),
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
    fn mutated_words_do_no_harm(
        pick in any::<proptest::sample::Index>(),
        at in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        thread_local!(static WORDS: Vec<SiteWord> = site_words());
        let mut bytes = Vec::new();
        WORDS.with(|words| encode(pick.get(words), &mut bytes)).unwrap();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        prop_assert!(read_all(&bytes) <= 3 * bytes.len());
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(read_all(&bytes) <= 3 * bytes.len());
    }
}

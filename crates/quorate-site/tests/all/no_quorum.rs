//! A site tells its clients whether it reaches a quorum.

use std::time::Duration;

use quorate_protocol::Tick;
use quorate_quorum::{Kind, SiteId, build};
use quorate_session::client::{ClientId, ClientMessage, QuorumStatus, SiteReply};
use quorate_session::session::{
    ClusterId, Hello, Incarnation, Opening, Packet, Renewal, Rule, Seq, Welcome,
};
use quorate_session::{Denial, SessionNo};
use quorate_site::client_gateway::{GatewayEffect, GatewayInput, SiteWithClients};
use quorate_site::identity::{Birth, IdentityMessage, Life, Lineage, Presentation};
use quorate_site::{Config, Disk, Input, SiteMessage, SitePacket, Start};

const MS: u64 = 1_000_000;

fn hello(number: u64) -> Hello {
    let opening = Opening::New(SessionNo(number));
    Hello { cluster_id: ClusterId::default(), incarnation: Incarnation(1), opening }
}

/// What the site says to its clients of its quorum.
fn said(effects: &[GatewayEffect]) -> Vec<QuorumStatus> {
    let status = |effect: &GatewayEffect| match effect {
        GatewayEffect::Client(_, Packet::Down(_, frame)) => match frame.payload {
            ClientMessage::Reply(SiteReply::Quorum(status)) => Some(status),
            _ => None,
        },
        _ => None,
    };
    effects.iter().filter_map(status).collect()
}

fn registered() -> IdentityMessage {
    IdentityMessage::Registered(0, true)
}

/// A peer that has taken part before.
fn peer_of_another_folder() -> Presentation {
    let begun = Some(Life { incarnation: Incarnation(1), nonce: 1 });
    let lineage = Lineage { begun, since: Vec::new() };
    Presentation { birth: Birth(1), lineage, writes: 0, moved: false, known: Vec::new() }
}

#[test]
fn clients_learn_that_their_site_reaches_no_quorum_and_that_it_does_again() {
    let mut config = Config::new(SiteId::new(0), build(Kind::Majority, 3).unwrap());
    // It takes part though the others have not registered it.
    config.terms = config.terms.without(Rule::LifeBegins);
    let lease = config.terms.lease;
    let started = SiteWithClients::start(Tick(MS), config, Disk::default(), &Start::default());
    let (mut site, _) = started.unwrap();
    let [first, second] = [1, 2].map(ClientId);
    let open = |id| GatewayInput::Client(id, Packet::Hello(hello(1)));
    let time = || GatewayInput::Site(Input::Time);

    // A site that has just started says nothing yet.
    assert_eq!(said(&site.step(Tick(2 * MS), open(first))), []);
    let renew = Packet::Renew(SessionNo(1), Renewal(1), Seq(0));
    assert_eq!(said(&site.step(Tick(2_000 * MS), GatewayInput::Client(first, renew))), []);
    let none = QuorumStatus { reached: false, answering: 1, sites: 3, needed: 2 };
    assert_eq!(site.deadline(), Some(Tick(MS) + lease.length()));
    assert_eq!(said(&site.step(Tick(3_001 * MS), time())), [none]);
    let denial = Denial::NoQuorum { answering: 1, sites: 3, needed: 2 };
    assert_eq!(none.denial(), Some(denial));
    // A client that comes later is told at once.
    assert_eq!(said(&site.step(Tick(3_002 * MS), open(second))), [none]);

    let peer = SiteId::new(1);
    let packet = |packet| GatewayInput::Site(Input::Packet(peer, packet));
    site.step(Tick(3_100 * MS), GatewayInput::Site(Input::Up(peer)));
    for message in [IdentityMessage::Present(peer_of_another_folder()), registered()] {
        site.step(Tick(3_100 * MS), packet(SitePacket::Identity(message)));
    }
    let welcome: Packet<SiteMessage> = Packet::Welcome(Welcome {
        incarnation: Incarnation(1),
        number: SessionNo(1),
        lease,
        quarantine: Duration::ZERO,
        received: Seq(0),
    });
    let effects = site.step(Tick(3_101 * MS), packet(SitePacket::Session(welcome)));
    let some = QuorumStatus { reached: true, answering: 2, ..none };
    assert_eq!(said(&effects), [some, some], "both clients");
    // The peer does not answer any more.
    let silent = Tick(3_100 * MS) + lease.silence_timeout() + Duration::from_millis(2);
    assert_eq!(said(&site.step(silent, time())), [none, none]);
}

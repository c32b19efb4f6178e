//! A site tells its clients whether it reaches a quorum.

use std::time::Duration;

use quorate_protocol::Tick;
use quorate_quorum::{Kind, SiteId, build};
use quorate_session::client::{ClientId, ClientMessage, QuorumStatus, SiteReply};
use quorate_session::session::{
    ClusterId, Hello, Incarnation, Opening, Packet, Renewal, Seq, Welcome,
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

/// A peer that takes part already connects, and registers the site.
fn meet(site: &mut SiteWithClients, now: Tick, peer: SiteId) {
    let begun = Some(Life { incarnation: Incarnation(1), nonce: 1 });
    let (birth, lineage) = (Birth(peer.index() as u128), Lineage { begun, since: Vec::new() });
    let known = Vec::new();
    let presented = Presentation { birth, lineage, writes: 0, moved: false, known };
    site.step(now, GatewayInput::Site(Input::Up(peer)));
    for message in [IdentityMessage::Present(presented), IdentityMessage::Registered(0, true)] {
        let packet = Input::Packet(peer, SitePacket::Identity(message));
        site.step(now, GatewayInput::Site(packet));
    }
}

#[test]
fn clients_learn_that_their_site_reaches_no_quorum_and_that_it_does_again() {
    let config = Config::new(SiteId::new(0), build(Kind::Majority, 3).unwrap());
    let lease = config.terms.lease;
    let started = SiteWithClients::start(Tick(MS), config, Disk::default(), &Start::default());
    let (mut site, _) = started.unwrap();
    // All are up once, so that it joins its cluster. Then it is alone.
    for peer in [1, 2] {
        meet(&mut site, Tick(MS), SiteId::new(peer));
        site.step(Tick(MS), GatewayInput::Site(Input::Down(SiteId::new(peer))));
    }
    let [first, second] = [1, 2].map(ClientId);
    let open = |id| GatewayInput::Client(id, Packet::Hello(hello(1)));
    let time = || GatewayInput::Site(Input::Time);

    // A site that has just started says nothing yet.
    assert_eq!(said(&site.step(Tick(2 * MS), open(first))), []);
    let renew = Packet::Renew(SessionNo(1), Renewal(1), Seq(0));
    assert_eq!(said(&site.step(Tick(2_000 * MS), GatewayInput::Client(first, renew))), []);
    let none = QuorumStatus { reached: false, joined: true, answering: 1, sites: 3, needed: 2 };
    assert_eq!(site.deadline(), Some(Tick(MS) + lease.length()));
    assert_eq!(said(&site.step(Tick(3_001 * MS), time())), [none]);
    let denial = Denial::NoQuorum { answering: 1, sites: 3, needed: 2 };
    assert_eq!(none.denial(), Some(denial));
    // A client that comes later is told at once.
    assert_eq!(said(&site.step(Tick(3_002 * MS), open(second))), [none]);

    let peer = SiteId::new(1);
    meet(&mut site, Tick(3_100 * MS), peer);
    let welcome: Packet<SiteMessage> = Packet::Welcome(Welcome {
        incarnation: Incarnation(1),
        number: SessionNo(1),
        lease,
        quarantine: Duration::ZERO,
        received: Seq(0),
    });
    let welcome = Input::Packet(peer, SitePacket::Session(welcome));
    let effects = site.step(Tick(3_101 * MS), GatewayInput::Site(welcome));
    let some = QuorumStatus { reached: true, answering: 2, ..none };
    assert_eq!(said(&effects), [some, some], "both clients");
    // The peer does not answer any more.
    let silent = Tick(3_100 * MS) + lease.silence_timeout() + Duration::from_millis(2);
    assert_eq!(said(&site.step(silent, time())), [none, none]);
}

/// Whether the site says to its clients that it is about to stop.
fn says_that_it_drains(effects: &[GatewayEffect]) -> bool {
    effects.iter().any(|effect| match effect {
        GatewayEffect::Client(_, Packet::Down(_, frame)) => {
            matches!(frame.payload, ClientMessage::Reply(SiteReply::Draining(_)))
        }
        _ => false,
    })
}

/// A client that comes while its site has no quorum and is about to stop is told both.
#[test]
fn a_client_that_comes_late_learns_that_its_site_drains_and_has_no_quorum() {
    let config = Config::new(SiteId::new(0), build(Kind::Majority, 3).unwrap());
    let started = SiteWithClients::start(Tick(MS), config, Disk::default(), &Start::default());
    let (mut site, _) = started.unwrap();
    for peer in [1, 2] {
        meet(&mut site, Tick(MS), SiteId::new(peer));
        site.step(Tick(MS), GatewayInput::Site(Input::Down(SiteId::new(peer))));
    }
    site.step(Tick(3_001 * MS), GatewayInput::Site(Input::Time));
    let drain = Input::Drain(Duration::from_mins(1));
    site.step(Tick(3_002 * MS), GatewayInput::Site(drain));
    let hello = GatewayInput::Client(ClientId(1), Packet::Hello(hello(1)));
    let effects = site.step(Tick(3_003 * MS), hello);
    assert_eq!(said(&effects).len(), 1, "{effects:?}");
    assert!(says_that_it_drains(&effects), "{effects:?}");
}

//! How long grants last that depend on a quorum of sessions, or on a delegation.

use std::time::Duration;

use quorate_protocol::{SessionNo, Tick};
use quorate_quorum::{QuorumSystem, SiteId, SiteSet, Threshold};
use quorate_session::session::{
    ClusterId, Durable, Hello, Incarnation, Input, Lease, Opening, Packet, RelativeDeadline,
    Renewal, Roles, Seq, Sessions, Terms, Welcome,
};
use quorate_site::validity::{quorum_validity, should_announce};

fn ms(ms: u64) -> Tick {
    Tick(ms * 1_000_000)
}

fn site(index: usize) -> SiteId {
    SiteId::new(index)
}

/// Site 1 of five, with a session at 2, 3 and 4, opened at 100, 200 and 300.
fn sessions() -> Sessions<char> {
    let peers = (0..5).map(|index| (site(index), Roles::Both));
    let (mut sessions, _) =
        Sessions::start(ms(0), site(0), peers, Terms::default(), Durable::default());
    for peer in 1..4 {
        let now = ms(100 * peer as u64);
        sessions.step(now, Input::Up(site(peer)));
        let welcome = Welcome {
            incarnation: Incarnation(1),
            number: SessionNo(1),
            lease: Lease::default(),
            quarantine: Duration::ZERO,
            received: Seq(0),
        };
        sessions.step(now, Input::Packet(site(peer), Packet::Welcome(welcome)));
    }
    sessions
}

fn lent(sites: &[usize]) -> Vec<(SiteId, SessionNo)> {
    sites.iter().map(|index| (site(*index), SessionNo(1))).collect()
}

#[test]
fn a_grant_lasts_as_long_as_a_quorum_of_its_leases() {
    let (sessions, five) = (sessions(), Threshold::majority(5).unwrap());
    let is_quorum = |sites: &SiteSet| five.is_quorum(sites);
    let good = |sites: &[usize]| quorum_validity(&sessions, ms(300), is_quorum, lent(sites));
    assert_eq!(good(&[1, 2]), None, "two of five");
    assert_eq!(good(&[1, 2, 3]), Some(ms(100 + 2970)));
    assert_eq!(good(&[0, 1, 2, 3]), Some(ms(200 + 2970)), "its own site lasts longest");
    assert_eq!(good(&[0, 1, 4]), None, "no session at 5");
}

#[test]
fn a_permission_of_an_earlier_session_does_not_count() {
    let (sessions, five) = (sessions(), Threshold::majority(5).unwrap());
    let is_quorum = |sites: &SiteSet| five.is_quorum(sites);
    let mut lent = lent(&[0, 1, 2]);
    lent[2].1 = SessionNo(0);
    assert_eq!(quorum_validity(&sessions, ms(300), is_quorum, lent), None);
}

#[test]
fn a_relative_deadline_counts_from_the_receivers_renewal() {
    let (manager, follower) = (site(0), site(1));
    let peers = [(follower, Roles::Server)];
    let (mut giver, _) =
        Sessions::<char>::start(ms(0), manager, peers, Terms::default(), Durable::default());
    let incarnation = Incarnation(1);
    let opening = Opening::New(SessionNo(1));
    let hello = Hello { cluster_id: ClusterId::default(), incarnation, opening };
    assert_eq!(giver.relative_deadline(follower, ms(1000)), None, "no session");
    giver.step(ms(5000), Input::Packet(follower, Packet::Hello(hello)));
    let renew = Packet::Renew(SessionNo(1), Renewal(1), Seq(0));
    giver.step(ms(6000), Input::Packet(follower, renew));
    let down = giver.relative_deadline(follower, ms(8000)).expect("it is not over");
    assert_eq!(down, RelativeDeadline { renewal: Renewal(1), after: Duration::from_secs(2) });
    assert_eq!(giver.relative_deadline(follower, ms(6000)), None, "over when the renewal came");

    // The receiver made that renewal at 1100 of its own clock.
    let mut receiver = sessions();
    receiver.step(ms(1100), Input::Time);
    assert_eq!(receiver.absolute_deadline(site(1), down), Some(ms(1100 + 1980)));
    assert_eq!(
        receiver.absolute_deadline(site(1), RelativeDeadline { renewal: Renewal(9), ..down }),
        None
    );
    assert_eq!(receiver.absolute_deadline(site(4), down), None, "no session");
}

#[test]
fn a_change_by_a_sixth_of_a_lease_is_announced_at_once() {
    let lease = Lease::default();
    assert!(!should_announce(lease, ms(1000), ms(1499)));
    assert!(should_announce(lease, ms(1000), ms(1500)));
    assert!(should_announce(lease, ms(1500), ms(1000)), "also when it shrinks");
}

//! All sessions of a site: deadlines come before inputs and in order; what is written to disk, and
//! when.

use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::session::{
    ClusterId, Durable, Effect, Event, Half, Hello, Incarnation, Input, Lease, Opening, Packet,
    Roles, Seq, Sessions, Terms, Welcome,
};
use quorate_session::{SessionNo, Tick};

const ME: usize = 0;

fn ms(ms: u64) -> Tick {
    Tick(ms * 1_000_000)
}

fn site(index: usize) -> SiteId {
    SiteId::new(index)
}

fn start(disk: Durable) -> (Sessions<char>, Vec<Effect<char>>) {
    let peers = (0..3).map(|index| (site(index), Roles::Both));
    Sessions::start(ms(0), site(ME), peers, Terms::default(), disk)
}

fn hello(incarnation: u64, number: u64) -> Packet<char> {
    let opening = Opening::New(SessionNo(number));
    let incarnation = Incarnation(incarnation);
    Packet::Hello(Hello { cluster_id: ClusterId::default(), incarnation, opening })
}

fn welcome(number: u64) -> Packet<char> {
    Packet::Welcome(Welcome {
        incarnation: Incarnation(1),
        number: SessionNo(number),
        lease: Lease::default(),
        quarantine: Duration::from_secs(1),
        received: Seq(0),
    })
}

fn events(effects: &[Effect<char>]) -> Vec<Event> {
    let event = |effect: &Effect<char>| match effect {
        Effect::Notify(event) => Some(*event),
        _ => None,
    };
    effects.iter().filter_map(event).collect()
}

#[test]
fn the_incarnation_is_on_disk_before_the_first_byte() {
    let disk = Durable { incarnation: Incarnation(4), lease_max: Duration::from_mins(1) };
    let (mut sessions, first) = start(disk);
    let raised = Durable { incarnation: Incarnation(5), ..disk };
    assert_eq!(first, [Effect::Persist(raised)]);
    assert_eq!(sessions.quarantined_until(), ms(60_600), "the longest lease ever agreed to");
    let effects = sessions.step(ms(0), Input::Packet(site(1), hello(1, 1)));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Persist(_))), "3 s is no longer");
}

#[test]
fn a_longer_lease_is_on_disk_before_its_welcome() {
    let (mut sessions, _) = start(Durable::default());
    assert_eq!(sessions.quarantined_until(), ms(0), "there was never a lease");
    let effects = sessions.step(ms(0), Input::Packet(site(1), hello(1, 1)));
    let lease_max = Duration::from_secs(3);
    assert_eq!(effects[0], Effect::Persist(Durable { incarnation: Incarnation(1), lease_max }));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Packet(_, Packet::Welcome(_)))));
    assert_eq!(effects.last(), Some(&Effect::Wake(ms(3000))));
}

#[test]
fn what_is_due_comes_before_the_input_and_in_order() {
    let (mut sessions, _) = start(Durable::default());
    for (at, peer) in [(0, 2), (10, 1)] {
        sessions.step(ms(at), Input::Up(site(peer)));
        sessions.step(ms(at), Input::Packet(site(peer), welcome(1)));
        sessions.step(ms(at), Input::Packet(site(peer), hello(1, 1)));
    }
    // It sleeps for long; then the first packet it reads is a new Hello of site 2.
    let mut effects = sessions.step(ms(9000), Input::Packet(site(1), hello(1, 2)));
    sessions.on_told(site(1), Half::Arbiter, &mut effects);
    let (one, two) = (site(1), site(2));
    assert_eq!(
        events(&effects),
        [
            Event::Silent(two),
            Event::Silent(one),
            Event::Lost(two),
            Event::Lost(one),
            Event::Closed(two),
            Event::Closed(one),
            Event::Opened(one, SessionNo(2)),
        ]
    );
}

#[test]
fn it_asks_to_be_woken_once_for_each_deadline() {
    let (mut sessions, _) = start(Durable::default());
    let effects = sessions.step(ms(0), Input::Packet(site(1), hello(1, 1)));
    assert_eq!(effects.last(), Some(&Effect::Wake(ms(3000))));
    assert_eq!(sessions.step(ms(1), Input::Time), [], "it was asked for before");
    let effects = sessions.step(ms(3000), Input::Time);
    assert_eq!(effects, [Effect::Notify(Event::Closed(site(1)))], "and nothing is due any more");
}

#[test]
fn a_site_and_itself_have_no_session() {
    let (mut sessions, _) = start(Durable::default());
    let me = site(ME);
    let effects = sessions.step(ms(0), Input::Send(me, Half::Arbiter, 'x'));
    assert_eq!(effects, [Effect::Deliver(me, Half::Arbiter, SessionNo(0), 'x')]);
    assert!(sessions.at(me).is_none() && sessions.of(me).is_none());
    assert_eq!(sessions.step(ms(0), Input::Up(me)), []);
}

#[test]
fn a_protocol_sees_both_roles() {
    let (mut sessions, _) = start(Durable::default());
    let peer = site(1);
    sessions.step(ms(0), Input::Up(peer));
    sessions.step(ms(5), Input::Packet(peer, welcome(1)));
    sessions.step(ms(6), Input::Packet(peer, hello(1, 8)));
    let there = sessions.at(peer).expect("it was welcomed");
    assert_eq!((there.number, there.silent), (SessionNo(1), false));
    assert_eq!(there.quarantined_until, ms(5 + 1010), "as the server said, and drift");
    assert_eq!(sessions.of(peer).map(|here| here.number), Some(SessionNo(8)));
    let effects = sessions.step(ms(7), Input::Send(peer, Half::Requester, 'x'));
    assert!(
        matches!(effects[..], [Effect::Packet(_, Packet::Down(SessionNo(8), _))]),
        "{effects:?}"
    );
    let effects = sessions.step(ms(7), Input::Send(peer, Half::Arbiter, 'x'));
    assert!(matches!(effects[..], [Effect::Packet(_, Packet::Up(SessionNo(1), _))]), "{effects:?}");
}

#[test]
fn one_role_only_is_possible() {
    let peers = [(site(1), Roles::Client), (site(2), Roles::Server)];
    let start =
        Sessions::<char>::start(ms(0), site(ME), peers, Terms::default(), Durable::default());
    let (mut sessions, _) = start;
    let effects = sessions.step(ms(0), Input::Up(site(2)));
    assert_eq!(effects, [], "no session there");
    let effects = sessions.step(ms(0), Input::Packet(site(1), hello(1, 1)));
    assert!(events(&effects).is_empty() && sessions.of(site(1)).is_none());
}

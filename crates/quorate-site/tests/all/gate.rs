//! Callers in other processes: their sessions at a site, and what they may believe.

use std::collections::VecDeque;
use std::time::Duration;

use quorate_protocol::Tick;
use quorate_quorum::{Kind, SiteId, build};
use quorate_session::client::{
    Caller, CallerEffect, CallerInput, CallerLoss, ClientId, Parley, Wish,
};
use quorate_session::session::{Packet, Terms};
use quorate_session::{Answer, Card, Denial, Question, Want};
use quorate_site::gate::{Host, HostEffect, HostInput};
use quorate_site::{Config, Disk};

const LEASE: Duration = Duration::from_secs(3);

/// A site alone in its cluster, and two processes with callers.
struct Street {
    host: Host,
    callers: [Caller; 2],
    connected: [bool; 2],
    now: Tick,
    to_host: VecDeque<(usize, Packet<Parley>)>,
    to_caller: VecDeque<(usize, Packet<Parley>)>,
    told: Vec<(usize, CallerEffect)>,
}

fn client(which: usize) -> ClientId {
    ClientId(which as u128 + 7)
}

fn wish(hasty: bool) -> Wish {
    let (name, card) = ("deploy".parse().expect("a good name"), Card::default());
    Wish { name, want: Want::Mutex, card, patience: None, hasty }
}

impl Street {
    fn new() -> Self {
        let config = Config::new(SiteId::new(0), build(Kind::Majority, 1).unwrap());
        let (host, _) = Host::start(Tick(1), config, Disk::default());
        let callers = [0, 1].map(|_| Caller::new(Tick(1), Terms::default()));
        let mut street = Self {
            host,
            callers,
            connected: [false; 2],
            now: Tick(1),
            to_host: VecDeque::new(),
            to_caller: VecDeque::new(),
            told: Vec::new(),
        };
        street.connect(0);
        street.connect(1);
        street
    }

    fn connect(&mut self, which: usize) {
        self.connected[which] = true;
        self.caller(which, CallerInput::Up);
    }

    /// The connection breaks, and what was under way is lost.
    fn cut(&mut self, which: usize) {
        self.connected[which] = false;
        self.caller(which, CallerInput::Down);
        self.host(HostInput::Down(client(which)));
    }

    fn caller(&mut self, which: usize, input: CallerInput) {
        self.caller_alone(which, input);
        self.settle();
    }

    fn caller_alone(&mut self, which: usize, input: CallerInput) {
        for effect in self.callers[which].step(self.now, input) {
            match effect {
                CallerEffect::Packet(packet) => self.to_host.push_back((which, packet)),
                effect => self.told.push((which, effect)),
            }
        }
    }

    fn host(&mut self, input: HostInput) {
        for effect in self.host.step(self.now, input) {
            if let HostEffect::Client(id, packet) = effect {
                self.to_caller.push_back((usize::from(id == client(1)), packet));
            }
        }
    }

    fn settle(&mut self) {
        loop {
            if let Some((which, packet)) = self.to_host.pop_front() {
                if self.connected[which] {
                    self.host(HostInput::Client(client(which), packet));
                }
            } else if let Some((which, packet)) = self.to_caller.pop_front() {
                if self.connected[which] {
                    self.caller_alone(which, CallerInput::Packet(packet));
                }
            } else {
                return;
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let due = self.callers.iter().map(Caller::deadline).chain([self.host.deadline()]);
            let next = due.flatten().min().filter(|when| *when <= end);
            self.now = next.unwrap_or(end);
            self.host(HostInput::Site(quorate_site::Input::Time));
            self.caller(0, CallerInput::Time);
            self.caller(1, CallerInput::Time);
            if next.is_none() {
                return;
            }
        }
    }

    fn until(&self, which: usize) -> Option<Tick> {
        let told = self.told.iter().filter(|(to, _)| *to == which);
        told.filter_map(|(_, effect)| match effect {
            CallerEffect::Granted(.., until) | CallerEffect::Extended(_, until) => Some(*until),
            _ => None,
        })
        .next_back()
    }

    fn has(&self, which: usize, wanted: impl Fn(&CallerEffect) -> bool) -> bool {
        self.told.iter().any(|(to, effect)| *to == which && wanted(effect))
    }

    fn is_granted(&self, which: usize) -> bool {
        self.has(which, |effect| matches!(effect, CallerEffect::Granted(..)))
    }

    fn is_lost(&self, which: usize) -> bool {
        self.has(which, |effect| matches!(effect, CallerEffect::Lost(..)))
    }
}

#[test]
fn a_lock_passes_between_processes_and_is_extended_while_held() {
    let mut street = Street::new();
    street.caller(0, CallerInput::Claim(1, wish(false)));
    street.caller(1, CallerInput::Claim(1, wish(false)));
    assert!(street.is_granted(0) && !street.is_granted(1));
    for _ in 0..20 {
        street.pass(LEASE / 2);
        assert!(street.until(0) > Some(street.now + LEASE / 4));
    }
    street.caller(0, CallerInput::Leave(1));
    assert!(street.is_granted(1) && !street.is_lost(0));
}

#[test]
fn a_process_that_dies_frees_its_lock_after_its_lease() {
    let mut street = Street::new();
    street.caller(0, CallerInput::Claim(1, wish(false)));
    street.caller(1, CallerInput::Claim(1, wish(false)));
    let end = street.until(0).expect("it is inside");
    street.cut(0);
    street.callers[0] = Caller::new(street.now, Terms::default()); // nobody is left
    street.pass(Duration::from_nanos(end.0 - street.now.0));
    assert!(!street.is_granted(1), "the dead process may still believe in it");
    street.pass(LEASE);
    assert!(street.is_granted(1));
}

#[test]
fn a_process_that_is_cut_off_stops_before_its_site_lets_another_in() {
    let mut street = Street::new();
    street.caller(0, CallerInput::Claim(1, wish(false)));
    street.caller(1, CallerInput::Claim(1, wish(false)));
    street.cut(0);
    while !street.is_lost(0) {
        assert!(!street.is_granted(1));
        street.pass(LEASE / 50);
    }
    let unheard = CallerEffect::Lost(1, CallerLoss::Unheard);
    assert!(street.has(0, |effect| *effect == unheard));
    street.pass(LEASE);
    assert!(street.is_granted(1));
}

#[test]
fn a_connection_that_comes_back_in_time_changes_nothing() {
    let mut street = Street::new();
    street.caller(0, CallerInput::Claim(1, wish(false)));
    street.cut(0);
    street.caller(0, CallerInput::Claim(2, wish(false))); // kept, and sent when it is back
    street.pass(LEASE / 2);
    street.connect(0);
    street.pass(2 * LEASE);
    assert!(!street.is_lost(0));
    assert!(street.until(0) > Some(street.now));
    street.caller(0, CallerInput::Leave(1));
    assert!(street.has(0, |effect| matches!(effect, CallerEffect::Granted(2, ..))));
}

#[test]
fn who_waits_is_asked_for_again_in_the_next_session() {
    let mut street = Street::new();
    street.caller(1, CallerInput::Claim(1, wish(false)));
    street.caller(0, CallerInput::Claim(1, wish(false)));
    street.cut(0);
    street.pass(2 * LEASE);
    assert!(street.has(0, |effect| *effect == CallerEffect::Closed));
    street.connect(0);
    street.caller(1, CallerInput::Leave(1));
    assert!(street.is_granted(0));
}

#[test]
fn a_hasty_caller_is_turned_away_at_once() {
    let mut street = Street::new();
    street.caller(0, CallerInput::Claim(1, wish(true)));
    assert!(street.is_granted(0), "nobody is there");
    street.caller(1, CallerInput::Claim(1, wish(true)));
    assert!(street.has(1, |effect| *effect == CallerEffect::Denied(1, Denial::Busy)));
    street.caller(0, CallerInput::Leave(1));
    street.caller(1, CallerInput::Claim(2, wish(true)));
    assert!(street.has(1, |effect| matches!(effect, CallerEffect::Granted(2, ..))));
}

#[test]
fn a_question_is_answered_by_all_sites() {
    let mut street = Street::new();
    street.caller(0, CallerInput::Claim(1, wish(false)));
    street.caller(1, CallerInput::Ask(5, Question::List("dep".into(), 10)));
    assert!(street.has(1, |effect| *effect == CallerEffect::Asked(5, vec![SiteId::new(0)])));
    assert!(street.has(1, |effect| match effect {
        CallerEffect::Answer(5, _, Answer::Listed(views, 0)) => views.len() == 1,
        _ => false,
    }));
}

#[test]
fn what_is_asked_before_there_is_a_session_is_asked_then() {
    let mut street = Street::new();
    street.cut(1);
    street.pass(2 * LEASE);
    street.caller(0, CallerInput::Claim(1, wish(false)));
    let fence = street.told.iter().find_map(|(_, effect)| match effect {
        CallerEffect::Granted(_, fence, ..) => Some(*fence),
        _ => None,
    });
    let (name, by) = (wish(false).name, Card::default());
    let fence = fence.expect("it is inside");
    let broken = quorate_session::Break { name, fence, by, reason: "it hangs".into() };
    street.caller(1, CallerInput::Ask(5, Question::Sites));
    street.caller(1, CallerInput::Break(broken));
    street.connect(1);
    assert!(street.has(1, |effect| matches!(effect, CallerEffect::Answer(5, ..))));
    assert!(street.has(0, |effect| matches!(effect, CallerEffect::Broken(1, ..))));
}

#[test]
fn who_only_wants_to_be_heard_asks_no_other_site() {
    let mut street = Street::new();
    street.caller(0, CallerInput::Ask(5, Question::Heard));
    let alone =
        |effect: &CallerEffect| matches!(effect, CallerEffect::Asked(5, sites) if sites.is_empty());
    assert!(street.has(0, alone));
    assert!(!street.has(0, |effect| matches!(effect, CallerEffect::Answer(..))));
}

//! Client processes: their sessions at a site, and the deadlines that their callers know.

use std::collections::VecDeque;
use std::time::Duration;

use quorate_protocol::Tick;
use quorate_quorum::{Kind, SiteId, build};
use quorate_session::client::{
    CallerLoss, ClientEffect, ClientId, ClientInput, ClientMachine, ClientMessage, ClientRequest,
};
use quorate_session::session::{Packet, Terms, Window};
use quorate_session::{
    Answer, ClaimRequest, Claimant, Denial, ListQuestion, LockSpec, Loss, Question, SiteAnswer,
};
use quorate_site::client_gateway::{GatewayEffect, GatewayInput, SiteWithClients};
use quorate_site::{Config, Disk, Start};

const LEASE: Duration = Duration::from_secs(3);

/// A site alone in its cluster, and two processes with callers.
struct Net {
    site: SiteWithClients,
    clients: [ClientMachine; 2],
    connected: [bool; 2],
    now: Tick,
    to_site: VecDeque<(usize, Packet<ClientMessage>)>,
    to_client: VecDeque<(usize, Packet<ClientMessage>)>,
    effects: Vec<(usize, ClientEffect)>,
    /// Whether the first client does not read, and how much is under way to it.
    deaf: bool,
    unread: usize,
    /// How many packets are still read for now, if that is slow.
    reads: Option<usize>,
}

fn id(which: usize) -> ClientId {
    ClientId(which as u128 + 7)
}

fn request(no_wait: bool) -> ClaimRequest {
    let (name, claimant) = ("deploy".parse().expect("a good name"), Claimant::default());
    ClaimRequest { name, spec: LockSpec::Mutex, claimant, timeout: None, no_wait, since: None }
}

fn claim(call: u64, request: ClaimRequest) -> ClientInput {
    ClientInput::Request(ClientRequest::Claim(call, request))
}

fn leave(call: u64) -> ClientInput {
    ClientInput::Request(ClientRequest::Leave(call))
}

fn ask(number: u64, question: Question) -> ClientInput {
    ClientInput::Request(ClientRequest::Ask(number, question))
}

impl Net {
    fn new() -> Self {
        let config = Config::new(SiteId::new(0), build(Kind::Majority, 1).unwrap());
        let start = Start::default();
        let (site, _) = SiteWithClients::start(Tick(1), config, Disk::default(), &start).unwrap();
        let clients = [0, 1].map(|_| ClientMachine::new(Tick(1), Terms::default()));
        let mut net = Self {
            site,
            clients,
            connected: [false; 2],
            now: Tick(1),
            to_site: VecDeque::new(),
            to_client: VecDeque::new(),
            effects: Vec::new(),
            deaf: false,
            unread: 0,
            reads: None,
        };
        net.connect(0);
        net.connect(1);
        net
    }

    fn connect(&mut self, which: usize) {
        self.connected[which] = true;
        self.client(which, ClientInput::Up);
    }

    /// The connection breaks, and what was under way is lost.
    fn cut(&mut self, which: usize) {
        self.connected[which] = false;
        self.client(which, ClientInput::Down);
        self.step_site(GatewayInput::Down(id(which)));
    }

    fn client(&mut self, which: usize, input: ClientInput) {
        self.client_alone(which, input);
        self.settle();
    }

    fn client_alone(&mut self, which: usize, input: ClientInput) {
        for effect in self.clients[which].step(self.now, input) {
            match effect {
                ClientEffect::Packet(packet) => self.to_site.push_back((which, packet)),
                effect => self.effects.push((which, effect)),
            }
        }
    }

    fn step_site(&mut self, input: GatewayInput) {
        for effect in self.site.step(self.now, input) {
            if let GatewayEffect::Client(to, packet) = effect {
                self.to_client.push_back((usize::from(to == id(1)), packet));
            }
        }
    }

    fn settle(&mut self) {
        loop {
            if let Some((which, packet)) = self.to_site.pop_front() {
                if self.connected[which] {
                    self.step_site(GatewayInput::Client(id(which), packet));
                }
            } else if self.reads != Some(0)
                && let Some((which, packet)) = self.to_client.pop_front()
            {
                self.reads = self.reads.map(|left| left - 1);
                if self.deaf && which == 0 {
                    self.unread += 1;
                } else if self.connected[which] {
                    self.client_alone(which, ClientInput::Packet(packet));
                }
            } else {
                return;
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let due =
                self.clients.iter().map(ClientMachine::deadline).chain([self.site.deadline()]);
            let next = due.flatten().min().filter(|when| *when <= end);
            self.now = next.unwrap_or(end);
            self.step_site(GatewayInput::Site(quorate_site::Input::Time));
            self.client(0, ClientInput::Time);
            self.client(1, ClientInput::Time);
            if next.is_none() {
                return;
            }
        }
    }

    fn until(&self, which: usize) -> Option<Tick> {
        self.clients[which].valid_until(1)
    }

    fn has(&self, which: usize, wanted: impl Fn(&ClientEffect) -> bool) -> bool {
        self.effects.iter().any(|(to, effect)| *to == which && wanted(effect))
    }

    fn is_granted(&self, which: usize) -> bool {
        self.has(which, |effect| matches!(effect, ClientEffect::Granted(..)))
    }

    fn is_lost(&self, which: usize) -> bool {
        self.has(which, |effect| matches!(effect, ClientEffect::Lost(..)))
    }
}

#[test]
fn a_lock_passes_between_processes_and_is_extended_while_held() {
    let mut net = Net::new();
    net.client(0, claim(1, request(false)));
    net.client(1, claim(1, request(false)));
    assert!(net.is_granted(0) && !net.is_granted(1));
    for _ in 0..20 {
        net.pass(LEASE / 2);
        assert!(net.until(0) > Some(net.now + LEASE / 4));
    }
    net.client(0, leave(1));
    assert!(net.is_granted(1) && !net.is_lost(0));
}

#[test]
fn a_process_that_dies_frees_its_lock_after_its_lease() {
    let mut net = Net::new();
    net.client(0, claim(1, request(false)));
    net.client(1, claim(1, request(false)));
    let end = net.until(0).expect("it is inside");
    net.cut(0);
    net.clients[0] = ClientMachine::new(net.now, Terms::default()); // nobody is left
    net.pass(Duration::from_nanos(end.0 - net.now.0));
    assert!(!net.is_granted(1), "the dead process may still believe in it");
    net.pass(LEASE);
    assert!(net.is_granted(1));
}

#[test]
fn a_process_that_is_cut_off_stops_before_its_site_lets_another_in() {
    let mut net = Net::new();
    net.client(0, claim(1, request(false)));
    net.client(1, claim(1, request(false)));
    net.cut(0);
    while !net.is_lost(0) {
        assert!(!net.is_granted(1));
        net.pass(LEASE / 50);
    }
    let unheard = ClientEffect::Lost(1, CallerLoss::Expired);
    assert!(net.has(0, |effect| *effect == unheard));
    net.pass(LEASE);
    assert!(net.is_granted(1));
}

#[test]
fn a_connection_that_comes_back_in_time_changes_nothing() {
    let mut net = Net::new();
    net.client(0, claim(1, request(false)));
    net.cut(0);
    net.client(0, claim(2, request(false))); // kept, and sent when it is back
    net.pass(LEASE / 2);
    net.connect(0);
    net.pass(2 * LEASE);
    assert!(!net.is_lost(0));
    assert!(net.until(0) > Some(net.now));
    net.client(0, leave(1));
    assert!(net.has(0, |effect| matches!(effect, ClientEffect::Granted(2, ..))));
}

#[test]
fn a_waiting_claim_is_made_again_in_the_next_session() {
    let mut net = Net::new();
    net.client(1, claim(1, request(false)));
    net.client(0, claim(1, request(false)));
    net.cut(0);
    net.pass(2 * LEASE);
    assert!(!net.clients[0].is_open());
    net.connect(0);
    net.client(1, leave(1));
    assert!(net.is_granted(0));
}

#[test]
fn a_caller_with_no_wait_is_denied_at_once() {
    let mut net = Net::new();
    net.client(0, claim(1, request(true)));
    assert!(net.is_granted(0), "nobody is there");
    net.client(1, claim(1, request(true)));
    assert!(net.has(1, |effect| *effect == ClientEffect::Denied(1, Denial::Busy)));
    net.client(0, leave(1));
    net.client(1, claim(2, request(true)));
    assert!(net.has(1, |effect| matches!(effect, ClientEffect::Granted(2, ..))));
}

#[test]
fn a_question_is_answered_by_all_sites() {
    let mut net = Net::new();
    net.client(0, claim(1, request(false)));
    net.client(
        1,
        ask(5, Question::List(ListQuestion { prefix: "dep".parse().unwrap(), after: None })),
    );
    assert!(net.has(1, |effect| *effect == ClientEffect::Asked(5, vec![SiteId::new(0)])));
    assert!(net.has(1, |effect| match effect {
        ClientEffect::Answer(5, _, SiteAnswer { answer: Answer::Listed(views, 0), .. }) => {
            views.len() == 1
        }
        _ => false,
    }));
}

#[test]
fn a_question_before_the_session_is_asked_when_it_opens() {
    let mut net = Net::new();
    net.cut(1);
    net.pass(2 * LEASE);
    net.client(0, claim(1, request(false)));
    let fence = net.effects.iter().find_map(|(_, effect)| match effect {
        ClientEffect::Granted(_, fence, ..) => Some(*fence),
        _ => None,
    });
    let (name, by) = (request(false).name, Claimant::default());
    let fence = fence.expect("it is inside");
    let broken =
        quorate_session::BreakRequest { name, fence, by, reason: "it hangs".parse().unwrap() };
    net.client(1, ask(5, Question::Sites));
    net.client(1, ClientInput::Request(ClientRequest::Break(broken)));
    net.connect(1);
    assert!(net.has(1, |effect| matches!(effect, ClientEffect::Answer(5, ..))));
    let broken = |effect: &ClientEffect| match effect {
        ClientEffect::Lost(1, CallerLoss::Reported(Loss::Broken(reason))) => {
            &**reason == "it hangs"
        }
        _ => false,
    };
    assert!(net.has(0, broken));
    assert!(net.until(0) > Some(net.now), "it has time to stop");
}

#[test]
fn a_caller_that_leaves_is_acknowledged() {
    let mut net = Net::new();
    let left = ClientEffect::Left(1);
    net.client(0, claim(1, request(false)));
    net.client_alone(0, leave(1));
    assert!(!net.has(0, |effect| *effect == left), "the site has not heard of it");
    net.settle();
    assert!(net.has(0, |effect| *effect == left));
    net.client(0, claim(2, request(false)));
    net.cut(0);
    net.client(0, leave(2));
    net.pass(LEASE / 2);
    assert!(!net.has(0, |effect| *effect == ClientEffect::Left(2)));
    net.connect(0);
    assert!(net.has(0, |effect| *effect == ClientEffect::Left(2)));
    net.client(1, claim(1, request(true)));
    assert!(net.is_granted(1));
}

#[test]
fn a_loss_is_signalled_by_the_margin_and_once() {
    let mut net = Net::new();
    net.client(0, claim(1, request(false)));
    net.client(0, ClientInput::Margin(1, LEASE / 5));
    net.cut(0);
    while !net.is_lost(0) {
        net.pass(LEASE / 100);
    }
    let left = net.until(0).expect("it is still good").0 - net.now.0;
    let (least, most) = (LEASE * 19 / 100, LEASE / 5);
    assert!((least.as_nanos()..=most.as_nanos()).contains(&left.into()), "{left}");
    net.pass(2 * LEASE);
    let losses = net.effects.iter().filter(|(_, effect)| matches!(effect, ClientEffect::Lost(..)));
    assert_eq!(losses.count(), 1);
}

/// Far more than fits into a stream at a time.
const MANY: u64 = 20_000;

fn numbered(call: u64) -> ClaimRequest {
    ClaimRequest { name: format!("lock {call}").parse().expect("a good name"), ..request(false) }
}

#[test]
fn a_burst_of_claims_waits_for_room() {
    let mut net = Net::new();
    for call in 1..=MANY {
        net.client_alone(0, claim(call, numbered(call)));
    }
    net.settle();
    let inside = (1..=MANY).filter(|&call| net.clients[0].valid_until(call).is_some());
    assert_eq!(inside.count() as u64, MANY);
    net.pass(4 * LEASE);
    assert!(!net.is_lost(0));
    for call in 1..=MANY {
        net.client_alone(0, leave(call));
    }
    net.settle();
    assert_eq!(net.site.site().names().count(), 0);
}

#[test]
fn a_client_that_does_not_read_costs_no_more_than_its_calls() {
    let mut net = Net::new();
    net.cut(0);
    net.connect(0);
    for round in 0..100_u64 {
        net.deaf = true;
        for call in 0..100 {
            let call = round * 100 + call;
            net.client_alone(0, claim(call + 10, numbered(call)));
            net.client_alone(0, leave(call + 10));
        }
        net.settle();
        net.pass(LEASE / 50);
    }
    assert!(net.unread < 2 * 4096, "{} packets are under way to it", net.unread);
}

#[test]
fn grants_are_extended_while_many_replies_wait() {
    let mut net = Net::new();
    net.client(0, claim(1, request(false)));
    let end = net.now + 3 * LEASE;
    let mut calls = 2..;
    while net.now < end {
        for call in calls.by_ref().take(250) {
            net.client_alone(0, claim(call, numbered(call)));
        }
        net.reads = Some(200);
        net.settle();
        net.pass(LEASE / 30);
    }
    let under_way = net.to_client.len();
    assert!(under_way >= Window::DEFAULT.frames() / 4, "it is behind: {under_way}");
    assert!(!net.is_lost(0));
}

//! No message that can be made is larger than a frame, and none is larger than it says.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quorate_protocol::token::{Message as TokenMessage, Token};
use quorate_protocol::{ClaimId, Fence, Fences, SessionNo, Ticket, group, mutex, pool};
use quorate_quorum::{Kind as QuorumKind, SiteId, build};
use quorate_session::client::{ClientId, ClientMessage, ClientRequest, SiteReply};
use quorate_session::session::{Frame, Packet, Payload, RelativeDeadline, Renewal, Seq};
use quorate_session::{
    Answer, AskId, BreakRequest, CallId, ClaimRequest, Claimant, Denial, Granted, Group, GroupSpec,
    Groups, HostText, Kind, ListQuestion, LockSpec, Loss, Name, OwnerText, PeerReport, PoolSpec,
    PurposeText, Question, ReasonText, ResourceView, Role, RoleSpec, SiteAnswer, SiteReport, Tick,
    Units, limits,
};
use quorate_site::kinds::ProtocolMessage;
use quorate_site::{
    Addressed, Config, Delegation, Disk, Effect, Input, Site, SiteMessage, SitePacket, Start,
};
use quorate_wire::{Decoder, MAX_FRAME, encode};
use serde::Serialize;

fn long_name() -> Name {
    "n".repeat(limits::NAME_BYTES).parse().unwrap()
}

fn longest_claimant() -> Claimant {
    Claimant {
        owner: OwnerText::new("owner", &"o".repeat(limits::OWNER_BYTES)).unwrap(),
        host: HostText::new("host", &"h".repeat(limits::HOST_BYTES)).unwrap(),
        pid: u32::MAX,
        purpose: PurposeText::new("purpose", &"p".repeat(limits::PURPOSE_BYTES)).unwrap(),
    }
}

fn longest_reason() -> ReasonText {
    ReasonText::new("reason", &"r".repeat(limits::REASON_BYTES)).unwrap()
}

/// As many groups as a claim may have, with names as long as they may be together.
fn most_groups() -> Vec<Group> {
    let bytes = limits::GROUPS_BYTES / limits::GROUPS;
    (0..limits::GROUPS).map(|at| Group::new(&format!("{at:0bytes$}"))).collect()
}

fn role_spec() -> LockSpec {
    let groups: BTreeMap<Group, Role> =
        most_groups().into_iter().map(|group| (group, Role::Exclusive)).collect();
    LockSpec::Role(RoleSpec { groups, time: limits::DECLARED_TIME })
}

fn group_spec() -> LockSpec {
    LockSpec::Group(GroupSpec(most_groups().into_iter().collect()))
}

fn claim(spec: LockSpec) -> ClaimRequest {
    let (name, claimant, timeout) = (long_name(), longest_claimant(), Some(Duration::MAX));
    ClaimRequest { name, spec, claimant, timeout, no_wait: true, since: Some(u64::MAX) }
}

fn ticket(site: usize) -> Ticket {
    Ticket { time: u64::MAX, site: SiteId::new(site), claim: ClaimId(u32::MAX) }
}

fn all_sites<T: FromIterator<SiteId>>() -> T {
    SiteId::all(limits::SITES).collect()
}

fn all_units() -> BTreeSet<u32> {
    (0..limits::UNITS).collect()
}

fn break_request() -> BreakRequest {
    let (name, fence) = (long_name(), Fence(u64::MAX));
    BreakRequest { name, fence, by: longest_claimant(), reason: longest_reason() }
}

fn deadline() -> RelativeDeadline {
    RelativeDeadline { renewal: Renewal(u64::MAX), after: Duration::MAX }
}

/// How many pools have a name of their own.
const POOLS: usize = 8;

/// The answers of a site that has as many callers, with as much to say, as it may have.
fn longest_answers() -> Vec<Answer> {
    let mut config = Config::new(SiteId::new(0), build(QuorumKind::Majority, 1).unwrap());
    config.local_turns = 1;
    let start = Start { birth: 7, nonce: 9, ..Start::default() };
    let (mut site, _) = Site::start(Tick::ZERO, config, Disk::default(), &start).unwrap();
    let mut calls = 0;
    let mut claim_it = |site: &mut Site, name: &str, spec: LockSpec| {
        calls += 1;
        let request = ClaimRequest { name: name.parse().unwrap(), no_wait: false, ..claim(spec) };
        site.step(Tick(5), Input::Claim(CallId(calls), ClientId(7), request));
    };
    let whole = Units { count: limits::UNITS, of: limits::UNITS };
    for at in 0..3 * limits::CALLERS_SHOWN {
        claim_it(&mut site, "pool", LockSpec::Pool(PoolSpec { units: whole, numbered: true }));
        claim_it(&mut site, "role", role_spec());
        claim_it(&mut site, "group", group_spec());
        claim_it(&mut site, "mutex", LockSpec::Mutex);
        let name = format!("{at:0width$}", width = limits::NAME_BYTES);
        claim_it(&mut site, &name, role_spec());
    }
    for at in 0..POOLS {
        let name = format!("pool {at:0width$}", width = limits::NAME_BYTES - 5);
        claim_it(&mut site, &name, LockSpec::Pool(PoolSpec { units: whole, numbered: true }));
    }
    let names = ["pool", "role", "group", "mutex"].map(|name| name.parse::<Name>().unwrap());
    let mut questions: Vec<_> = names.map(|name| Question::Show(name, None)).into();
    questions.push(Question::List(ListQuestion::default()));
    let of_pools = ListQuestion { prefix: "pool".parse().unwrap(), after: None };
    questions.push(Question::List(of_pools));
    let answer = |(question, number)| {
        let effects = site.step(Tick(6), Input::Ask(AskId(number), question));
        effects.into_iter().find_map(|effect| match effect {
            Effect::Answer(_, _, answer, _) => Some(answer),
            _ => None,
        })
    };
    questions.into_iter().zip(1..).map(answer).map(Option::unwrap).collect()
}

fn sites_answer() -> Answer {
    let peers: Vec<PeerReport> = all_sites::<Vec<SiteId>>()
        .into_iter()
        .map(|site| PeerReport { site, open: true, silent: true, opened: true })
        .collect();
    Answer::Site(Box::new(SiteReport {
        incarnation: u64::MAX,
        quarantine: Duration::MAX,
        resources: usize::MAX,
        calls: usize::MAX,
        quorum: usize::MAX,
        peers,
        joined: true,
    }))
}

/// A token that all sites wait for, each with groups of its own. Only its holder can make one, so
/// it is decoded.
fn longest_token() -> Token {
    let width = limits::GROUPS_BYTES / limits::GROUPS;
    let groups = (0..limits::SITES).flat_map(|site| {
        (0..limits::GROUPS).map(move |at| {
            let name = format!("{:0width$}", site * limits::GROUPS + at);
            (name, vec![(SiteId::new(site), u64::MAX)])
        })
    });
    let served: BTreeMap<SiteId, u64> =
        all_sites::<Vec<_>>().into_iter().map(|site| (site, u64::MAX)).collect();
    let mut bytes = Vec::new();
    encode(&((u64::MAX, u64::MAX), groups.collect::<Vec<_>>(), served), &mut bytes).unwrap();
    let mut decoder = Decoder::default();
    decoder.extend(&bytes);
    decoder.next().unwrap().unwrap()
}

fn protocol_messages() -> Vec<(Kind, ProtocolMessage)> {
    let fences = Fences { floor: Fence(u64::MAX), ceil: Fence(u64::MAX) };
    let groups: Groups = most_groups().into_iter().collect();
    let waiting = (0..32).map(|site| (ticket(site), groups.clone())).collect();
    vec![
        (
            Kind::Mutex,
            mutex::Message::Request { ticket: ticket(1), held: true, cut: all_sites() }.into(),
        ),
        (
            Kind::Pool(limits::UNITS),
            pool::Message::Request {
                ticket: ticket(1),
                units: limits::UNITS,
                held: true,
                numbers: all_units(),
                no_wait: true,
                attempt: pool::TryNo(u64::MAX),
            }
            .into(),
        ),
        (
            Kind::Pool(limits::UNITS),
            pool::Message::Name { ticket: ticket(1), numbers: all_units() }.into(),
        ),
        (
            Kind::Group,
            group::Message::Ok { ticket: ticket(1), fences, waiting, clock: u64::MAX }.into(),
        ),
        (Kind::Token, TokenMessage::Token { token: longest_token(), until: None }.into()),
    ]
}

#[track_caller]
fn assert_fits(what: &str, packet: &impl Serialize, most: usize, says: usize) {
    let mut bytes = Vec::new();
    encode(packet, &mut bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(bytes.len() <= most, "{what} has {} bytes, of {most}", bytes.len());
    // The frame has its length, a tag, three numbers; a packet of a site one tag more.
    let around = 4 + 2 + 3 * 10;
    assert!(bytes.len() <= says + around, "{what} has {} bytes, and says {says}", bytes.len());
}

fn framed<M>(payload: M) -> Frame<M> {
    Frame { seq: Seq(u64::MAX), received: Seq(u64::MAX), payload }
}

#[test]
fn the_largest_requests_of_clients_fit_into_their_frames() {
    let list = ListQuestion {
        prefix: "p".repeat(limits::NAME_BYTES).parse().unwrap(),
        after: Some(long_name()),
    };
    let requests = [
        ClientRequest::Claim(u64::MAX, claim(role_spec())),
        ClientRequest::Claim(u64::MAX, claim(group_spec())),
        ClientRequest::Leave(u64::MAX),
        ClientRequest::Ask(u64::MAX, Question::List(list)),
        ClientRequest::Ask(u64::MAX, Question::Show(long_name(), Some(Fence(u64::MAX)))),
        ClientRequest::Break(break_request()),
    ];
    for (request, at) in requests.into_iter().zip(1..) {
        let (what, message) = (format!("request {at}"), ClientMessage::Request(request));
        let says = message.bytes();
        let packet = Packet::Up(SessionNo(u64::MAX), framed(message));
        assert_fits(&what, &packet, limits::CLIENT_FRAME_BYTES, says);
    }
}

#[test]
fn the_largest_replies_to_clients_fit_into_a_frame() {
    let owner = Some(longest_claimant());
    let other = Denial::OtherKind { kind: Kind::Pool(u32::MAX), by: SiteId::new(127), owner };
    let call = u64::MAX;
    let mut replies = vec![
        SiteReply::Granted(call, Fence(call), Granted::Pool(all_units()), deadline()),
        SiteReply::Broken(call, deadline(), longest_reason()),
        SiteReply::Lost(call, Loss::Broken(longest_reason())),
        SiteReply::Denied(call, other),
        SiteReply::Denied(call, Denial::Groups(longest_reason())),
        SiteReply::Asked(call, all_sites()),
    ];
    let answers = longest_answers().into_iter().chain([sites_answer()]);
    let answers = answers.map(|answer| SiteAnswer { answer, quarantined: true, enough: true });
    replies.extend(answers.map(|answer| SiteReply::Answer(call, SiteId::new(127), answer)));
    for (reply, at) in replies.into_iter().zip(1..) {
        let (what, message) = (format!("reply {at}"), ClientMessage::Reply(reply));
        let says = message.bytes();
        let packet = Packet::Down(SessionNo(u64::MAX), framed(message));
        assert_fits(&what, &packet, MAX_FRAME, says);
    }
}

#[test]
fn the_largest_messages_of_sites_fit_into_a_frame() {
    let delegation = |at: usize| {
        let (about, session) = (ticket(at % limits::SITES), SessionNo(u64::MAX));
        (long_name(), Delegation { about, session, until: deadline() })
    };
    let addressed = |(kind, message)| Addressed { name: long_name(), kind, message };
    let answers = longest_answers().into_iter().chain([sites_answer()]);
    let mut messages: Vec<SiteMessage> =
        answers.map(|answer| SiteMessage::Answer(AskId(u64::MAX), answer, true)).collect();
    messages.extend(protocol_messages().into_iter().map(addressed).map(SiteMessage::Protocol));
    messages.extend([
        SiteMessage::Delegations((0..256).map(delegation).collect()),
        SiteMessage::Break(break_request(), SiteId::new(127)),
        SiteMessage::Ask(AskId(u64::MAX), Question::Show(long_name(), Some(Fence(u64::MAX)))),
        SiteMessage::Refused {
            name: long_name(),
            ticket: ticket(127),
            kind: Kind::Pool(u32::MAX),
            owner: Some(longest_claimant()),
        },
    ]);
    for (message, at) in messages.into_iter().zip(1..) {
        let (what, says) = (format!("message {at}"), message.bytes());
        let packet = SitePacket::Session(Packet::Up(SessionNo(u64::MAX), framed(message)));
        assert_fits(&what, &packet, MAX_FRAME, says);
    }
}

/// A view that is cut says how much is missing.
#[test]
fn long_answers_are_cut_and_count_the_rest() {
    let answers = longest_answers();
    let callers = 3 * limits::CALLERS_SHOWN;
    for answer in &answers[..4] {
        let Answer::Shown(Some(view)) = answer else { panic!("it is shown") };
        let ResourceView { calls, more, .. } = &**view;
        assert!((1..=limits::CALLERS_SHOWN).contains(&calls.len()), "{}", calls.len());
        assert_eq!(calls.len() + more.callers(), callers, "{}", view.name);
    }
    let Answer::Listed(views, more) = &answers[4] else { panic!("it is listed") };
    assert!(!views.is_empty());
    assert_eq!(views.len() + *more as usize, callers + POOLS + 4);
}

/// The table of limits in the manual has these numbers.
#[test]
fn the_manual_has_the_limits() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating.md");
    let manual = std::fs::read_to_string(path).unwrap();
    let bytes = |count: usize| match count {
        0..=9999 => format!("{count} bytes"),
        10_000..=1_000_000 => format!("{} KiB", count >> 10),
        _ => format!("{} MiB", count >> 20),
    };
    let rows = [
        ("name of a lock or group; prefix", bytes(limits::NAME_BYTES)),
        ("owner, host", bytes(limits::OWNER_BYTES.max(limits::HOST_BYTES))),
        ("purpose; value of an election", bytes(limits::PURPOSE_BYTES)),
        ("reason for breaking a grant", bytes(limits::REASON_BYTES)),
        ("groups of one claim", format!("{}", limits::GROUPS)),
        ("names of all groups of one claim", bytes(limits::GROUPS_BYTES)),
        ("units of a pool", format!("{}", limits::UNITS)),
        ("claims of one client at its site", format!("{}", limits::CLAIMS_PER_CLIENT)),
        ("text in all claims of one client", bytes(limits::CLAIMS_BYTES_PER_CLIENT)),
        ("questions of one client that wait", format!("{}", limits::QUESTIONS_PER_CLIENT)),
        ("questions that a site asks at once", format!("{}", limits::QUESTIONS_AT_ONCE)),
        ("callers of a site that `show` and `explain` list", format!("{}", limits::CALLERS_SHOWN)),
        ("locks in a page of a list", format!("{}", limits::LOCKS_LISTED)),
        ("sites of a cluster", format!("{}", limits::SITES)),
        ("frame between sites, and to a client", bytes(limits::FRAME_BYTES)),
        ("frame of a client", bytes(limits::CLIENT_FRAME_BYTES)),
        ("first frame of a connection", bytes(limits::HANDSHAKE_BYTES)),
        ("bytes that a client leaves unread", bytes(limits::UNREAD_BYTES)),
        ("bytes that another site leaves unread", bytes(limits::UNREAD_BYTES_SITE)),
    ];
    for (what, most) in rows {
        let row = format!("| {what} | {most} |");
        assert!(manual.contains(&row), "docs/operating.md lacks `{row}`");
    }
}

//! What claims cost: the messages of protocols between sites.

use std::time::Duration;

use quorate_session::session::Packet;
use quorate_session::{CallId, Group, LockSpec, TokenSpec};
use quorate_site::{SiteMessage, SitePacket};

use crate::site::net::Net;

fn sent(net: &Net, n: usize) -> u64 {
    (0..n).map(|site| net.site(site).messages_sent()).sum()
}

fn enter(net: &mut Net, site: usize) -> CallId {
    let spec = LockSpec::Token(TokenSpec([Group::new("a")].into_iter().collect()));
    let call = net.claim_as(site, "warehouse", spec, None);
    assert!(net.grant(call).is_some(), "nobody else is inside");
    call
}

/// Cao & Singhal: request, reply and release, to and from all of the quorum but the site itself.
#[test]
fn a_mutex_that_nobody_else_wants_takes_three_messages_for_each_other_member() {
    for (n, quorum) in [(1, 1), (3, 2), (5, 3), (7, 4)] {
        let mut net = Net::new(n);
        let before = sent(&net, n);
        let call = net.claim(0, "deploy");
        assert!(net.grant(call).is_some());
        net.leave(0, call);
        assert_eq!(sent(&net, n) - before, 3 * (quorum - 1), "{n} sites");
    }
}

#[test]
fn an_idle_holder_of_the_token_takes_none_and_its_renewals_do_not_count() {
    let mut net = Net::new(3);
    for _ in 0..2 {
        let call = enter(&mut net, 0);
        net.leave(0, call);
    }
    let before = sent(&net, 3);
    assert!(before > 0, "the first had to make a token");
    net.record = Some(Vec::new());
    let call = enter(&mut net, 0);
    net.pass(Duration::from_secs(3));
    net.leave(0, call);
    let site_message = net.record.take().unwrap_or_default();
    assert!(site_message.iter().any(is_renewal), "a lease has gone by");
    assert_eq!(sent(&net, 3), before);
}

fn is_renewal(packet: &SitePacket) -> bool {
    let SitePacket::Session(packet) = packet else { return false };
    let (Packet::Up(_, frame) | Packet::Down(_, frame)) = packet else { return false };
    let SiteMessage::Protocol(addressed) = &frame.payload else { return false };
    addressed.message.to_string().starts_with("register ")
}

/// Swaroop & Singh: a request to each that may have the token, and the token.
#[test]
fn a_token_that_is_idle_elsewhere_takes_the_requests_and_itself() {
    let mut net = Net::new(3);
    let call = enter(&mut net, 0);
    net.leave(0, call);
    let mut cost = |site: usize| {
        let before = sent(&net, 3);
        let call = enter(&mut net, site);
        net.leave(site, call);
        sent(&net, 3) - before
    };
    assert_eq!(cost(1), 3, "either of the others may have it");
    assert_eq!(cost(0), 2, "it has heard of nobody but site 2 since it gave it away");
}

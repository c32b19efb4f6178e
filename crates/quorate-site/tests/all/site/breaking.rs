//! Ending a grant that its holder does not release.

use std::time::Duration;

use quorate_protocol::Fence;
use quorate_quorum::SiteId;
use quorate_session::Loss;
use quorate_site::{Audit, Effect};

use crate::site::net::Net;

const LEASE: Duration = Duration::from_secs(3);

#[test]
fn a_broken_grant_ends_within_a_lease_and_the_next_comes_after_it() {
    let mut net = Net::new(3);
    let (stuck, next) = (net.claim(0, "deploy"), net.claim(1, "deploy"));
    let fence = net.grant(stuck).unwrap().fence;
    net.break_it(2, "deploy", fence);
    let ends = net.effects.iter().find_map(|(site, effect)| match effect {
        Effect::Broken(call, until, reason) if *call == stuck => {
            assert_eq!((*site, &**reason), (0, "it hangs"));
            Some(*until)
        }
        _ => None,
    });
    let ends = ends.expect("the holder is told at once");
    assert!(ends <= net.now + LEASE);
    assert!(net.grant(next).is_none(), "the holder is still valid");
    net.pass(Duration::from_nanos(ends.0 - net.now.0 - 1));
    assert_eq!((net.loss(stuck), net.grant(next)), (None, None));
    net.pass(Duration::from_nanos(1));
    assert_eq!(net.loss(stuck), Some(Loss::Broken("it hangs".parse().unwrap())));
    assert!(net.grant(next).is_some_and(|grant| grant.fence > fence));
}

#[test]
fn a_holder_that_leaves_when_told_makes_way_at_once() {
    let mut net = Net::new(3);
    let (stuck, next) = (net.claim(0, "deploy"), net.claim(1, "deploy"));
    net.break_it(0, "deploy", net.grant(stuck).unwrap().fence);
    net.leave(0, stuck);
    assert!(net.grant(next).is_some());
    net.pass(2 * LEASE);
    assert_eq!(net.loss(stuck), None, "it had left");
    assert_eq!(net.loss(next), None);
}

#[test]
fn another_fence_is_left_alone_and_asking_is_audited() {
    let mut net = Net::new(3);
    let holder = net.claim(0, "deploy");
    let fence = net.grant(holder).unwrap().fence;
    net.break_it(1, "deploy", Fence(fence.0 + 1));
    net.pass(2 * LEASE);
    assert_eq!(net.loss(holder), None);
    net.break_it(1, "deploy", fence);
    let audits: Vec<String> = net.effects.iter().filter_map(audit).collect();
    assert_eq!(audits, ["1 asked", "1 asked", "0 ending", "1 heard of 1"]);
}

fn audit((site, effect): &(usize, Effect)) -> Option<String> {
    let Effect::Audit(audit) = effect else { return None };
    Some(match audit {
        Audit::Asked(order) => {
            assert_eq!(&*order.by.owner, "operator");
            format!("{site} asked")
        }
        Audit::Ending(..) => format!("{site} ending"),
        Audit::Acknowledged(_, from) => {
            assert_eq!(*from, SiteId::new(0));
            format!("{site} heard of {from}")
        }
    })
}

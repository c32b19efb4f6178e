//! Followers of a group lock are inside by a delegation of one site, until its deadline.

use std::time::Duration;

use quorate_protocol::Tick;
use quorate_session::{Access, Denial, Granted, Group, GroupSpec, LockSpec, Role, RoleSpec};
use quorate_site::Effect;
use quorate_site::role::Overrun;

use crate::site::net::Net;

const LEASE: Duration = Duration::from_secs(3);

fn any(groups: &[&str]) -> LockSpec {
    LockSpec::Group(GroupSpec(groups.iter().map(|name| Group::new(name)).collect()))
}

#[test]
fn many_are_inside_with_one_group_and_share_its_fence() {
    let mut net = Net::new(3);
    let pivot = net.claim_as(0, "warehouse", any(&["v2"]), None);
    let calls = [0, 1, 2].map(|site| net.claim_as(site, "warehouse", any(&["v2", "v3"]), None));
    let other = net.claim_as(1, "warehouse", any(&["v3"]), None);
    let fence = net.grant(pivot).expect("nobody is inside").fence;
    for call in calls {
        let grant = net.grant(call).expect("it can join");
        assert_eq!((grant.fence, grant.granted), (fence, Granted::Group(Group::new("v2"))));
    }
    assert_eq!(net.grant(other), None);
    for (site, call) in [(0, pivot), (0, calls[0]), (1, calls[1]), (2, calls[2])] {
        assert_eq!(net.grant(other), None, "somebody is inside still");
        net.leave(site, call);
    }
    assert!(net.grant(other).is_some_and(|grant| grant.fence > fence));
    net.leave(1, other);
    for site in 0..3 {
        assert_eq!(net.site(site).names().count(), 0, "nothing is left at site {site}");
    }
}

#[test]
fn readers_read_together_and_a_writer_writes_alone() {
    let mut net = Net::new(3);
    let access = |access| LockSpec::Access(access);
    let readers = [0, 1].map(|site| net.claim_as(site, "index", access(Access::Read), None));
    let writers = [1, 1].map(|site| net.claim_as(site, "index", access(Access::Write), None));
    assert!(readers.iter().all(|reader| net.grant(*reader).is_some()));
    net.leave(0, readers[0]);
    net.leave(1, readers[1]);
    assert!(net.grant(writers[0]).is_some());
    assert_eq!(net.grant(writers[1]), None, "each is a group of its own");
    net.leave(1, writers[0]);
    assert!(net.grant(writers[1]).is_some());
}

#[test]
fn invalid_groups_are_denied() {
    let mut net = Net::new(1);
    let many: Vec<String> = (0..33).map(|group| group.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (groups, why) in [
        (&[][..], "invalid groups: there is none"),
        (&["a", ""], "invalid groups: of one, invalid name: it is empty"),
        (&many, "invalid groups: there are 33; at most 32 are allowed"),
    ] {
        let call = net.claim_as(0, "warehouse", any(groups), None);
        assert_eq!(net.denial(call).map(|denial| denial.to_string()).as_deref(), Some(why));
    }
}

#[test]
fn a_group_lock_and_a_read_write_lock_are_two_kinds() {
    let mut net = Net::new(1);
    let holder = net.claim_as(0, "index", any(&["a"]), None);
    assert!(net.grant(holder).is_some());
    let reader = net.claim_as(0, "index", LockSpec::Access(Access::Read), None);
    assert!(matches!(net.denial(reader), Some(Denial::OtherKind { .. })));
}

/// The latest deadline that a caller was told.
fn known_deadline(net: &Net, call: quorate_session::CallId) -> Tick {
    let ends = net.effects.iter().filter_map(|(_, effect)| match effect {
        Effect::Grant(to, grant) if *to == call => Some(grant.until),
        Effect::Degraded(to, until) if *to == call => Some(*until),
        _ => None,
    });
    ends.max().unwrap_or(Tick::ZERO)
}

#[test]
fn a_follower_stays_while_all_is_well_and_is_extended_in_time() {
    for sites in [3, 5, 7] {
        let mut net = Net::new(sites);
        let pivot = net.claim_as(0, "warehouse", any(&["a"]), None);
        let followers: Vec<_> = (0..sites)
            .map(|site| (site, net.claim_as(site, "warehouse", any(&["a"]), None)))
            .collect();
        for _ in 0..40 {
            net.pass(LEASE / 7);
            for &(site, call) in &followers {
                assert_eq!(net.loss(call), None, "{sites} sites");
                let (known, true_end) =
                    (known_deadline(&net, call), net.site(site).valid_until(call));
                assert!(known > net.now + LEASE / 3, "{sites} sites: it is told in time");
                assert!(true_end.is_some_and(|end| known <= end), "never more than is true");
            }
        }
        // The session lasts until all have left, though its pivot has gone before.
        net.leave(0, pivot);
        net.pass(LEASE * 3);
        assert!(followers.iter().all(|(_, call)| net.loss(*call).is_none()), "{sites} sites");
    }
}

/// The pivot's site is cut off: it does not know who else is inside, nor do they know if it is.
#[test]
fn a_follower_has_stopped_when_the_next_group_enters() {
    for sites in [3, 5] {
        let mut net = Net::new(sites);
        let pivot = net.claim_as(0, "warehouse", any(&["a"]), None);
        let followers: Vec<_> = (1..sites)
            .map(|site| (site, net.claim_as(site, "warehouse", any(&["a"]), None)))
            .collect();
        net.pass(LEASE);
        let other = net.claim_as(1, "warehouse", any(&["b"]), None);
        for site in 1..sites {
            net.cut(0, site);
            net.cut(site, 0);
        }
        while net.grant(other).is_none() {
            net.pass(LEASE / 60);
            assert!(net.now < Tick::ZERO + LEASE * 10, "{sites} sites: the next group comes in");
        }
        assert!(net.loss(pivot).is_some(), "{sites} sites");
        for (_, call) in followers {
            assert!(net.loss(call).is_some(), "{sites} sites");
            assert!(
                known_deadline(&net, call) < net.now,
                "{sites} sites: nobody believes to be inside"
            );
        }
    }
}

/// A caller with `no_wait` is denied by the managers, not by the clock.
#[test]
fn a_caller_with_no_wait_joins_or_is_denied() {
    let mut net = Net::new(3);
    let (free, joining) =
        (net.no_wait(1, "warehouse", any(&["a"])), net.no_wait(2, "warehouse", any(&["a"])));
    assert!(net.grant(free).is_some() && net.grant(joining).is_some());
    let other = net.no_wait(0, "warehouse", any(&["b"]));
    assert_eq!(net.denial(other), Some(Denial::Busy));
}

/// All grants of an occupancy have one fence, so they end together, wherever they are.
#[test]
fn breaking_an_occupancy_ends_all_its_grants() {
    let mut net = Net::new(3);
    let inside = [0, 1, 2].map(|site| net.claim_as(site, "warehouse", any(&["a"]), None));
    let other = net.claim_as(1, "warehouse", any(&["b"]), None);
    let fence = net.grant(inside[0]).expect("nobody is inside").fence;
    net.break_it(2, "warehouse", fence);
    net.pass(LEASE * 2);
    for call in inside {
        assert_eq!(
            net.loss(call).map(|loss| loss.to_string()),
            Some("it was broken: it hangs".into())
        );
    }
    assert!(net.grant(other).is_some_and(|grant| grant.fence > fence));
}

/// A member that stays for longer than it declared is told to leave, or keeps others waiting.
#[test]
fn a_member_that_overstays_is_treated_as_configured() {
    for (overrun, leaves) in [(Overrun::Revoke, true), (Overrun::Tolerate, false)] {
        let mut net = Net::with(3, |config| config.settings.role.overrun = overrun);
        let member = |group| {
            let groups = [(Group::new(group), Role::Exclusive)].into();
            LockSpec::Role(RoleSpec { groups, time: LEASE })
        };
        let long = net.claim_as(0, "table", member("a"), None);
        let next = net.claim_as(1, "table", member("b"), None);
        assert!(net.grant(long).is_some());
        net.pass(LEASE * 9 / 10);
        assert_eq!(net.loss(long), None, "it has time left");
        net.pass(LEASE * 3);
        assert_eq!(net.loss(long).is_some(), leaves, "{overrun:?}");
        assert_eq!(net.grant(next).is_some(), leaves, "{overrun:?}");
    }
}

//! Pools: both protocols, and ledgers that are long.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::{Denial, LockSpec, PoolSpec, ResourceView, Standing, Units, explain};
use quorate_site::kinds::PoolProtocol;

use super::net::{Net, name};

fn units(count: u32, of: u32) -> LockSpec {
    LockSpec::Pool(PoolSpec { units: Units { count, of }, numbered: true })
}

fn by(n: usize, pools: PoolProtocol) -> Net {
    Net::with(n, |config| config.settings.pools = pools)
}

/// How many of eight claims of one unit of eight are granted at five sites, two of which are down.
fn granted_without_two(pools: PoolProtocol) -> usize {
    let mut net = by(5, pools);
    net.crash(4);
    net.crash(3);
    net.pass(Duration::from_secs(3));
    let calls: Vec<_> =
        (0..8).map(|call| net.claim_as(call % 3, "gpu", units(1, 8), None)).collect();
    calls.into_iter().filter(|call| net.grant(*call).is_some()).count()
}

#[test]
fn a_ledger_pool_goes_on_without_a_minority_and_a_pool_by_arbiters_does_not() {
    assert_eq!(granted_without_two(PoolProtocol::Ledger), 8);
    assert_eq!(granted_without_two(PoolProtocol::Arbiters), 0, "it needs all five sites");
}

/// The sites send each other whole ledgers of more units than a part has.
#[test]
fn thousands_of_holders_are_no_message_that_is_too_long() {
    const HOLDERS: u32 = 2_500;
    let mut net = Net::new(3);
    for holder in 0..HOLDERS {
        net.claim_as(holder as usize % 2, "gpu", units(8, 8 * (HOLDERS + 1)), None);
    }
    let last = net.claim_as(2, "gpu", units(8, 8 * (HOLDERS + 1)), None);
    let late = net.claim_as(2, "gpu", units(1, 8 * (HOLDERS + 1)), None);
    assert!(net.grant(last).is_some() && net.grant(late).is_none());
    net.pass(Duration::from_secs(2)); // all register everywhere
    for (site, peer) in [(0, 1), (1, 2), (2, 0)] {
        assert!(net.site(site).sessions().goes_on(SiteId::new(peer)), "{site} to {peer}");
    }
    net.leave(2, last);
    assert!(net.grant(late).is_some());
}

/// A request with all permissions waits for units: for those inside.
#[test]
fn a_request_at_the_door_is_explained_by_those_inside() {
    let mut net = Net::new(3);
    let holder = net.claim_as(0, "gpu", units(3, 4), None);
    let waiters = [1, 1, 2].map(|site| net.claim_as(site, "gpu", units(2, 4), None));
    let fence = net.grant(holder).expect("it was the first").fence;
    let views: BTreeMap<SiteId, ResourceView> = SiteId::all(3)
        .filter_map(|site| Some((site, net.site(site.index()).show(&name("gpu"))?)))
        .collect();
    let standings = explain(&views);
    let inside = standings[0].request;
    assert!(standings[0].inside && standings[0].blocked_by.is_empty(), "{fence}");
    assert_eq!(standings.len(), 1 + waiters.len());
    assert!(standings[1].blocked_by.contains(&inside), "it is at the door");
    let first = standings[1].request;
    let is_behind = |standing: &&Standing| standing.blocked_by.contains(&first);
    assert_eq!(standings[2..].iter().filter(is_behind).count(), 2, "{standings:?}");
}

/// The request of a site stands for all its callers: so they are denied together.
#[test]
fn all_callers_of_a_site_are_denied_when_the_name_is_of_another_kind() {
    let mut net = Net::new(3);
    let names: Vec<String> = (0..9).map(|number| format!("gpu {number}")).collect();
    for text in &names {
        net.claim(2, text);
    }
    let unknown = |text: &&String| net.site(1).show(&name(text)).is_none();
    let text = names.iter().find(unknown).expect("sites 0 and 2 are a quorum of some");
    for peer in [0, 2] {
        net.cut(1, peer);
        net.cut(peer, 1);
    }
    let calls = [1, 2, 3].map(|count| net.claim_as(1, text, units(count, 4), None));
    net.heal();
    for call in calls {
        assert!(matches!(net.denial(call), Some(Denial::OtherKind { .. })), "{call:?}");
    }
    assert!(net.site(1).show(&name(text)).is_none(), "nothing is left");
}

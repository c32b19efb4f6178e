//! What the answers of some sites tell about a lock: nothing that is not so.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::{Kind, QuorumSystem, SiteId, SiteSet, build};
use quorate_session::{
    Access, Answer, Answering, Doubt, Group, GroupSpec, Groups, ListQuestion, LockSpec, PoolSpec,
    Question, ResourceView, Role, RoleSpec, TokenSpec, Units,
};

use quorate_site::kinds::PoolProtocol;

use super::net::{Net, name};

const LEASE: Duration = Duration::from_secs(3);

/// Claims of every kind of lock; those of one kind are granted together, if it has any others.
fn kinds() -> Vec<(LockSpec, PoolProtocol)> {
    let groups = || Groups::from_iter([Group::new("v1")]);
    let units = Units { count: 1, of: 8 };
    let time = Duration::from_mins(10);
    let pool = LockSpec::Pool(PoolSpec { units, numbered: false });
    let others = [
        LockSpec::Mutex,
        pool.clone(),
        LockSpec::Group(GroupSpec(groups())),
        LockSpec::Access(Access::Read),
        LockSpec::Role(RoleSpec { groups: [(Group::new("v1"), Role::Shared)].into(), time }),
        LockSpec::Token(TokenSpec(groups())),
    ];
    let others = others.into_iter().map(|spec| (spec, PoolProtocol::Ledger));
    others.chain([(pool, PoolProtocol::Arbiters)]).collect()
}

/// Sites whose pools have this protocol.
fn net_with(n: usize, pools: PoolProtocol) -> Net {
    Net::with(n, |config| config.settings.pools = pools)
}

/// What one site answers, and whether it is in quarantine.
type Views = BTreeMap<SiteId, (Option<ResourceView>, bool)>;

fn views(net: &mut Net, asked_by: usize, lock: &str) -> Views {
    let answers = net.ask(asked_by, Question::Show(name(lock), None)).into_iter();
    let view = |(site, answer, quarantined)| match answer {
        Answer::Shown(view) => (site, (view.map(|view| *view), quarantined)),
        other => panic!("{other:?}"),
    };
    answers.map(view).collect()
}

/// What a client knows from the answers of the sites in `heard`: whether the lock is held.
fn told(net: &Net, n: usize, lock: &str, views: &Views, heard: &SiteSet) -> Result<bool, Doubt> {
    let views = || views.iter().filter(|(site, _)| heard.contains(**site));
    let sites = |forgetful| {
        let of = views().filter(move |(_, (_, quarantined))| *quarantined == forgetful);
        of.map(|(site, _)| *site)
    };
    let counted: SiteSet = sites(false).collect();
    let by = views().next().map_or(0, |(site, _)| site.index());
    let answering = Answering {
        sites: n,
        counted: sites(false).collect(),
        quarantined: sites(true).collect(),
        enough: net.site(by).is_enough(&Question::Show(name(lock), None), &counted),
    };
    let shown = views().filter_map(|(site, (view, _))| Some((*site, view.clone()?)));
    let shown: BTreeMap<SiteId, ResourceView> = shown.collect();
    match answering.doubt(&shown) {
        Some(doubt) => Err(doubt),
        None => Ok(shown.values().flat_map(|view| &view.calls).any(|call| call.fence.is_some())),
    }
}

/// All sets of sites.
fn subsets(n: usize) -> impl Iterator<Item = SiteSet> {
    let set =
        move |mask: u32| SiteId::all(n).filter(|site| mask >> site.index() & 1 == 1).collect();
    (0..1 << n).map(set)
}

/// Asserts that no answers say that a lock is free which is held.
#[track_caller]
fn assert_never_free(net: &mut Net, n: usize, asked_by: usize, what: &str) {
    let views = views(net, asked_by, "deploy");
    for heard in subsets(n).filter(|heard| heard.contains(SiteId::new(asked_by))) {
        let told = told(net, n, "deploy", &views, &heard);
        assert_ne!(told, Ok(false), "{what}: {heard} say that it is free");
    }
}

/// A lock is held, at each site in turn, and any other sites do not answer.
#[test]
fn no_answers_call_a_held_lock_free() {
    for (spec, pools) in kinds() {
        for (n, holder) in [(3, 0), (3, 1), (3, 2), (4, 3), (5, 0), (5, 4)] {
            let mut net = net_with(n, pools);
            let call = net.claim_as(holder, "deploy", spec.clone(), None);
            net.pass(LEASE);
            assert!(net.grant(call).is_some() && net.loss(call).is_none(), "{spec}");
            for asked_by in 0..n {
                assert_never_free(
                    &mut net,
                    n,
                    asked_by,
                    &format!("{spec} at site {holder} of {n}"),
                );
            }
            net.leave(holder, call);
            let views = views(&mut net, 0, "deploy");
            let all = SiteSet::full(n);
            assert_eq!(told(&net, n, "deploy", &views, &all), Ok(false), "{spec}: it is free");
        }
    }
}

/// A caller joins, and the one that was there first leaves: only the other site knows a holder.
#[test]
fn no_answers_call_a_lock_free_whose_first_holder_has_left() {
    for (spec, pools) in kinds().into_iter().skip(1) {
        for (first, second) in [(0, 1), (1, 2), (2, 0), (1, 0)] {
            let mut net = net_with(3, pools);
            let opener = net.claim_as(first, "deploy", spec.clone(), None);
            let joiner = net.claim_as(second, "deploy", spec.clone(), None);
            net.pass(LEASE);
            assert!(net.grant(joiner).is_some(), "{spec}: it may join");
            net.leave(first, opener);
            assert!(net.loss(joiner).is_none(), "{spec}: it stays");
            for asked_by in 0..3 {
                assert_never_free(&mut net, 3, asked_by, &format!("{spec} joined at {second}"));
            }
        }
    }
}

/// The holder's site crashes: its caller may rely on the grant for the rest of the lease.
#[test]
fn no_answers_call_a_lock_free_while_a_crashed_site_may_hold_it() {
    for (spec, pools) in kinds() {
        let mut net = net_with(3, pools);
        let call = net.claim_as(2, "deploy", spec.clone(), None);
        net.pass(LEASE);
        let until = net.site(2).valid_until(call).expect("it is inside");
        net.crash(2);
        let last = Duration::from_nanos(until.0 - net.now.0 - 1);
        for restarts in [false, true] {
            for asked_by in [0, 1] {
                assert_never_free(&mut net, 3, asked_by, &format!("{spec}, restarted: {restarts}"));
            }
            if restarts {
                net.pass(last);
                for asked_by in [0, 1] {
                    assert_never_free(&mut net, 3, asked_by, &format!("{spec}, last moment"));
                }
            } else {
                net.start(2);
            }
        }
        net.pass(4 * 4 * LEASE); // an idle token is given up, too
        let views = views(&mut net, 0, "deploy");
        let told = told(&net, 3, "deploy", &views, &SiteSet::full(3));
        assert_eq!(told, Ok(false), "{spec}: it is free in the end");
    }
}

/// A site that restarts has forgotten what it lent, so its answer does not count: the holder's
/// process may still rely on its grant.
#[test]
fn a_site_in_quarantine_does_not_make_a_lock_free() {
    let mut net = Net::new(1);
    let call = net.claim(0, "deploy");
    assert!(net.grant(call).is_some());
    net.crash(0);
    net.start(0);
    let (forgetful, all) = (views(&mut net, 0, "deploy"), SiteSet::full(1));
    let doubt = told(&net, 1, "deploy", &forgetful, &all).expect_err("it has forgotten");
    let text = "1 of 1 sites answers, of which site 1 has restarted, 1 needed";
    assert_eq!(doubt.to_string(), text);
    net.pass(2 * LEASE);
    let views = views(&mut net, 0, "deploy");
    assert_eq!(told(&net, 1, "deploy", &views, &all), Ok(false), "the lease is over");
}

#[test]
fn sites_are_enough_if_they_meet_every_quorum_of_any_kind() {
    let kinds = [Kind::Majority, Kind::Grid, Kind::Plane, Kind::Tree, Kind::Wheel, Kind::Weighted];
    for (kind, n) in kinds.into_iter().flat_map(|kind| [(kind, 4), (kind, 7), (kind, 9)]) {
        let net = Net::with(n, |config| config.quorums = build(kind, n).unwrap());
        let quorums = build(kind, n).unwrap();
        for text in ["a", "deploy", "scheduler"] {
            let turn = usize::try_from(name(text).hash64() % n as u64).unwrap();
            let question = Question::Show(name(text), None);
            for heard in subsets(n) {
                let expected = 2 * heard.len() >= n && meets_all(&*quorums, turn, &heard);
                assert_eq!(net.site(0).is_enough(&question, &heard), expected, "{kind} {heard}");
                let any = Question::List(ListQuestion::default());
                let all =
                    2 * heard.len() >= n && (0..n).all(|turn| meets_all(&*quorums, turn, &heard));
                assert_eq!(net.site(0).is_enough(&any, &heard), all, "{kind} {heard}");
            }
        }
    }
}

/// Whether `heard` meet every quorum, each moved `turn` places on.
fn meets_all(quorums: &dyn QuorumSystem, turn: usize, heard: &SiteSet) -> bool {
    let moved = |site: SiteId| SiteId::new((site.index() + turn) % quorums.n());
    quorums.quorums().all(|quorum| quorum.iter().map(moved).any(|site| heard.contains(site)))
}

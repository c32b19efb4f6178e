//! Lasting partitions: how many grants there are on the side of the quorum.

use std::time::Duration;

use quorate_quorum::{Kind, SiteId, build};
use quorate_sim::cluster::{Event, Fault, Faults, Load, Observer, Plan, run};
use quorate_sim::{Setting, site_settings};

const SECOND: u64 = 1_000_000_000;
const SITES: usize = 5;

/// When the partition begins, and how long it lasts.
const BEGINS: u64 = 2 * SECOND;
const LASTS: u64 = 18 * SECOND;
const SEEDS: u64 = 41;

fn site(place: usize) -> SiteId {
    SiteId::new(place % SITES)
}

fn ring(fault: fn(SiteId, SiteId, u64) -> Fault) -> Vec<Fault> {
    (0..SITES).map(|place| fault(site(place), site(place + 1), LASTS)).collect()
}

fn partition(from: &[usize], both_ways: bool) -> Vec<Fault> {
    let from = from.iter().copied().map(site).collect();
    vec![Fault::Partition { from, both_ways, lasts: LASTS }]
}

/// Partitions in which a quorum of sites reach each other, or at least one site reaches one.
fn partitions() -> [(&'static str, Vec<Fault>); 7] {
    let bridge = [(0, 3), (0, 4), (1, 3), (1, 4)];
    let bridge = bridge.map(|(a, b)| Fault::CutLink(site(a), site(b), LASTS)).to_vec();
    [
        ("three and two", partition(&[3, 4], true)),
        ("four and one", partition(&[2], true)),
        ("ring", ring(Fault::CutLink)),
        ("ring of cut ways", ring(Fault::CutWay)),
        ("bridge", bridge),
        ("hears but is not heard", partition(&[1], false)),
        ("is heard but does not hear", partition(&[0, 1, 2, 3], false)),
    ]
}

/// Counts the grants during the partition.
#[derive(Default)]
struct Grants(u64);

impl Observer for Grants {
    fn see(&mut self, now: u64, event: &Event<'_>) {
        let during = (BEGINS..BEGINS + LASTS).contains(&now);
        self.0 += u64::from(during && matches!(event, Event::Enters(..)));
    }
}

/// The grants of a seed, in the median, of locks of a protocol with these settings.
fn grants(protocol: &str, settings: &[Setting], faults: &[Fault], names: usize) -> u64 {
    let (claims, settings) = site_settings(protocol, settings).unwrap();
    let plan = Plan {
        claims,
        settings,
        load: Load::Drawn { callers: 2, names },
        faults: Faults::None,
        listed: faults.iter().map(|fault| (BEGINS, fault.clone())).collect(),
        lasts: Duration::from_nanos(BEGINS + LASTS),
        ..Plan::new(build(Kind::Majority, SITES).unwrap())
    };
    let grants = (0..SEEDS).map(|seed| {
        let mut grants = Grants::default();
        assert_eq!(run(&plan, seed, &mut grants).breach, None, "seed {seed}");
        grants.0
    });
    let mut grants: Vec<u64> = grants.collect();
    grants.sort_unstable();
    grants[grants.len() / 2]
}

/// A group lock by token is granted at least half as often as one by quorums.
#[test]
fn tokens_are_granted_in_lasting_partitions() {
    let mut few = Vec::new();
    for (name, faults) in partitions() {
        for names in [1, 4] {
            let [token, group] = ["token", "group"].map(|of| grants(of, &[], &faults, names));
            println!("{name}, {names} names: {token} by token, {group} by quorums");
            if 2 * token < group {
                few.push((name, names, token, group));
            }
        }
    }
    assert_eq!(few, []);
}

/// Where each site reaches two others only, most waiters are out of reach of most holders. Without
/// O20 their token is lost on the way to them, again and again.
#[test]
fn a_token_for_a_site_out_of_reach_is_lost() {
    let undo = Setting { name: "undo".to_owned(), value: "out-of-reach".to_owned() };
    for fault in [Fault::CutLink, Fault::CutWay] {
        let kept = grants("token", &[], &ring(fault), 1);
        let undone = grants("token", std::slice::from_ref(&undo), &ring(fault), 1);
        println!("{undone} without O20, {kept} with it");
        assert!(3 * undone < 2 * kept, "{undone}, {kept}");
    }
}

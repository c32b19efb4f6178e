//! Group locks by token whose records were folded: what O21 and O22 save.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::{Kind, SiteId, build};
use quorate_session::CallId;
use quorate_sim::cluster::{Event, Fault, Faults, Load, Observer, Plan, run};
use quorate_sim::{Setting, site_settings};

const SECOND: u64 = 1_000_000_000;

/// For how long callers wait.
#[derive(Debug, Default)]
struct Waits {
    since: BTreeMap<CallId, u64>,
    /// Those that were served, and how long they waited together.
    served: u64,
    total: u64,
    /// Those that waited for more than half a lease.
    long: u64,
}

impl Waits {
    /// In microseconds.
    fn mean(&self) -> u64 {
        self.total / self.served / 1_000
    }
}

impl Observer for Waits {
    fn see(&mut self, now: u64, event: &Event<'_>) {
        match event {
            Event::Claims(_, call, _) => {
                self.since.insert(*call, now);
            }
            Event::Enters(_, call, ..) => {
                if let Some(since) = self.since.remove(call) {
                    (self.served, self.total) = (self.served + 1, self.total + now - since);
                    self.long += u64::from(now - since > SECOND / 2);
                }
            }
            _ => {}
        }
    }
}

/// The waits of forty seeds together.
fn waits(undone: Option<&str>) -> Waits {
    let undo = |value: &str| Setting { name: "undo".to_owned(), value: value.to_owned() };
    let undone: Vec<Setting> = undone.map(undo).into_iter().collect();
    let (claims, settings) = site_settings("token", &undone).unwrap();
    let plan = Plan { claims, settings, ..isolations() };
    let mut sum = Waits::default();
    for seed in 0..40 {
        let mut waits = Waits::default();
        assert_eq!(run(&plan, seed, &mut waits).breach, None, "seed {seed}");
        sum.served += waits.served;
        sum.total += waits.total;
        sum.long += waits.long;
    }
    sum
}

/// Five sites are isolated for five leases each, one after the other, so that floors differ.
fn isolations() -> Plan {
    let isolation = |nth: u64, site| {
        let fault = Fault::Partition { from: vec![site], both_ways: true, lasts: 5 * SECOND };
        ((2 + 6 * nth) * SECOND, fault)
    };
    Plan {
        load: Load::Drawn { callers: 1, names: 12 },
        faults: Faults::None,
        listed: (0..).zip(SiteId::all(5)).map(|(nth, site)| isolation(nth, site)).collect(),
        lasts: Duration::from_secs(34),
        ..Plan::new(build(Kind::Majority, 5).unwrap())
    }
}

/// Without O21 a token is passed to a site that refuses it, and lost. Without O22 the first use of
/// a name waits for T1. Nothing breaks, but callers wait longer.
#[test]
fn callers_wait_longer_without_the_rules_for_folded_records() {
    let with = waits(None);
    println!("{with:?}");
    for undone in ["refusal-unheard", "no-retry"] {
        let without = waits(Some(undone));
        println!("{undone}: {without:?}");
        assert!(100 * without.mean() > 108 * with.mean(), "{undone}");
        assert!(without.long > with.long, "{undone}");
    }
}

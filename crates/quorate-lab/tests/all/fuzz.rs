//! Changed packets: kept cases, and a few runs of each kind of lock.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use quorate_laboratory::fuzz::{Case, Locks, Plan, Report, frames, run};
use quorate_session::session::Rule;
use strum::VariantArray;

fn plan(locks: Locks, seed: u64) -> Plan {
    Plan { locks, seed, steps: 1_000, copies: 6, undone: None, stop_before: None }
}

fn lie(plan: Plan) -> Report {
    run(plan, &AtomicU64::new(0))
}

#[test]
fn every_kept_case_is_clean() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let case = Case::from_text(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(case.replay(), Ok(()), "{}", file.display());
        assert_eq!(Case::from_text(&case.to_text()).as_ref(), Ok(&case), "{}", file.display());
        count += 1;
    }
    assert!(count >= 20, "{count}");
}

#[test]
fn sites_of_every_kind_survive_lies() {
    let mut all = Report::default();
    for (&locks, seed) in Locks::VARIANTS.iter().zip(1..) {
        all.add(lie(plan(locks, seed)));
    }
    let failures: Vec<&String> = all.failures.values().map(|(_, one)| &one.what).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(all.of_peers > 5_000 && all.of_clients > 2_000, "{all:?}");
    assert!(all.rejected > 500, "few lies are recognised: {all:?}");
}

#[test]
fn one_seed_gives_one_run() {
    let figures =
        |report: Report| (report.of_peers, report.of_clients, report.undecodable, report.rejected);
    let [one, again] = [(); 2].map(|()| figures(lie(plan(Locks::Mixed, 7))));
    assert_eq!(one, again);
}

#[test]
fn unchecked_numbers_do_harm() {
    let mut found = Report::default();
    for seed in 1..20 {
        let undone = Some(Rule::NumbersAreChecked);
        found.add(lie(Plan { undone, ..plan(Locks::Mixed, seed) }));
    }
    assert!(found.failures.keys().any(|at| at.starts_with("panic")), "{found:?}");
    assert!(found.failures.keys().any(|at| at.contains("goes to disk")), "{found:?}");
}

#[test]
fn the_decoder_survives_changed_frames() {
    let done = frames(3, 50_000).unwrap();
    assert!(done.accepted > 10_000 && done.refused > 10_000, "{done:?}");
}

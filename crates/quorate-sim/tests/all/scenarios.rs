//! The scenarios: each runs as it is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quorate_sim::script::{Script, bless};
use quorate_sim::{PROTOCOLS, find};

/// Fewer would mean that some were not found.
const SCENARIOS_MIN: usize = 160;

/// The reasons for doing nothing that are within reach, with protocol and message.
const REASONS: &[&str] = &[
    "group cancel: the request is inside already",
    "group cancel: the request is over",
    "group enter: the request is inside already",
    "group enter: the request is over",
    "group finished: the occupancy is over",
    "group no-need: the request is not here, or not any more",
    "group ok: the request is inside already",
    "group ok: the request is over",
    "group raised: the request is over",
    "group session: it had nothing here",
    "group session: there is no request",
    "ledger ack: the registration is over, or counts already",
    "ledger fail: the request is over",
    "ledger gone: the permission is not in hand",
    "ledger inquire: the request is over",
    "ledger raised: the request is over",
    "ledger registered: the caller has left",
    "ledger reply: the request is over",
    "ledger session: the client asks if it needs anything",
    "ledger session: there is no caller",
    "mutex fail: the permission overtook its refusal",
    "mutex fail: the request is over",
    "mutex fail: the request is over, or inside",
    "mutex have: its whereabouts are known",
    "mutex inquire: the loan is over",
    "mutex inquire: the request is over",
    "mutex lack: the request is over already",
    "mutex raised: the request is over",
    "mutex reply: it was asked for in another session",
    "mutex reply: the loan is known already, or was refused",
    "mutex reply: the request is over",
    "mutex session: it had nothing here",
    "mutex session: the client asks if it needs anything",
    "mutex session: there is no request",
    "mutex transfer: the loan is over",
    "mutex transfer: the request is over",
    "pool cancel: the request is about to enter",
    "pool cancel: the request is inside",
    "pool cancel: the request is over",
    "pool cancelled: the loan is over already",
    "pool ok: the loan is known already, or was given back",
    "pool ok: the request is over",
    "pool raised: the request is over",
    "pool release: the request is not here, or not any more",
    "pool request: the request is known already",
    "pool request: the request is over already",
    "pool session: it had nothing here",
    "pool session: the client asks if it needs anything",
    "pool session: there is no request",
    "role lib-group: the stage is not here, or not any more",
    "role raised: the stage is over",
    "role rec-group: the loan is known already, or was given back",
    "role rec-group: the stage is over",
    "role rel-group: the stage has members",
    "role rel-group: the stage is over",
    "role rel-process: the request is not here, or not any more",
    "role rep-rel-group: the loan is over already",
    "role req-group: the stage is over already",
    "role req-process: the request is known already",
    "role revoke: the process is not inside any more",
    "role session: the client asks if it needs anything",
];

fn scenarios() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut folders: Vec<_> = PROTOCOLS.iter().map(|protocol| all.join(protocol)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of scenarios") {
            let path = entry.expect("a scenario").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "txt") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_scenario_goes_as_it_is_written() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= SCENARIOS_MIN, "only {} were found", scenarios.len());
    for path in scenarios {
        let text = fs::read_to_string(&path).unwrap();
        let outcome = Script::parse(&text).and_then(|script| script.run(|_| {}));
        if let Err(error) = outcome {
            panic!("{}: {error}", path.display());
        }
        assert_eq!(bless(&text).unwrap(), text, "{}: not all is written", path.display());
    }
}

#[test]
fn every_scenario_says_first_what_it_shows() {
    for path in scenarios() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# "), "{}", path.display());
    }
}

/// Each reason for doing nothing that is within reach has a scenario.
#[test]
fn every_reason_to_ignore_a_message_is_shown() {
    let mut shown = BTreeSet::new();
    for path in scenarios() {
        let script = Script::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        let repaired = script.cluster().settings.iter().all(|setting| setting.name != "undo");
        let protocol = &script.cluster().protocol;
        let mut message = None;
        let run = script.run(|line| match line.word {
            "receives" => message = line.kind,
            // What becomes of a session comes without a message.
            "command" => message = Some("session"),
            "ignores" if repaired => {
                let (_, reason) = line.text.split_once(": ").unwrap();
                shown.insert(format!("{protocol} {}: {reason}", message.unwrap()));
            }
            _ => {}
        });
        run.unwrap();
    }
    let missing: Vec<_> = REASONS.iter().filter(|&&reason| !shown.contains(reason)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A script may name every kind of message that a protocol sends, and no other.
#[test]
fn every_kind_of_message_is_listed() {
    for path in scenarios() {
        let script = Script::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        let kinds = find(&script.cluster().protocol, &[]).unwrap().facts().kinds;
        let run = script.run(|line| {
            let known = line.kind.is_none_or(|kind| kinds.contains(&kind));
            assert!(known, "{}: {line}", path.display());
        });
        run.unwrap();
    }
}

#[test]
fn the_example_in_the_documents_goes_as_it_is_written() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, example) = page.split_once("```text\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    assert_eq!(bless(example).unwrap(), example);
    Script::parse(example).unwrap().run(|_| {}).unwrap();
}

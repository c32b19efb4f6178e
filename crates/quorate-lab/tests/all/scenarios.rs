//! Every scenario of a baseline goes as it is written, and every baseline has one.

use std::fs;
use std::path::Path;

use quorate_laboratory::{BASELINES, find};
use quorate_sim::script::{Script, bless_with};

/// The scenarios of one baseline, each with its path.
fn scenarios(baseline: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(baseline);
    let files = fs::read_dir(&folder).expect("every baseline has a folder of scenarios");
    let read = |path: &Path| fs::read_to_string(path).expect("a scenario can be read");
    let paths = files.map(|file| file.expect("a file").path());
    let mut all: Vec<_> = paths.map(|path| (path.display().to_string(), read(&path))).collect();
    all.sort();
    all
}

#[test]
fn every_scenario_goes_as_it_is_written() {
    for baseline in BASELINES {
        let all = scenarios(baseline);
        assert!(!all.is_empty(), "{baseline} has a scenario");
        for (path, text) in all {
            assert!(text.starts_with("# "), "{path} says first what it shows");
            let script = Script::parse_with(find, &text).unwrap_or_else(|e| panic!("{path}: {e}"));
            assert_eq!(script.cluster().protocol, baseline, "{path}");
            script.run(|_| {}).unwrap_or_else(|error| panic!("{path}: {error}"));
            let blessed = bless_with(find, &text).expect("it has just run");
            assert_eq!(blessed, text, "{path}: not all is written");
        }
    }
}

/// The commands of a scenario, without what happens below them.
fn commands(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with([' ', '#'])).collect()
}

/// Both examples of Manabe & Park 2004, section 3, side by side: the same callers ask for the same
/// in the same order; with our lock nobody waits who could be inside, with the older 3 and 6 do.
#[test]
fn the_same_stories_block_the_one_and_not_the_other() {
    for (ours, theirs, who) in [
        ("any_group_will_do", "chosen_before_asking", "3"),
        ("all_quorums_meet", "votes_for_another_group", "6"),
    ] {
        let story = |protocol: &str, name: &str| {
            let all = scenarios(protocol);
            let found = all.into_iter().find(|(path, _)| path.ends_with(&format!("{name}.txt")));
            found.expect("the scenario is there").1
        };
        let (ours, theirs) = (story("group", ours), story("joung", theirs));
        let asks = |text: &str| -> Vec<String> {
            let lines = commands(text).into_iter();
            let asks = lines.filter(|line| line.contains("acquires") || line.contains("quorum"));
            asks.map(str::to_owned).collect()
        };
        assert_eq!(asks(&ours), asks(&theirs), "the stories begin alike");
        assert!(commands(&theirs).contains(&format!("expect {who} waiting").as_str()));
        let inside = format!("expect {who} inside group a");
        assert!(commands(&ours).contains(&inside.as_str()), "{inside}");
        for text in [&ours, &theirs] {
            Script::parse_with(find, text).unwrap().run(|_| {}).unwrap();
        }
    }
}

#[test]
fn what_no_paper_knows_is_refused() {
    let refused = |text: &str| Script::parse_with(find, text).unwrap_err().to_string();
    let gives_up = "protocol lamport\nsites 2\n1 acquires\n2 acquires\n2 gives up\n";
    assert_eq!(refused(gives_up), "line 5: lamport knows no giving up; leave it out");
    let sessions = "protocol maekawa\nsites 3\nsessions\n1 acquires\n";
    assert_eq!(refused(sessions), "line 1: maekawa knows no `sessions`; leave it out");
    let quorum = "protocol raymond\nsites 3\nquorum grid\n1 acquires\n";
    assert_eq!(refused(quorum), "line 3: raymond asks no quorum; leave the quorum out");
    let group = "protocol joung\nsites 3\n1 acquires group red\n";
    assert_eq!(refused(group), "line 3: a group of joung is a letter from a to z, not `red`");
    let lines = "protocol joung\nsites 5\nquorum parallel\n1 acquires group d\n";
    assert_eq!(refused(lines), "line 3: 4 managers have lines for a to c, not for d");
    let unknown = refused("protocol peterson\nsites 2\n1 acquires\n");
    for name in ["mutex", "group", "pool", "maekawa", "joung", "singhal-heuristic"] {
        assert!(unknown.contains(name), "{unknown}");
    }
    let rule = refused("protocol maekawa\nsites 3\noption undo magic\n1 acquires\n");
    assert!(rule.ends_with("known: sanders, inquire, relinquish"), "{rule}");
}

//! Complete searches of the identities of three sites, and what breaks when a rule is undone.

use quorate_check::identity::{IdentitySpace, check_identities};
use quorate_session::session::Rule;

const COPIED: IdentitySpace = IdentitySpace {
    starts: 3,
    others: 0,
    wipes: 0,
    backups: 0,
    copies: 1,
    writes: 0,
    breaks: true,
    undone: None,
};

const RESTORED: IdentitySpace =
    IdentitySpace { copies: 0, backups: 1, starts: 2, writes: 2, ..COPIED };

const WIPED: IdentitySpace = IdentitySpace { copies: 0, wipes: 1, others: 1, ..COPIED };

#[track_caller]
fn assert_clean(space: IdentitySpace) {
    let start = std::time::Instant::now();
    let report = check_identities(space);
    println!("{} states in {:?}: {space:?}", report.states, start.elapsed());
    if let Some((promise, actions)) = report.broken {
        let lines: Vec<_> = actions.iter().map(ToString::to_string).collect();
        panic!("{promise}\n{}", lines.join("\n"));
    }
}

#[test]
fn a_copied_folder_gives_no_second_vote() {
    assert_clean(COPIED);
}

#[test]
fn a_restored_folder_uses_no_number_twice() {
    assert_clean(RESTORED);
    assert_clean(IdentitySpace { starts: 4, writes: 0, breaks: false, ..RESTORED });
}

#[test]
fn a_wiped_folder_takes_no_part() {
    assert_clean(WIPED);
}

/// For each rule: a space, the promise that breaks without it, and in how many steps.
#[test]
fn each_rule_is_missed() {
    let two = "two lives of one site count at once";
    let order = "a life begins that does not follow the last one";
    let twice = "a number is used twice";
    let mut wrong = Vec::new();
    for (rule, space, promise, steps) in [
        (Rule::BirthIsChecked, WIPED, order, 5),
        (Rule::LifeIsUnique, COPIED, two, 5),
        (Rule::LineageIsChecked, IdentitySpace { starts: 5, writes: 0, ..RESTORED }, order, 11),
        (Rule::WritesAreChecked, RESTORED, twice, 9),
        (Rule::CeilingsAreRegistered, RESTORED, twice, 8),
        (Rule::MovedNeedsAll, COPIED, two, 3),
        (Rule::LifeBegins, COPIED, two, 3),
    ] {
        let report = check_identities(IdentitySpace { undone: Some(rule), ..space });
        let (broken, actions) = report.broken.unwrap_or_else(|| panic!("{rule:?} is not missed"));
        let lines: Vec<_> = actions.iter().map(ToString::to_string).collect();
        let lines = lines.join("\n");
        println!("{rule:?}: {broken} in {} steps\n{lines}", actions.len());
        if (broken, actions.len()) != (promise, steps) {
            wrong.push((rule, broken, actions.len()));
        }
    }
    assert_eq!(wrong, [], "expected are the promises and steps in the list");
}

//! What a script says about itself when something is wrong with it.

use proptest::prelude::*;
use quorate_sim::script::{ErrorKind, Script, ScriptError, bless};

fn run(text: &str) -> Result<(), ScriptError> {
    Script::parse(text)?.run(|_| {}).map(|_| ())
}

fn complaint(text: &str) -> String {
    run(text).expect_err("the script is wrong").to_string()
}

const STORY: &str = "\
# One site is enough for a story.
sites 1
1 acquires
  1 -> 1  request 1.1
  1 <- 1  request 1.1
    1 -> 1  reply 1.1 for 1 #1
  1 <- 1  reply 1.1 for 1 #1
    1 enters with 1.1, fence 1
expect 1 inside
1 releases quietly
expect 1 idle
expect quiet
expect messages 0
";

#[test]
fn a_story_runs_and_is_told() {
    let mut told = Vec::new();
    let script = Script::parse(STORY).unwrap();
    let report = script.run(|line| told.push(line.to_string())).unwrap();
    let written = STORY.lines().skip(2).map(str::to_owned);
    assert_eq!(told, written.collect::<Vec<_>>());
    assert_eq!(report.tally.served, 1);
    assert_eq!(report.broken, None);
}

#[test]
fn bad_input_is_named_with_its_line_and_what_was_expected() {
    let unknown = complaint("sites 3\n\n1 aquires");
    assert!(unknown.starts_with("line 3: unknown command `aquires`; expected one of protocol,"));
    let later = complaint("sites 3\npause 1");
    assert!(later.starts_with("line 2: `pause` needs whole sites"), "{later}");
    assert!(later.ends_with("S leaves its quarantine, expect"), "{later}");

    let cases = [
        ("sites 5\n# comment\n9 acquires", "line 3: site 9 does not exist: this cluster has 5"),
        ("sites 2\nquorum 1: 1 2 3", "line 2: site 3 does not exist: this cluster has 2"),
        ("sites 3\n0 acquires", "line 2: `0` is no site; expected a number from 1"),
        (
            "sites 3\ndeliver 1 > 2",
            "line 2: `deliver 1 > 2` is not understood; expected `deliver A -> B [KIND]`",
        ),
        (
            "sites 3\nhold 2 -> 2",
            "line 2: what 2 says to itself is handled at once, and never under way",
        ),
        (
            "sites 3\nsettle\noption ahead off",
            "line 3: `option` must stand above the first command",
        ),
        ("sites 3\nsites 4", "line 2: the number of sites was set in line 1 already"),
        ("quorum 1: 1\nquorum 1: 1 2", "line 2: the quorum of 1 was set in line 1 already"),
        ("quorum 1: 1\nquorum majority", "line 2: a quorum was set in line 1 already"),
        ("quorum 1: 1 2\nquorum 3: 3", "line 2: {1 2} of site 1 and {3} of site 3 do not meet"),
        ("settle", "line 1: how many sites are there? expected `sites N` or `quorum S: A B C`"),
        ("", "line 1: how many sites are there? expected `sites N` or `quorum S: A B C`"),
        (
            "  1 enters\nsites 1",
            "line 1: nothing happens here; expected a trace only below a command that acts",
        ),
        (
            "sites 1\n  1 enters",
            "line 2: nothing happens here; expected a trace only below a command that acts",
        ),
        ("sites 3\noption ahead maybe", "line 2: option ahead is `on` or `off`, not `maybe`"),
        (
            "protocol turnstile\nsites 3",
            "line 1: unknown protocol `turnstile`; known: group, ledger, mutex, pool, role, token",
        ),
        ("sites 3\n1 acquires twice", "line 2: a mutex is acquired without `twice`"),
        (
            "sites 3\nexpect broken hearts",
            "line 2: unknown property `hearts`; expected one of no blocking, contract, \
             exclusion, fences grow, progress, one token, units, vacancy",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected);
        assert!(run(text).unwrap_err().is_bad_input(), "{text}");
    }
}

#[test]
fn bad_claims_and_quorums_of_a_pool_are_named() {
    let cases = [
        ("sites 3\norder any", "line 2: a mutex needs `order fifo`"),
        (
            "protocol pool\nsites 3\n1 acquires",
            "line 3: a pool is acquired in units; expected how many units of how many, as in \
             `3 of 8`",
        ),
        (
            "protocol pool\nsites 3\n1 acquires 9 of 8",
            "line 3: invalid units: 9 of 8; expected from 1 to as many as there are",
        ),
        (
            "protocol pool\nsites 3\n1 acquires -1 of 8",
            "line 3: `-1` is no number of units; expected how many units of how many, as in \
             `3 of 8`",
        ),
        (
            "protocol pool\nsites 3\n1 acquires 1 of 2\n2 acquires 1 of 3",
            "line 2: a pool has one size, but these are claims of 2 and of 3",
        ),
        (
            "protocol pool\nsites 3\nquorum grid\n1 acquires 1 of 2",
            "line 3: no arbiters are called `grid`; known: uniform, improved, plain, cube, \
             improved-cube, full-cube, plain-cube, space, cyclic",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected);
    }
}

#[test]
fn faults_need_sessions_and_their_own_words() {
    let cases = [
        ("crash 1", "`crash 1` needs sessions; expected `sessions` above the first command"),
        (
            "1 hears nothing of 2",
            "`1 hears nothing of 2` needs sessions; expected `sessions` above the first command",
        ),
        (
            "sessions for ever",
            "`sessions for ever` is not understood; \
             expected `sessions [no-reopen] [no-restart] [fences N]`",
        ),
        ("restart", "`restart` is not understood; expected `restart S`"),
        ("1 loses 2", "`1 loses 2` is not understood; expected `S loses its session at A`"),
        ("1 has 2", "`1 has 2` is not understood; expected `S has a session at A`"),
        ("x closes the session of 2", "`x` is no site; expected a number from 1"),
        ("sessions\n1 hears nothing of 9", "site 9 does not exist: this cluster has 3"),
        ("sessions\nsessions", "`sessions` was set in line 2 already"),
    ];
    for (text, expected) in cases {
        let text = format!("sites 3\n{text}");
        let line = text.lines().count();
        assert_eq!(complaint(&text), format!("line {line}: {expected}"));
        assert!(run(&text).unwrap_err().is_bad_input(), "{text}");
    }
}

#[test]
fn what_cannot_become_of_a_session_is_named_with_what_must_come_first() {
    let first = "a session ends at its client first";
    let cases = [
        (
            "2 closes the session of 1",
            first.to_owned() + "; expected `1 loses its session at 2` first",
        ),
        ("2 opens a session of 1", "2 has a session of 1 already".to_owned()),
        (
            "1 has a session at 2",
            "2 has no new session of 1; expected `2 opens a session of 1` first".to_owned(),
        ),
        (
            "1 loses its session at 1",
            "1 has no session at itself: nothing can become of it".to_owned(),
        ),
        (
            "1 loses its session at 2\n2 opens a session of 1",
            "the session before it is not over; expected `2 closes the session of 1` first"
                .to_owned(),
        ),
        ("1 loses its session at 2\n1 hears nothing of 2", "1 has no session at 2".to_owned()),
        ("1 hears nothing of 2\n1 hears nothing of 2", "1 hears nothing of 2 already".to_owned()),
        ("restart 1", "1 has not crashed".to_owned()),
        ("crash 1\ncrash 1", "1 has crashed already".to_owned()),
        (
            "crash 1\n1 acquires",
            "1 cannot acquire: it has crashed; expected `restart 1`".to_owned(),
        ),
        ("1 leaves its quarantine", "1 is in no quarantine; it is after `restart 1`".to_owned()),
        (
            "crash 1\nrestart 1\n1 leaves its quarantine",
            "2 counts on what 1 lent before it crashed; expected `2 loses its session at 1` first"
                .to_owned(),
        ),
        (
            "crash 1\n2 closes the session of 1\n2 opens a session of 1",
            "1 has crashed; expected `restart 1` first".to_owned(),
        ),
    ];
    for (text, expected) in cases {
        let text = format!("sites 3\nsessions\n{text}");
        let line = text.lines().count();
        assert_eq!(complaint(&text), format!("line {line}: {expected}"));
        assert!(!run(&text).unwrap_err().is_bad_input(), "{text}");
    }
}

/// 1 and 2 ask each other: both sessions carry something from 1 to 2.
const TWO_LANES: &str = "\
sessions
quorum 1: 2
quorum 2: 1 2
1 acquires
2 acquires
deliver 2 -> 1
";

#[test]
fn a_channel_has_two_lanes_and_a_kind_names_one() {
    let either = complaint(&format!("{TWO_LANES}deliver 1 -> 2"));
    let expected = "line 7: two sessions carry messages on 1 -> 2, `request 1.1` and \
                    `reply 1.2 for 1 #1`; expected `deliver 1 -> 2 request` or \
                    `deliver 1 -> 2 reply`";
    assert_eq!(either, expected);
    let neither = complaint(&format!("{TWO_LANES}deliver 1 -> 2 fail"));
    let expected = "line 7: expected a fail on 1 -> 2, but `request 1.1` and \
                    `reply 1.2 for 1 #1` come first";
    assert_eq!(neither, expected);
    run(&format!("{TWO_LANES}deliver 1 -> 2 reply\nexpect 2 inside\nexpect 1 -> 2 has request\n"))
        .unwrap();
    run(&format!("{TWO_LANES}settle\nexpect 1 -> 2 empty\nexpect 2 inside\n")).unwrap();
}

#[test]
fn what_cannot_be_done_now_is_named() {
    let cases = [
        ("sites 3\n1 releases", "line 2: 1 has no claim inside"),
        ("sites 3\n1 gives up", "line 2: 1 has no claim waiting"),
        ("sites 3\n1/2 acquires", "line 2: the next claim of 1 is 1/1"),
        ("sites 3\ndeliver 1 -> 2", "line 2: nothing is under way on 1 -> 2"),
        (
            "sites 3\n1 acquires\n1 acquires",
            "line 3: 1 cannot acquire: the site has a claim of this lock under way already",
        ),
        (
            "sites 3\n1 acquires\ndeliver 1 -> 2 reply",
            "line 3: expected a reply on 1 -> 2, but `request 1.1` comes first",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaint(text), expected);
        assert!(!run(text).unwrap_err().is_bad_input(), "{text}");
    }
}

#[test]
fn an_unmet_expect_fails_at_its_line() {
    let cases = [
        ("expect 1 inside", "1 inside, but it is waiting"),
        ("expect 1/1 idle", "1/1 idle, but it is waiting"),
        ("expect 2 waiting", "2 waiting, but it is idle"),
        ("expect quiet", "nothing under way, but there is something on 1 -> 2"),
        ("expect 1 -> 2 has reply", "a reply on 1 -> 2, but there is request"),
        ("expect 1 -> 2 empty", "nothing under way on 1 -> 2, but there is `request 1.1`"),
        ("expect messages 3", "messages 3, but 1 were sent: 1 request"),
        ("expect broken progress", "broken progress, but no property is broken"),
    ];
    for (check, expected) in cases {
        let text = format!("sites 3\n1 acquires\n\n{check}\n");
        assert_eq!(complaint(&text), format!("line 4: expected {expected}"));
    }
}

#[test]
fn an_unlike_trace_fails_at_its_line() {
    let wrong = STORY.replace("    1 enters with 1.1, fence 1", "    1 enters with 1.2, fence 1");
    let expected = Some("    1 enters with 1.2, fence 1".to_owned());
    let actual = Some("    1 enters with 1.1, fence 1".to_owned());
    let error = run(&wrong).unwrap_err();
    assert_eq!(error, ScriptError { line: 8, kind: ErrorKind::Unlike { expected, actual } });

    let short = STORY.replace("    1 enters with 1.1, fence 1\n", "");
    assert_eq!(run(&short).unwrap_err().line, 7);
    let long = STORY.replace("1 releases quietly\n", "1 releases quietly\n  1 enters\n");
    let error = run(&long).unwrap_err();
    let expected = Some("  1 enters".to_owned());
    assert_eq!(error, ScriptError { line: 11, kind: ErrorKind::Unlike { expected, actual: None } });
}

const TWO_INSIDE: &str = "\
option undo E1
quorum 1: 1 2
quorum 2: 2 3
1 acquires
settle
2 acquires
settle
";

#[test]
fn a_broken_property_fails_where_it_broke_unless_it_is_expected() {
    let error = run(TWO_INSIDE).unwrap_err();
    assert_eq!(error.line, 7);
    assert!(matches!(&error.kind, ErrorKind::Broken(breach) if breach.property == "exclusion"));

    let expected = format!("{TWO_INSIDE}expect 1 inside\nexpect broken exclusion\n");
    let report = Script::parse(&expected).unwrap().run(|_| {}).unwrap();
    assert_eq!(report.broken.map(|(line, breach)| (line, breach.property)), Some((7, "exclusion")));

    let otherwise = format!("{TWO_INSIDE}expect broken progress\n");
    assert_eq!(run(&otherwise).unwrap_err().line, 7);
}

#[test]
fn blessing_writes_traces_and_keeps_the_rest() {
    let story = STORY.replace("  1 <- 1  request 1.1\n", "  rubbish\n\n  # a remark\n");
    let moved = STORY.replace("expect 1 inside", "\n  # a remark\nexpect 1 inside");
    assert_eq!(bless(&story).unwrap(), moved);
    assert_eq!(bless(&moved).unwrap(), moved);
    run(&moved).unwrap();

    let quiet = "sites 1\n1 acquires quietly\n1 releases quietly";
    let blessed = "sites 1\n1 acquires quietly\n  1 enters with 1.1, fence 1\n1 releases quietly\n";
    assert_eq!(bless(quiet).unwrap(), blessed);
}

/// Words that mean something in some place.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec![
            "protocol", "mutex", "sites", "quorum", "majority", "grid", "clock", "=", "option",
            "undo", "ahead", "on", "off", "acquires", "releases", "gives", "up", "deliver", "->",
            "hold", "settle", "heal", "expect", "inside", "waiting", "idle", "lost", "has",
            "empty", "quiet", "messages", "broken", "exclusion", "quietly", "#", ":", "request",
            "sessions", "no-reopen", "fences", "crash", "restart", "loses", "its", "session", "at",
            "closes", "the", "of", "opens", "a", "hears", "nothing", "leaves", "quarantine",
            "duplicate", "drop", "advance", "50ms", "host", "order", "any", "fifo", "shows",
            "holder", "status", "fence", "count",
        ]).prop_map(str::to_owned),
        4 => (0..6_u64).prop_map(|n| n.to_string()),
        1 => (1..4_u64, 0..4_u64).prop_map(|(s, c)| format!("{s}/{c}")),
        1 => any::<u64>().prop_map(|n| n.to_string()),
        1 => "\\PC{0,6}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    let indent = prop::sample::select(vec!["", "", "", "  ", "    ", "\t"]);
    (indent, prop::collection::vec(word(), 0..6))
        .prop_map(|(i, words)| i.to_owned() + &words.join(" "))
}

/// A line that is right where the cluster has four sites.
fn right() -> impl Strategy<Value = String> {
    let (a, b) = (1..5_u32, 1..5_u32);
    (0..20, a, b).prop_map(|(what, a, b)| match what {
        0..3 => format!("{a} acquires"),
        3..5 => format!("{a} releases"),
        5 => format!("{a} gives up"),
        6..9 => format!("deliver {a} -> {b}\nexpect {a} shows queue none"),
        9 => format!("hold {a} -> {b}"),
        10 => "settle".to_owned(),
        11 => format!("{a} hears nothing of {b}"),
        12..14 => format!("{a} loses its session at {b}"),
        14 => format!("{b} closes the session of {a}"),
        15 => format!("{b} opens a session of {a}"),
        16 => format!("{a} has a session at {b}"),
        17 => format!("crash {a}"),
        18 => format!("restart {a}\n{a} leaves its quarantine"),
        _ => format!("clock {a} = {b}"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_text_makes_the_parser_panic(lines in prop::collection::vec(line(), 0..12)) {
        let text = lines.join("\n");
        let _ = run(&text);
        let _ = run(&format!("sites 3\n{text}"));
    }

    #[test]
    fn no_bytes_make_the_parser_panic(text in "(?s).{0,200}") {
        let _ = run(&text);
    }

    /// Lines that cannot be carried out are left out until the rest can: whatever is left may
    /// break a property, but never the runner, and blessing it is idempotent.
    #[test]
    fn no_story_makes_the_runner_panic(
        undo in 0..7_u32,
        lines in prop::collection::vec(right(), 0..60),
    ) {
        let head = if undo == 0 { String::new() } else { format!("option undo E{undo}\n") };
        let head = format!(
            "{head}sessions\nquorum 1: 1 2\nquorum 2: 2 3\nquorum 3: 3 1\nquorum 4: 4 1 2\n"
        );
        let lines = lines.iter().flat_map(|line| line.lines());
        let mut story: Vec<String> = head.lines().chain(lines).map(str::to_owned).collect();
        loop {
            match bless(&story.join("\n")) {
                Ok(blessed) => {
                    prop_assert_eq!(bless(&blessed), Ok(blessed.clone()));
                    prop_assert_eq!(run(&blessed), Ok(()));
                    break;
                }
                Err(ScriptError { kind: ErrorKind::Broken(breach), .. }) => {
                    prop_assert!(undo > 0, "{}", breach);
                    story.push(format!("expect broken {}", breach.property));
                }
                Err(error) => {
                    story.remove(error.line - 1);
                }
            }
        }
    }

    /// One line of a good story is changed, left out or told twice.
    #[test]
    fn a_changed_story_is_refused_or_told(at in 0..13_usize, how in 0..3, other in line()) {
        let mut lines: Vec<String> = STORY.lines().map(str::to_owned).collect();
        match how {
            0 => lines[at] = other,
            1 => drop(lines.remove(at)),
            _ => lines.insert(at, lines[at].clone()),
        }
        let _ = run(&lines.join("\n"));
        let _ = bless(&lines.join("\n"));
    }
}

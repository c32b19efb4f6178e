//! The space-time trace.

use serde_json::json;

use crate::json_lines;
use crate::tools::{missing, quorate};

#[test]
fn the_demo_shows_what_its_guide_speaks_of() {
    let done = quorate("sim demo");
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    let row = |number: usize| {
        let lead = format!("{number:>4} ");
        done.out.lines().find(|line| line.starts_with(&lead)).unwrap_or_default().to_owned()
    };
    for (number, words) in [
        (17, "2 <- 3  inquire 2.2"),
        (18, "3 <- 2  yield 2.2 #1, passed to 1.1"),
        (21, "‹17  1 <- 2  reply 1.1 for 3"),
        (22, "1 enters"),
        (23, "1 releases"),
        (26, "‹23  5 <- 1  reply 1.5 for 2"),
        (27, "5 enters"),
    ] {
        assert!(row(number).contains(words), "{}", row(number));
    }
    assert!(done.out.lines().all(|line| line.chars().count() <= 100), "{}", done.out);
}

#[test]
fn the_demo_is_the_run_that_it_names() {
    let demo = quorate("sim demo").out;
    let (command, rest) = demo.split_once('\n').unwrap();
    let run = quorate(command.strip_prefix("quorate ").unwrap());
    assert!(rest.starts_with(&run.out), "{demo}");
}

#[test]
fn ascii_is_ascii() {
    let done = quorate("sim demo --ascii");
    assert!(done.out.is_ascii(), "{}", done.out);
    assert_eq!(done.out.lines().count(), quorate("sim demo").out.lines().count());
}

#[test]
fn a_trace_is_the_same_every_time_and_without_colours_in_a_file() {
    let one = quorate("sim random --trace --seed 5");
    assert_eq!(one, quorate("sim random --trace --seed 5 --runs 1 --threads 1"));
    assert!(!one.out.contains('\u{1b}'));
}

#[test]
fn many_sites_have_no_lanes() {
    let out = quorate("sim random --trace --sites 13 --quorum plane --requests 1").out;
    assert!(!out.contains('┆'), "{out}");
    assert!(out.contains(" acquires\n"), "{out}");
}

#[test]
fn own_messages_are_shown_only_if_asked_for() {
    let line = "sim random --trace --sites 3 --requests 1,0,0";
    assert!(!quorate(line).out.contains("1 <- 1  request"));
    assert!(quorate(&format!("{line} --verbose")).out.contains("1 <- 1  request"));
}

#[test]
fn a_trace_for_machines_is_one_event_a_line_and_a_summary() {
    let lines = json_lines(&quorate("sim random --trace --sites 3 --requests 1 --json"));
    let (summary, events) = lines.split_last().unwrap();
    for event in events {
        let keys = ["time_T", "depth", "event", "site", "text"];
        assert!(missing(event, &keys).is_empty(), "{event}");
    }
    assert_eq!((&summary["runs"], &summary["entries"]), (&json!(1), &json!(3)));
}

#[test]
fn a_trace_shows_one_run() {
    quorate("sim random --trace --runs 2").refused(&["--trace", "--runs 1"]);
    quorate("sim random --ascii").refused(&["--trace"]);
}

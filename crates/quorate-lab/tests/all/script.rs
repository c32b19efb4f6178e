//! `quorate sim script`: stories that go as written, and that do not.

use std::fs;

use serde_json::json;

use crate::json_lines;
use crate::tools::{file, missing, path, quorate, quorate_with};

const STORY: &str = "sites 3\n1 acquires\nsettle\nexpect 1 inside\n";

#[test]
fn a_script_that_goes_as_written_exits_0_with_one_line() {
    let story = file("script_fine.txt", STORY);
    let done = quorate(&format!("sim script {story}"));
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    assert_eq!(done.out, format!("ok {story}  2 messages, 1 entry\n"));
    let trace = quorate(&format!("sim script --trace {story}")).out;
    assert!(trace.contains("  1 -> 2  request 1.1\n"), "{trace}");
}

#[test]
fn json_has_an_event_a_line_and_a_summary() {
    let story = file("script_json.txt", STORY);
    let lines = json_lines(&quorate(&format!("sim script --json {story}")));
    let (summary, events) = lines.split_last().unwrap();
    assert!(events.len() > 5);
    for event in events {
        assert!(missing(event, &["file", "line", "depth", "event", "text"]).is_empty(), "{event}");
    }
    assert_eq!((&summary["result"], &summary["messages"]), (&json!("ok"), &json!(2)));
    assert_eq!((&summary["entries"], &summary["broken"]), (&json!(1), &json!(null)));
}

#[test]
fn an_unmet_expectation_exits_1_with_its_line() {
    let story = file("script_unmet.txt", "sites 3\n1 acquires\nexpect 1 inside\n");
    let done = quorate(&format!("sim script {story}"));
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""));
    assert!(done.err.starts_with(&format!("{story}:3: expected 1 inside, but ")), "{}", done.err);
    let lines = json_lines(&quorate(&format!("sim script --json {story}")));
    let summary = lines.last().unwrap();
    assert_eq!((&summary["result"], &summary["line"]), (&json!("failed"), &json!(3)));
}

#[test]
fn an_unlike_trace_line_exits_1_with_both() {
    let story = file("script_unlike.txt", "sites 3\n1 acquires\n  1 -> 2  request 9.9\n");
    let done = quorate(&format!("sim script {story}"));
    assert_eq!(done.code, Some(1));
    for words in ["script_unlike.txt:3:", "expected:   1 -> 2  request 9.9", "actual: "] {
        assert!(done.err.contains(words), "`{words}` is not in: {}", done.err);
    }
}

#[test]
fn a_broken_property_exits_1() {
    let text = "option undo E1\nquorum 1: 1 3\nquorum 2: 1 2\nquorum 3: 2 3\n\
                2 acquires\nsettle\n1 acquires\nsettle\n";
    let story = file("script_broken.txt", text);
    let done = quorate(&format!("sim script {story}"));
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("script_broken.txt:8:"), "{}", done.err);
    assert!(done.err.contains("exclusion"), "{}", done.err);
}

#[test]
fn bad_input_exits_2_with_its_line() {
    let story = file("script_bad.txt", "sites 3\n1 acquiesces\n");
    let done = quorate(&format!("sim script {story}"));
    done.refused(&["script_bad.txt:2:", "acquiesces", "expected"]);
    quorate("sim script no/such/story.txt").refused(&["no/such/story.txt"]);
    quorate("sim script").refused(&["FILE"]);
}

#[test]
fn all_files_are_run_and_the_worst_decides() {
    let fine = file("script_many_fine.txt", STORY);
    let unmet = file("script_many_unmet.txt", "sites 1\nexpect 1 inside\n");
    let done = quorate(&format!("sim script {unmet} {fine}"));
    assert_eq!(done.code, Some(1));
    assert!(done.out.contains(&format!("ok {fine} ")), "{}", done.out);
    assert_eq!(quorate(&format!("sim script {unmet} nosuch {fine}")).code, Some(2));
}

#[test]
fn bless_writes_traces_once_and_names_what_changed() {
    let story = file("script_bless.txt", "sites 3\n1 acquires\n  1 -> 2  request 9.9\nsettle\n");
    let done = quorate(&format!("sim script --bless {story}"));
    assert_eq!(done.code, Some(0));
    assert_eq!(done.out, format!("changed {story}\n1 of 1 traces changed\n"));
    assert!(fs::read_to_string(&story).unwrap().contains("  1 -> 2  request 1.1\n"));
    assert_eq!(quorate(&format!("sim script --bless {story}")).out, "no trace changed, of 1\n");
    assert_eq!(quorate(&format!("sim script {story}")).code, Some(0));
}

#[test]
fn a_story_that_fails_is_not_blessed() {
    let text = "sites 3\n1 acquires\n  1 -> 2  request 9.9\nexpect 1 inside\n";
    let story = file("script_unblessed.txt", text);
    assert_eq!(quorate(&format!("sim script --bless {story}")).code, Some(1));
    assert_eq!(fs::read_to_string(&story).unwrap(), text);
}

#[test]
fn a_story_is_drawn() {
    let (story, picture) = (file("drawn.txt", STORY), path("drawn.svg"));
    let done = quorate_with("sim script", &[&story, "--svg", &picture]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    let text = fs::read_to_string(&picture).unwrap();
    assert!(text.starts_with("<svg ") && text.contains("prefers-color-scheme: dark"), "{text}");
    for kind in ["request", "reply"] {
        assert!(text.contains(&format!(">\n{kind}\n</text>")), "{kind} is not in {text}");
    }
}

#[test]
fn one_story_is_drawn_where_it_can_be_written() {
    quorate("sim script a.txt b.txt --svg c.svg").refused(&["--svg draws one script, not 2"]);
    quorate("sim script a.txt --svg /nosuch/c.svg").refused(&["/nosuch/c.svg", "folder"]);
    quorate("sim script a.txt --svg c.svg --bless").refused(&["--bless"]);
}

//! The output of `ls`, `show`, `explain`, `sites`, `watch` and `break`.

use crate::cluster::{LEASE_MS, TestCluster};
use crate::program::missing;

#[test]
fn a_lock_is_shown_with_its_holder_and_its_queue() {
    let sites = TestCluster::start(3);
    let (_holder, fence) = sites.hold(1, "lock deploy/web --owner ana --purpose=release");
    let _waiter = sites.spawn(2, "lock deploy/web --owner bob -- true", &[]);
    sites.wait_for_waiters(3, "deploy/web", 1);

    let shown = sites.run(3, "show deploy/web", &[]).out;
    assert!(shown.starts_with("deploy/web is held by ana on "), "{shown}");
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert!(lines[2].starts_with("inside  ana") && lines[2].contains("release"), "{shown}");
    assert!(lines[3].starts_with("1       bob"), "{shown}");

    let shown = sites.show(3, "deploy/web");
    assert_eq!(shown["holders"][0]["fence"], fence);
    assert_eq!(shown["waiting"][0]["owner"], "bob");
    let keys = ["site", "owner", "host", "pid", "purpose", "age_ms", "fence", "left_ms"];
    assert!(missing(&shown["holders"][0], &keys).is_empty(), "{shown}");

    let explained = sites.run(2, "explain deploy/web", &[]).out;
    assert!(explained.contains("site 2, request ") && explained.contains("waits behind 1 request"));
    assert!(explained.contains("blocked by ") && explained.contains("ana on "), "{explained}");
    assert!(explained.contains("lacks the permission of site"), "{explained}");
    let explained = sites.run(2, "explain --json deploy/web", &[]).json();
    assert_eq!(explained["requests"][0]["inside"], true);
    assert_eq!(explained["requests"][1]["blocked_by"][0], explained["requests"][0]["request"]);
}

#[test]
fn locks_in_use_are_listed() {
    let sites = TestCluster::start(3);
    assert_eq!(sites.run(1, "ls", &[]).out, "no lock is held or waited for\n");
    assert_eq!(sites.run(1, "show deploy", &[]).out, "deploy is free\n");
    let (_one, _) = sites.hold(1, "lock deploy/web --owner ana");
    let (_two, fence) = sites.hold(2, "lock deploy/db --owner bob");
    let (_three, _) = sites.hold(3, "lock nightly");
    let listed = sites.run(1, "ls deploy/", &[]).out;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert!(lines[0].starts_with("NAME        KIND   HOLDER"), "{listed}");
    assert!(lines[1].starts_with("deploy/db   mutex  bob on "), "{listed}");
    assert!(lines[2].starts_with("deploy/web  mutex  ana on "), "{listed}");
    let listed = sites.run(2, "ls --json", &[]).json();
    assert_eq!(listed["locks"].as_array().unwrap().len(), 3);
    assert_eq!(listed["locks"][0]["holders"][0]["fence"], fence);
}

#[test]
fn sites_that_do_not_answer_are_named() {
    let mut sites = TestCluster::start(3);
    let report = sites.run(1, "sites --json", &[]).json();
    assert_eq!(report["lease_ms"], LEASE_MS);
    assert_eq!(report["sites"][1]["hears"], serde_json::json!([1, 3]));
    sites.kill(3);
    let shown = sites.run(1, "sites", &[]).out;
    assert_eq!(shown.lines().nth(3), Some("3     does not answer"), "{shown}");
    let shown = sites.run(1, "show deploy", &[]).out;
    assert_eq!(shown, "deploy is free\nsite 3 does not answer\n");
}

/// Text of others cannot reorder what is shown or hide in it; control characters are refused.
#[test]
fn text_of_others_is_harmless() {
    let sites = TestCluster::start(1);
    let purpose = format!("\u{202e}\u{2028}{}", "x".repeat(1000));
    let flags = ["--owner", "a\u{200b}na", "--purpose", &purpose, "--group", "v\u{202e}1"];
    let more = [&flags[..], &["--", "sh", "-c", "echo in; cat > /dev/null"]].concat();
    let mut holder = sites.spawn(1, "lock deploy", &more);
    assert_eq!(holder.line(), "in\n");
    for line in ["show deploy", "ls", "explain deploy", "lock deploy --no-wait -- echo no"] {
        let done = sites.run(1, line, &[]);
        let text = done.out + &done.err;
        assert!(text.contains(r"a\u{200b}na"), "{line}: {text}");
        let unseen = ['\u{202e}', '\u{2028}', '\u{200b}'];
        let harmless = |letter: char| !letter.is_control() && !unseen.contains(&letter);
        assert!(text.chars().all(|letter| letter == '\n' || harmless(letter)), "{line}: {text:?}");
        assert!(text.lines().all(|line| line.chars().count() < 1000), "{line}: it is cut");
    }
    let shown = sites.show(1, "deploy");
    assert_eq!(shown["holders"][0]["purpose"], purpose, "programs get all of it");
    let mut leader = sites.spawn(1, "elect campaign x", &["c\u{2066}"]);
    assert!(leader.line().starts_with("x is held"));
    let shown = sites.run(1, "elect leader x", &[]).out;
    assert!(shown.starts_with(r"c\u{2066} leads x"), "{shown}");
}

#[test]
fn watch_prints_each_change() {
    let sites = TestCluster::start(3);
    let mut watch = sites.spawn(2, "watch deploy", &[]);
    assert_eq!(watch.line(), "deploy is free\n");
    let (holder, fence) = sites.hold(1, "lock deploy --owner ana");
    let line = watch.line();
    assert!(line.starts_with("deploy is held by ana"), "{line}");
    assert!(line.ends_with(&format!("; fence {fence}\n")), "{line}");
    assert_eq!(holder.finish().code, Some(0));
    assert_eq!(watch.line(), "deploy is free\n");
    watch.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(watch.finish().code, Some(0));
}

#[test]
fn break_ends_only_the_grant_with_this_fence() {
    let sites = TestCluster::start(3);
    let (holder, fence) = sites.hold(1, "lock deploy --owner ana");
    let other = (fence + 1).to_string();
    let done = sites.run(2, "break deploy --reason hangs --fence", &[&other]);
    assert_eq!(done.code, Some(1));
    let text = format!("deploy has no grant with fence {other}: deploy is held by ana");
    assert!(done.out.starts_with(&text), "{}", done.out);
    let done = sites.run(2, "break deploy --reason hangs --fence", &[&fence.to_string()]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    assert!(done.out.contains(&format!("with fence {fence} is over: deploy is free")));
    let holder = holder.finish();
    assert_eq!(holder.code, Some(121));
    assert!(holder.err.contains("deploy is lost: it was broken: hangs"), "{}", holder.err);
    let (_next, fence) = sites.hold(3, "lock deploy");
    let fence = fence.to_string();
    let done = sites.run(2, "break deploy --json --reason x --fence", &[&fence]).json();
    assert_eq!(done["outcome"], "over");
}

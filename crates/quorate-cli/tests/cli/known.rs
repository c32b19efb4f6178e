//! What each command shows, and how it exits, with all, a quorum, a minority and none of the sites:
//! the table in docs/guarantees.md.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::thread;

use nix::pty::openpty;
use nix::sys::signal::Signal;
use serde_json::json;

use crate::cluster::{TestCluster, until};
use crate::program::Done;

/// An exit status, and text that is printed. NAME stands for the lock.
type Cell = (i32, &'static str);

/// A command, and what it does.
struct Row {
    line: &'static str,
    /// All sites answer, or a quorum of them, and NAME is held.
    held: Cell,
    /// The same if NAME is free.
    free: Cell,
    /// Fewer sites answer.
    minority: Cell,
    /// No site runs.
    none: Cell,
}

const fn row(line: &'static str, held: Cell, free: Cell, minority: Cell, none: Cell) -> Row {
    Row { line, held, free, minority, none }
}

const NOT_KNOWN: Cell = (125, "NAME: not known: 1 of 3 sites answers, 2 needed");
const NO_QUORUM: Cell = (125, "no quorum: 1 of 3 sites answer");
const UNREACHABLE: Cell = (125, "no site can be reached");

/// A command that waits until a signal ends it.
const WAITS: i32 = 130;

#[rustfmt::skip]
const TABLE: [Row; 10] = [
    row("show NAME", (0, "NAME is held by ana"), (0, "NAME is free"), NOT_KNOWN, UNREACHABLE),
    row("ls NAME", (0, "mutex  ana"), (0, "no such lock is held"),
        (125, "not known: 1 of 3 sites answers, 2 needed"), UNREACHABLE),
    row("explain NAME", (0, "is inside"), (0, "NAME is free"), NOT_KNOWN, UNREACHABLE),
    row("watch NAME", (0, "NAME is held by ana"), (0, "NAME is free"), (0, NOT_KNOWN.1),
        UNREACHABLE),
    row("sites", (0, "runs"), (0, "runs"), (125, "no quorum: 1 of 3 sites answers, 2 needed"),
        UNREACHABLE),
    row("lock NAME -- echo in", (WAITS, ""), (0, "in"), (WAITS, ""), UNREACHABLE),
    row("lock NAME --no-wait -- echo in", (1, "not granted: NAME is held by ana"), (0, "in"),
        NO_QUORUM, UNREACHABLE),
    row("lock NAME --wait 200ms -- echo in", (1, "not granted: NAME is held by ana"), (0, "in"),
        NO_QUORUM, UNREACHABLE),
    row("elect leader NAME", (0, "10.0.0.7 leads NAME: ana"), (1, "nobody leads NAME"), NOT_KNOWN,
        UNREACHABLE),
    row("break NAME --fence FENCE --reason x", (0, "is over: NAME is free"),
        (1, "NAME has no grant with fence"), NOT_KNOWN, UNREACHABLE),
];

/// The locks of each cluster: one is held by a caller of site 1, until it is lost or broken.
const NAMES: [&str; 2] = ["held", "free"];

/// Runs a command, or starts it and ends it with a signal if it does not end by itself.
fn observe(sites: &TestCluster, line: &str, (code, _): Cell) -> Done {
    let is_watch = line.starts_with("watch") && code == 0;
    if !is_watch && code != WAITS {
        return sites.run(1, line, &[]);
    }
    let mut running = sites.spawn(1, line, &[]);
    let mut first = String::new();
    if is_watch {
        first = running.line();
    } else {
        let name = line.split(' ').nth(1).expect("it has a name");
        sites.wait_for_waiters(1, name, 1);
    }
    running.signal(Signal::SIGINT);
    let done = running.finish();
    Done { out: first + &done.out, ..done }
}

/// Asserts that all commands do what the column says.
#[track_caller]
fn check(sites: &TestCluster, fence: u64, column: impl Fn(&Row, &str) -> Cell) {
    for row in &TABLE {
        for name in NAMES {
            check_cell(sites, fence, row.line, name, column(row, name));
        }
    }
}

#[track_caller]
fn check_cell(sites: &TestCluster, fence: u64, line: &str, name: &str, cell: Cell) {
    let fill = |text: &str| text.replace("NAME", name).replace("FENCE", &fence.to_string());
    let (line, text) = (fill(line), fill(cell.1));
    let done = observe(sites, &line, cell);
    let printed = done.out + &done.err;
    assert_eq!(done.code, Some(cell.0), "{line}: {printed}");
    assert!(printed.contains(&text), "{line}: `{text}` is not in: {printed}");
}

/// A cluster whose site 1 has a caller that holds a lock, and the fence of that caller.
fn cluster() -> (TestCluster, crate::cluster::Running, u64) {
    let sites = TestCluster::start(3);
    let (holder, fence) = sites.hold(1, "lock held --owner ana --purpose 10.0.0.7");
    (sites, holder, fence)
}

fn with_quorum(row: &Row, name: &str) -> Cell {
    if name == "held" { row.held } else { row.free }
}

#[test]
fn all_sites_answer() {
    let (sites, _holder, fence) = cluster();
    check(&sites, fence, with_quorum);
    let shown = sites.show(1, "free");
    assert_eq!((&shown["known"], &shown["answering"]), (&json!(true), &json!(3)), "{shown}");
}

#[test]
fn a_quorum_of_the_sites_answers() {
    let (mut sites, _holder, fence) = cluster();
    sites.kill(3);
    until("site 1 does not wait for site 3", || {
        sites.show(1, "held")["silent"] == json!([3]) && sites.show(1, "held")["known"] == true
    });
    let shown = sites.run(1, "show free", &[]);
    assert_eq!(shown.out, "free is free\nsite 3 does not answer\n");
    check(&sites, fence, with_quorum);
}

#[test]
fn a_minority_of_the_sites_answers() {
    let (mut sites, holder, fence) = cluster();
    sites.kill(2);
    sites.kill(3);
    until("the grant is over", || sites.show(1, "held")["holders"] == json!([]));
    assert_eq!(holder.finish().code, Some(121), "it could not be extended");
    check(&sites, fence, |row, _| row.minority);
    let shown = sites.show(1, "free");
    let expected = json!({
        "name": "free", "kind": null, "holders": [], "waiting": [], "token": null, "known": false,
        "doubt": "1 of 3 sites answers, 2 needed", "answering": 1, "needed": 2, "silent": [2, 3],
        "more": { "inside": 0, "waiting": 0 },
    });
    assert_eq!(shown, expected);
    let listed = sites.run(1, "ls --json", &[]).json();
    assert_eq!((&listed["known"], &listed["needed"]), (&json!(false), &json!(2)), "{listed}");
    let health = sites.run(1, "sites --json", &[]).json();
    assert_eq!((&health["quorum"], &health["needed"]), (&json!(false), &json!(2)), "{health}");
    let leader = sites.run(1, "elect leader free --json", &[]).json();
    assert_eq!((&leader["leader"], &leader["known"]), (&json!(null), &json!(false)), "{leader}");
}

#[test]
fn no_site_answers() {
    let (mut sites, _holder, fence) = cluster();
    (1..=3).for_each(|site| sites.kill(site));
    // All at once: each tries for seconds to connect.
    thread::scope(|scope| {
        for row in &TABLE {
            scope.spawn(|| check_cell(&sites, fence, row.line, "free", row.none));
        }
    });
}

/// What `quorate lock` prints on a terminal while it waits, and `explain` says of it.
#[test]
fn a_waiter_is_told_what_is_known() {
    let (mut sites, _holder, _) = cluster();
    let waiter = TerminalWaiter::start(&sites, "held");
    assert!(waiter.line().starts_with("quorate: waiting: held is held by ana on "));
    drop(waiter);
    sites.kill(2);
    sites.kill(3);
    until("site 1 has no quorum", || sites.show(1, "free")["silent"] == json!([2, 3]));
    let waiter = TerminalWaiter::start(&sites, "free");
    let line = "quorate: waiting: free: not known: 1 of 3 sites answers, 2 needed; 1 waits";
    assert_eq!(waiter.line(), line);
    let explained = sites.run(1, "explain free --json", &[]).json();
    let request = &explained["requests"][0];
    assert_eq!((&explained["known"], &request["inside"]), (&json!(false), &json!(false)));
    assert_eq!((&request["lacks"], &request["unheard"]), (&json!([2, 3]), &json!([2, 3])));
    let text = sites.run(1, "explain free", &[]);
    let lacks = ": waits; lacks the permission of sites 2 and 3, which do not answer\n";
    assert!(text.out.contains(lacks), "{}", text.out);
    assert_eq!(text.code, Some(125));
}

/// A waiting `quorate lock` whose standard error is a terminal.
struct TerminalWaiter {
    running: crate::cluster::Running,
    terminal: File,
}

impl TerminalWaiter {
    fn start(sites: &TestCluster, name: &str) -> Self {
        let ends = openpty(None, None).unwrap();
        let line = format!("lock {name} -- true");
        let running = sites.spawn_with_errors_to(1, &line, Stdio::from(ends.slave));
        Self { running, terminal: File::from(ends.master) }
    }

    /// Its first line.
    fn line(&self) -> String {
        let (mut terminal, mut line) = (&self.terminal, Vec::new());
        while !line.ends_with(b"\n") {
            let mut byte = [0];
            terminal.read_exact(&mut byte).unwrap();
            line.extend(byte);
        }
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }
}

impl Drop for TerminalWaiter {
    fn drop(&mut self) {
        self.running.signal(Signal::SIGINT);
    }
}

/// Every row of the table above is in the documentation, word for word.
#[test]
fn the_documented_table_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guarantees.md");
    let page = std::fs::read_to_string(path).unwrap();
    for row in &TABLE {
        let cell = |(code, text): Cell| match (code, text) {
            (WAITS, _) => "waits".to_owned(),
            (_, "in") => "runs the command".to_owned(),
            _ => format!("{code}: {text}"),
        };
        let cells = [row.held, row.free, row.minority, row.none].map(cell).join(" | ");
        let line = format!("| `{}` | {cells} |", row.line);
        assert!(page.contains(&line), "not in docs/guarantees.md:\n{line}");
    }
}

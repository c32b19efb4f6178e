//! The only site of a client goes away: how late waits end.

use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use quorate::{Cluster, Options, Question};

use crate::client::run as run_client;
use crate::sites::{Outage, Sites};

/// How often each outage happens.
const REPETITIONS: usize = 5;

/// The timeout of each wait that has one of its own.
const TIMEOUT: Duration = Duration::from_secs(2);

/// A signal that stops a process takes a moment.
const SETTLES: Duration = Duration::from_millis(50);

/// Lines of the program, without an address, and when they end at the latest if no site answers.
const LINES: [(&str, Duration); 6] = [
    ("lock --wait 2s busy -- true", TIMEOUT),
    ("lock --no-wait busy -- true", Duration::from_secs(1)),
    ("show busy", Duration::from_secs(1)),
    ("explain busy", Duration::from_secs(1)),
    ("ls", Duration::from_secs(1)),
    ("sites", Duration::from_secs(1)),
];

/// Calls of the library.
#[derive(Clone, Copy, Debug)]
enum Call {
    LockWithin,
    TryLock,
    Ask,
}

const CALLS: [Call; 3] = [Call::LockWithin, Call::TryLock, Call::Ask];

/// A wait, and how late it ended, in milliseconds; negative if it ended before its deadline.
type Late = (String, f64);

/// Prints how late waits end.
pub(crate) fn run(sites: &mut Sites) {
    println!("\nhow late waits end if this site is the only one known, {REPETITIONS} outages each");
    println!("{:<11} {:<40} {:>9} {:>10}", "the site is", "wait", "median ms", "longest ms");
    for outage in [Outage::Killed, Outage::Stopped, Outage::CutOff] {
        let outages: Vec<Vec<Late>> = (0..REPETITIONS).map(|_| measure(sites, outage)).collect();
        for (place, (what, _)) in outages[0].iter().enumerate() {
            let mut late: Vec<f64> = outages.iter().map(|waits| waits[place].1).collect();
            late.sort_by(f64::total_cmp);
            let (median, longest) = (late[REPETITIONS / 2], late[REPETITIONS - 1]);
            println!("{:<11} {what:<40} {median:>9.0} {longest:>10.0}", format!("{outage:?}"));
        }
    }
}

/// One outage. A command and a client of the library are connected before, the other commands
/// connect after it.
fn measure(sites: &mut Sites, outage: Outage) -> Vec<Late> {
    let (address, lease) = (sites.last_for_clients(), sites.lease);
    let (_holder, _) = sites.cluster.hold(1, "lock busy");
    let connected = Barrier::new(CALLS.len() + 1);
    let gone = Barrier::new(CALLS.len() + 1);
    let late = thread::scope(|scope| {
        let call = |call| {
            let (address, connected, gone) = (&address, &connected, &gone);
            scope.spawn(move || {
                run_client(async {
                    let cluster = Cluster::connect(address).await.expect("the site runs");
                    connected.wait();
                    gone.wait();
                    late_call(&cluster, call, lease).await
                })
            })
        };
        let calls = CALLS.map(call);
        connected.wait();
        let (start, waiter) = (Instant::now(), spawn(LINES[0].0, &address));
        sites.cluster.wait_for_waiters(1, "busy", 1);
        sites.begin(outage);
        thread::sleep(SETTLES);
        gone.wait();
        let waiter = scope.spawn(move || late_end(waiter, start + TIMEOUT));
        let lines = LINES.map(|(line, most)| {
            let address = &address;
            scope.spawn(move || {
                let start = Instant::now();
                late_end(spawn(line, address), start + most)
            })
        });
        let connect = scope.spawn(|| run_client(late_connection(&address)));
        let mut late = vec![("command that waited before: lock --wait".to_owned(), join(waiter))];
        let ends = LINES.iter().zip(lines).map(|((line, _), end)| (line, join(end)));
        late.extend(ends.map(|(line, late)| (format!("command: {line}"), late)));
        late.push(("library: Options::connect".to_owned(), join(connect)));
        let ends = CALLS.iter().zip(calls).map(|(call, end)| (call, join(end)));
        late.extend(ends.map(|(call, late)| (format!("library: {call:?}"), late)));
        late
    });
    sites.end(outage);
    late
}

fn join(late: thread::ScopedJoinHandle<'_, f64>) -> f64 {
    late.join().expect("no panic")
}

fn spawn(line: &str, address: &str) -> Child {
    let mut command = Command::new(crate::PROGRAM);
    command.args(line.split_whitespace()).env("QUORATE_CONNECT", address);
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program was built")
}

/// How long after its deadline a command ends. It cannot succeed.
fn late_end(mut command: Child, deadline: Instant) -> f64 {
    let status = command.wait().expect("it was started");
    assert!(!status.success(), "no site answers");
    milliseconds_after(deadline)
}

async fn late_connection(address: &str) -> f64 {
    let deadline = Instant::now() + TIMEOUT;
    let connected = Options::new([address]).timeout(TIMEOUT).connect().await;
    assert!(connected.is_err(), "the site does not answer");
    milliseconds_after(deadline)
}

async fn late_call(cluster: &Cluster, call: Call, lease: Duration) -> f64 {
    let lock = cluster.mutex("busy").expect("a valid name");
    let start = Instant::now();
    let most = match call {
        Call::LockWithin => {
            assert!(lock.lock_within(TIMEOUT).await.is_err(), "it is held");
            TIMEOUT
        }
        Call::TryLock => {
            assert!(lock.try_lock().await.is_err(), "it is held");
            lease
        }
        Call::Ask => {
            let question = Question::Show("busy".parse().expect("a valid name"), None);
            assert!(cluster.ask(question, TIMEOUT).await.answers.is_empty(), "no site answers");
            TIMEOUT.min(lease)
        }
    };
    milliseconds_after(start + most)
}

fn milliseconds_after(deadline: Instant) -> f64 {
    let now = Instant::now();
    let (after, before) = (now.duration_since(deadline), deadline.duration_since(now));
    (after.as_secs_f64() - before.as_secs_f64()) * 1000.0
}

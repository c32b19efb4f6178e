//! Many waiters on one name, and what the views say about them.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use quorate::Cluster;
use tokio::task::JoinSet;

use crate::Arguments;
use crate::client::run as run_client;
use crate::sites::Sites;

/// Prints how long each view takes, and how it begins: while the waiters come, and when all are
/// there. Then whether the holder still holds.
pub(crate) fn run(arguments: &Arguments) {
    let sites = Sites::start(arguments);
    let (mut holder, fence) = sites.cluster.hold(1, "lock busy");
    let each = arguments.count / arguments.sites;
    for site in 1..=arguments.sites {
        let (address, (sent, all_sent)) = (sites.address(site), mpsc::channel());
        thread::spawn(move || run_client(queue(address, each, &sent)));
        all_sent.recv().expect("the site runs");
    }
    let all = each * arguments.sites;
    println!("{each} waiters through each of {} sites come", arguments.sites);
    print_views(&sites);
    while waiters(&sites) < all {}
    println!("all {all} wait");
    print_views(&sites);
    let held = sites.cluster.show(1, "busy")["holders"][0]["fence"] == fence;
    println!("the holder {} its lock", if held { "keeps" } else { "HAS LOST" });
    holder.close_output();
    for site in 1..=arguments.sites {
        println!("peak memory of site {site}: {} MiB", sites.cluster.peak_memory(site));
    }
}

fn print_views(sites: &Sites) {
    for line in ["show busy", "ls", "explain busy", "sites"] {
        let start = Instant::now();
        let done = sites.cluster.run(1, line, &[]);
        println!("{line}: exit {:?} after {:.2?}", done.code, start.elapsed());
        for text in done.out.lines().chain(done.err.lines()).take(4) {
            println!("    {text}");
        }
        println!("    ({} lines)", done.out.lines().count());
    }
}

/// How many callers wait, listed or not.
fn waiters(sites: &Sites) -> usize {
    let status = sites.cluster.show(1, "busy");
    let listed = status["waiting"].as_array().expect("a list").len();
    let more = status["more"]["waiting"].as_u64().expect("a number");
    listed + usize::try_from(more).expect("it fits")
}

/// Queues many claims, and waits for ever.
async fn queue(address: String, count: usize, sent: &mpsc::Sender<()>) {
    let cluster = Cluster::connect(address).await.expect("the site runs");
    let lock = cluster.mutex("busy").expect("a valid name");
    let mut claims = JoinSet::new();
    for _ in 0..count {
        let lock = lock.clone();
        claims.spawn(async move { lock.lock().await });
    }
    sent.send(()).expect("somebody waits");
    while let Some(claim) = claims.join_next().await {
        drop(claim);
    }
}

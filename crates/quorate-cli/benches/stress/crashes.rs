//! One site after the other is killed, beside locks that are held at another one and waited for
//! everywhere: whether their holders keep them.

use std::ops::Deref;
use std::thread;
use std::time::Duration;

use quorate::{Cluster, Error, Guard, Role};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::Arguments;
use crate::client::background;
use crate::sites::Sites;

/// What is held in each round.
const KINDS: [&str; 6] = ["mutex", "read-write", "pool", "group", "role", "token"];

/// Prints how many grants of each kind were lost in so many crashes.
pub(crate) fn run(arguments: &Arguments, crashes: usize) {
    let mut sites = Sites::start(arguments);
    let runtime = background();
    let mut lost = [0; KINDS.len()];
    for crash in 0..crashes {
        let victim = 1 + crash % (arguments.sites - 1);
        for (count, is_lost) in lost.iter_mut().zip(crash_of(&mut sites, &runtime, crash, victim)) {
            *count += usize::from(is_lost);
        }
    }
    println!("{} sites, {crashes} crashes, waiters at every site; lost grants", arguments.sites);
    for (kind, lost) in KINDS.iter().zip(lost) {
        println!("{kind:<10} {lost:>4}");
    }
}

/// A lock of each kind is held at the last site, and waited for at each; then `victim` is killed.
/// Whether the grants are lost two leases later.
fn crash_of(sites: &mut Sites, runtime: &Handle, crash: usize, victim: usize) -> Vec<bool> {
    let last = sites.last();
    let name = |kind: &str| format!("{kind}/{crash}");
    let connect = |site: usize| Cluster::connect(sites.address(site));
    let holder = runtime.block_on(connect(last)).expect("the site runs");
    let guards = KINDS.map(|kind| {
        runtime.block_on(take(holder.clone(), kind, name(kind), "held")).expect("it is free")
    });
    let waiters: Vec<Waiter> = (1..=last)
        .flat_map(|site| {
            let cluster = runtime.block_on(connect(site)).expect("the site runs");
            KINDS.map(|kind| runtime.spawn(take(cluster.clone(), kind, name(kind), "other")))
        })
        .collect();
    for kind in KINDS {
        sites.cluster.wait_for_waiters(last, &name(kind), last);
    }
    thread::sleep(sites.lease);
    sites.cluster.kill(victim);
    thread::sleep(2 * sites.lease);
    let lost = guards.iter().map(|guard| !guard.is_valid()).collect();
    waiters.iter().for_each(JoinHandle::abort);
    drop(guards);
    sites.cluster.restart(victim);
    sites.cluster.wait_until_connected();
    thread::sleep(sites.lease); // until its quarantine ends
    lost
}

/// A claim that waits in the background.
type Waiter = JoinHandle<Result<AnyGuard, Error>>;

/// A grant of any kind.
type AnyGuard = Box<dyn Deref<Target = Guard> + Send>;

/// Claims all of a lock of this kind, or a group that shares it with no other.
async fn take(cluster: Cluster, kind: &str, name: String, group: &str) -> Result<AnyGuard, Error> {
    let hour = Duration::from_hours(1);
    Ok(match kind {
        "mutex" => Box::new(Box::new(cluster.mutex(&name)?.lock().await?)),
        "read-write" => Box::new(Box::new(cluster.rwlock(&name)?.write().await?)),
        "pool" => Box::new(cluster.pool(&name, 2)?.acquire(2).await?),
        "group" => Box::new(cluster.group(&name)?.enter(group).await?),
        "role" => Box::new(cluster.group(&name)?.join(group, Role::Exclusive, hour).await?),
        _ => Box::new(cluster.group(&name)?.via_token().enter(group).await?),
    })
}

//! The client crate against real sites: over TCP, over a Unix socket, and in this process.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use quorate::{Cluster, Denial, Error, Options, Question, SiteConfig};
use quorate_server::Server;

/// Starts three sites in this process, with leases of 0.6 s.
fn start(folder: &Path) -> (Vec<Server>, Vec<SiteConfig>) {
    start_with_lease(folder, 600)
}

fn start_with_lease(folder: &Path, lease_ms: u64) -> (Vec<Server>, Vec<SiteConfig>) {
    let (listeners, configs) = configure(folder, lease_ms);
    let start = |(config, listener)| Server::start_on(config, listener).unwrap();
    (configs.iter().zip(listeners).map(start).collect(), configs)
}

/// Three sites that do not run yet, and the sockets they will listen on.
fn configure(folder: &Path, lease_ms: u64) -> (Vec<TcpListener>, Vec<SiteConfig>) {
    let listeners: Vec<TcpListener> =
        (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
    let sites: Vec<String> = listeners.iter().map(address).collect();
    let config = |site: usize| SiteConfig {
        unix: Some(folder.join(format!("{}.sock", site + 1))),
        lease_ms,
        ..SiteConfig::new("test", site + 1, &sites, folder.join(format!("site-{}", site + 1)))
    };
    let configs = (0..3).map(config).collect();
    (listeners, configs)
}

#[tokio::test]
async fn a_lock_passes_between_tcp_and_unix_clients() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, configs) = start(folder.path());
    let one = Cluster::connect(servers[0].address().unwrap().to_string()).await.unwrap();
    let unix = configs[1].unix.as_ref().unwrap().display().to_string();
    let two = Cluster::connect(unix).await.unwrap();
    let first = one.mutex("deploy").unwrap().lock().await.unwrap();
    let busy = two.mutex("deploy").unwrap().try_lock().await;
    assert!(busy.as_ref().is_err_and(Error::is_busy), "{busy:?}");
    let late = two.mutex("deploy").unwrap().lock_within(Duration::from_millis(50)).await;
    assert!(matches!(late, Err(Error::Denied(Denial::TimedOut))), "{late:?}");
    let fence = first.fence();
    let lock = two.mutex("deploy").unwrap();
    let waiting = tokio::spawn(async move { lock.lock().await });
    first.release().await.unwrap();
    let second = waiting.await.unwrap().unwrap();
    assert!(second.fence() > fence);
    assert!(second.is_valid());
}

#[tokio::test]
async fn a_grant_is_extended_while_it_is_held_and_lost_when_its_site_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (mut servers, _) = start(folder.path());
    let cluster = Cluster::connect(servers[0].address().unwrap().to_string()).await.unwrap();
    let guard = cluster.mutex("deploy").unwrap().lock().await.unwrap();
    let held = tokio::time::timeout(Duration::from_secs(2), guard.lost()).await;
    assert!(held.is_err(), "it is held for more than three leases");
    assert!(guard.is_valid());
    drop(servers.remove(0));
    guard.lost().await;
    assert!(guard.valid_for() <= cluster.lease() / 60, "not before its time is up");
    while guard.is_valid() {
        tokio::task::yield_now().await;
    }
    assert!(matches!(guard.release().await, Err(Error::Lost(_))), "it was lost before");
}

#[tokio::test]
async fn an_acknowledged_release_outlives_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let one = Cluster::connect(servers[0].address().unwrap().to_string()).await.unwrap();
    assert_eq!((one.lease(), one.sites().count()), (Duration::from_millis(600), 3));
    let guard = one.mutex("deploy").unwrap().lock().await.unwrap();
    guard.release().await.unwrap();
    drop(one);
    let two = Cluster::connect(servers[0].address().unwrap().to_string()).await.unwrap();
    assert!(two.mutex("deploy").unwrap().try_lock().await.is_ok(), "it is free");
}

#[tokio::test]
async fn a_future_that_is_dropped_gives_up() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let cluster = Cluster::connect(servers[0].address().unwrap().to_string()).await.unwrap();
    let guard = cluster.mutex("deploy").unwrap().lock().await.unwrap();
    let lock = cluster.mutex("deploy").unwrap();
    let gone = tokio::time::timeout(Duration::from_millis(30), lock.lock()).await;
    assert!(gone.is_err());
    let calls = |responses: quorate::Responses| {
        let shown = responses.answers.into_values().filter_map(|answer| match answer {
            quorate::Answer::Shown(view) => view,
            _ => None,
        });
        shown.flat_map(|view| view.calls).count()
    };
    let question = || Question::Show("deploy".parse().unwrap(), None);
    let seen = cluster.ask(question(), Duration::from_secs(5)).await;
    assert_eq!(seen.answers.len(), 3);
    assert_eq!(calls(seen), 1, "only the holder is left");
    drop(guard);
    let again = cluster.mutex("deploy").unwrap().lock().await.unwrap();
    assert!(again.is_valid());
}

#[tokio::test]
async fn the_holder_of_a_broken_grant_learns_why() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let one = Cluster::connect(servers[0].address().unwrap().to_string()).await.unwrap();
    let two = Cluster::connect(servers[1].address().unwrap().to_string()).await.unwrap();
    let guard = one.mutex("deploy").unwrap().lock().await.unwrap();
    two.break_grant("deploy".parse().unwrap(), guard.fence(), "it hangs").unwrap();
    assert!(guard.lost().await.to_string().contains("it hangs"));
    let fence = guard.fence();
    drop(guard);
    assert!(two.mutex("deploy").unwrap().lock().await.unwrap().fence() > fence);
}

#[tokio::test]
async fn a_site_that_hangs_does_not_delay_the_next_for_long() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let hung = TcpListener::bind("127.0.0.1:0").unwrap(); // it accepts no connection
    let addresses = [hung.local_addr().unwrap(), servers[1].address().unwrap()];
    let cluster = Options::new(addresses.map(|address| address.to_string())).connect().await;
    assert!(cluster.unwrap().mutex("deploy").unwrap().lock().await.unwrap().is_valid());
}

/// Attempts to connect fail at first, and a sixth of this lease is less than the usual first delay.
#[tokio::test]
async fn sites_with_the_shortest_lease_connect_to_sites_that_start_later() {
    let folder = tempfile::tempdir().unwrap();
    let (listeners, configs) = configure(folder.path(), 200);
    drop(listeners);
    let first = Cluster::embedded(&configs[0]).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let _others = [1, 2].map(|site| Cluster::embedded(&configs[site]).unwrap());
    let lock = first.mutex("deploy").unwrap();
    assert!(lock.lock_within(Duration::from_secs(10)).await.is_ok());
}

/// The same for a client whose site restarts.
#[tokio::test]
async fn a_client_with_the_shortest_lease_connects_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut servers, configs) = start_with_lease(folder.path(), 200);
    let cluster = Cluster::connect(servers[0].address().unwrap().to_string()).await.unwrap();
    servers[0].stop().await;
    servers.remove(0);
    tokio::time::sleep(Duration::from_millis(300)).await;
    let _again = Server::start(&configs[0]).unwrap();
    let lock = cluster.mutex("deploy").unwrap();
    assert!(lock.lock_within(Duration::from_secs(10)).await.is_ok());
}

#[tokio::test]
async fn an_unreachable_cluster_is_an_error_that_names_the_address() {
    let options = Options::new(["127.0.0.1:1"]).timeout(Duration::from_millis(10));
    let error = options.connect().await.unwrap_err();
    assert!(error.to_string().starts_with("no site can be reached: 127.0.0.1:1"), "{error}");
}

#[tokio::test]
async fn a_cluster_in_memory_behaves_like_any_other() {
    let sites = Cluster::in_memory(3).unwrap();
    let guard = sites[0].mutex("deploy").unwrap().lock().await.unwrap();
    let denied = sites[1].mutex("deploy").unwrap().try_lock().await.unwrap_err();
    assert!(denied.is_busy(), "{denied}");
    let first = guard.fence();
    guard.release().await.unwrap();
    let next = sites[2].mutex("deploy").unwrap().lock().await.unwrap();
    assert!(next.fence() > first);
}

#[tokio::test]
async fn the_sites_of_a_cluster_in_memory_have_reached_each_other_when_it_starts() {
    for _ in 0..20 {
        let sites = Cluster::in_memory(5).unwrap();
        for site in &sites {
            let responses = site.ask(Question::Sites, Duration::from_secs(3)).await;
            assert_eq!(responses.answering.counted.len(), 5, "{:?}", responses.answering);
        }
    }
}

#[tokio::test]
async fn a_cluster_in_memory_loses_a_site_and_goes_on() {
    let mut sites = Cluster::in_memory(3).unwrap();
    let held = sites[0].mutex("deploy").unwrap().lock().await.unwrap();
    let first = held.fence();
    drop((held, sites.remove(0)));
    let next = sites[0].mutex("deploy").unwrap().lock().await.unwrap();
    assert!(next.fence() > first);
}

#[tokio::test]
async fn a_site_in_the_current_runtime_grants_too() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let config = SiteConfig::new("test", 1, &[address], folder.path().to_owned());
    let cluster = Cluster::embedded_here(&config).unwrap();
    let first = cluster.mutex("deploy").unwrap().lock().await.unwrap();
    let fence = first.fence();
    first.release().await.unwrap();
    assert!(cluster.mutex("deploy").unwrap().lock().await.unwrap().fence() > fence);
}

#[tokio::test]
async fn units_of_a_pool_are_shared_and_numbered() {
    let sites = Cluster::in_memory(3).unwrap();
    let pool = |site: usize| sites[site].pool("gpu", 8).unwrap().numbered();
    let first = pool(0).acquire(3).await.unwrap();
    let second = pool(1).acquire(4).await.unwrap();
    assert_eq!((first.numbers().len(), second.numbers().len()), (3, 4));
    assert!(first.numbers().is_disjoint(second.numbers()));
    let late = pool(2).acquire_within(2, Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(late, Error::Denied(Denial::TimedOut)), "{late}");
    let busy = pool(2).try_acquire(2).await.unwrap_err();
    assert!(busy.is_busy(), "{busy}");
    drop(pool(2).try_acquire(1).await.unwrap());
    first.release().await.unwrap();
    let third = pool(2).acquire(4).await.unwrap();
    assert!(third.numbers().is_disjoint(second.numbers()) && third.is_valid());
}

#[tokio::test]
async fn a_pool_has_one_size_and_no_more_than_it_has() {
    let sites = Cluster::in_memory(3).unwrap();
    let error = sites[0].pool("gpu", 8).unwrap().acquire(9).await.unwrap_err();
    assert_eq!(error.to_string(), "invalid units: 9 of 8");
    let _held = sites[0].pool("gpu", 8).unwrap().acquire(1).await.unwrap();
    let error = sites[1].pool("gpu", 4).unwrap().acquire(1).await.unwrap_err();
    assert!(error.to_string().contains("it is a pool of 8"), "{error}");
    let error = sites[0].mutex("gpu").unwrap().lock().await.unwrap_err();
    assert!(error.to_string().contains("it is a pool of 8"), "{error}");
}

#[tokio::test]
async fn a_site_in_this_process_counts_its_messages() {
    let sites = Cluster::in_memory(3).unwrap();
    let sent = || sites.iter().filter_map(Cluster::messages_sent).sum::<u64>();
    let before = sent();
    let held = sites[0].mutex("deploy").unwrap().lock().await.unwrap();
    assert!(sent() >= before + 2, "a request and a reply at least");
    drop(held);
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let remote = Cluster::connect(servers[0].address().unwrap().to_string()).await.unwrap();
    assert_eq!(remote.messages_sent(), None);
}

#[tokio::test]
async fn no_grant_waits_for_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let sites: Vec<Cluster> =
        servers.into_iter().map(|server| Cluster::of_server(server).unwrap()).collect();
    let mut last = quorate::Fence(0);
    for site in &sites {
        // By now every site has granted a lease, and has written its length to disk.
        last = site.mutex("deploy").unwrap().lock().await.unwrap().fence();
    }
    let writes = || -> Vec<u64> {
        sites.iter().filter_map(|site| site.server().map(Server::disk_writes)).collect()
    };
    let before = writes();
    for turn in 1..200 {
        let guard = sites[turn % 3].mutex("deploy").unwrap().lock().await.unwrap();
        assert!(guard.fence() > last, "{} after {last}", guard.fence());
        last = guard.fence();
    }
    assert_eq!(before, writes(), "no sync on the way to a grant");
}

#[tokio::test]
async fn when_a_site_stops_its_callers_lose_their_locks_and_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let mut sites = servers.into_iter().map(|server| Cluster::of_server(server).unwrap());
    let (one, two) = (sites.next().unwrap(), sites.next().unwrap());
    let held = one.mutex("deploy").unwrap().lock().await.unwrap();
    let lock = two.mutex("deploy").unwrap();
    let next = tokio::spawn(async move { lock.lock().await });
    one.server().unwrap().stop().await;
    assert_eq!(held.lost().await, quorate::Lost::Expired);
    assert!(!held.is_valid());
    assert!(next.await.unwrap().unwrap().fence() > held.fence());
    let error = one.mutex("deploy").unwrap().lock().await.unwrap_err();
    assert!(matches!(error, Error::Stopped(_)), "{error}");
}

#[tokio::test]
async fn all_waiting_tasks_learn_why_a_lock_is_lost() {
    let sites = Cluster::in_memory(3).unwrap();
    let guard = sites[0].mutex("deploy").unwrap().lock().await.unwrap();
    let guard = std::sync::Arc::new(guard);
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let guard = std::sync::Arc::clone(&guard);
            tokio::spawn(async move { guard.lost().await.to_string() })
        })
        .collect();
    sites[1].break_grant("deploy".parse().unwrap(), guard.fence(), "it hangs").unwrap();
    for waiter in waiters {
        assert_eq!(waiter.await.unwrap(), "it was broken: it hangs");
    }
    assert_eq!(guard.lost().await.to_string(), "it was broken: it hangs", "later callers too");
}

#[tokio::test]
async fn a_guard_keeps_its_cluster_alive() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let cluster = Cluster::connect(servers[0].address().unwrap().to_string()).await.unwrap();
    let guard = cluster.mutex("deploy").unwrap().lock().await.unwrap();
    let lease = cluster.lease();
    drop(cluster);
    let lost = tokio::time::timeout(2 * lease, guard.lost()).await;
    assert!(lost.is_err() && guard.is_valid(), "it is extended for two leases");
}

/// A program that drops its guard last, with a runtime of one thread that never runs again.
#[test]
fn a_guard_that_is_dropped_when_no_task_runs_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start_with_lease(folder.path(), 60_000);
    let address = servers[0].address().unwrap().to_string();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let idle = runtime();
    let guard = idle.block_on(async {
        let cluster = Cluster::connect(address.clone()).await.unwrap();
        cluster.mutex("deploy").unwrap().lock().await.unwrap()
    });
    drop(guard); // `idle` does nothing meanwhile
    runtime().block_on(async {
        let other = Cluster::connect(address).await.unwrap();
        let lock = other.mutex("deploy").unwrap();
        let within = lock.lock_within(other.lease() / 2).await;
        assert!(within.is_ok(), "it was free before its lease was over: {within:?}");
    });
}

#[tokio::test]
async fn a_claim_that_does_not_wait_names_the_holder() {
    let sites = Cluster::in_memory(3).unwrap();
    let _held = sites[0].mutex("deploy").unwrap().lock().await.unwrap();
    let error = sites[1].mutex("deploy").unwrap().try_lock().await.unwrap_err();
    let Error::Busy(holders) = &error else { panic!("{error}") };
    assert_eq!(holders.len(), 1);
    assert_eq!((holders[0].claimant.pid, holders[0].site.index()), (std::process::id(), 0));
    assert!(
        !holders[0].claimant.owner.is_empty() && !holders[0].claimant.host.is_empty(),
        "{error}"
    );
}

#[tokio::test]
async fn an_election_has_one_leader_and_is_observed() {
    let sites = Cluster::in_memory(3).unwrap();
    let election = |site: usize| sites[site].election("scheduler").unwrap();
    let mut observer = election(2).observe();
    assert_eq!(observer.next().await, None, "there is no leader yet");
    let first = election(0).campaign("one:9000").await.unwrap();
    assert_eq!(observer.next().await.unwrap().value(), "one:9000");
    let late = election(1).campaign_within("two:9000", Duration::from_millis(20)).await;
    assert!(late.unwrap_err().is_timeout());
    let candidate = election(1);
    let second = tokio::spawn(async move { candidate.campaign("two:9000").await });
    let fence = first.fence();
    first.resign().await.unwrap();
    let second = second.await.unwrap().unwrap();
    assert!(second.fence() > fence);
    assert_eq!(election(0).leader().await.unwrap().unwrap().value(), "two:9000");
    let long = "x".repeat(quorate::Election::VALUE_MAX + 1);
    let error = election(0).campaign(&long).await.unwrap_err();
    assert_eq!(error.to_string(), "the value has 1025 bytes; at most 1024 are allowed");
}

#[test]
fn a_program_without_a_runtime_holds_locks_too() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let connect = |site: usize| {
        let address = servers[site].address().unwrap().to_string();
        quorate::blocking::Cluster::connect(address).unwrap()
    };
    let (one, two) = (connect(0), connect(1));
    let guard = one.mutex("deploy").unwrap().lock().unwrap();
    assert!(two.mutex("deploy").unwrap().try_lock().unwrap_err().is_busy());
    let fence = guard.fence();
    let lock = two.mutex("deploy").unwrap();
    let next = std::thread::spawn(move || lock.lock().unwrap().fence());
    guard.release().unwrap();
    assert!(next.join().unwrap() > fence);
    let units = one.pool("gpu", 4).unwrap().acquire(3).unwrap();
    assert!(two.pool("gpu", 4).unwrap().try_acquire(2).unwrap_err().is_busy());
    drop(units);
    let groups = one.group("warehouse").unwrap().enter_any(&["v1", "v2"]).unwrap();
    assert_eq!(groups.group(), "v1");
}

#[test]
fn waiters_learn_that_the_runtime_of_their_client_ended() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, _) = start(folder.path());
    let address = servers[0].address().unwrap().to_string();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (first, second) = (runtime(), runtime());
    let cluster = first.block_on(Cluster::connect(address)).unwrap();
    let held = first.block_on(cluster.mutex("deploy").unwrap().lock()).unwrap();
    drop(first);
    second.block_on(async {
        let error = cluster.mutex("deploy").unwrap().lock().await.unwrap_err();
        assert!(matches!(error, Error::Stopped(_)), "{error}");
        assert_eq!(held.lost().await, quorate::Lost::Expired);
    });
}

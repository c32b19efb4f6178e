//! `quorate lock --units`: units of a pool.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::Signal;
use quorate::Cluster;
use serde_json::json;

use crate::cluster::{LEASE_MS, TestCluster, until};
use crate::program::quorate;

const PRINT_UNITS: [&str; 4] = ["--", "sh", "-c", "echo $QUORATE_UNITS; cat > /dev/null"];

fn numbers(line: &str) -> BTreeSet<u32> {
    line.trim().split(',').map(|number| number.parse().expect("a number")).collect()
}

#[test]
fn concurrent_holders_have_distinct_units() {
    let sites = TestCluster::start(3);
    let mut first = sites.spawn(1, "lock gpu --units 3 --of 8 --numbered", &PRINT_UNITS);
    let first_units = numbers(&first.line());
    let mut second = sites.spawn(2, "lock gpu --units 5 --of 8 --numbered", &PRINT_UNITS);
    let second_units = numbers(&second.line());
    let all: BTreeSet<u32> = first_units.union(&second_units).copied().collect();
    assert_eq!(all, (0..8).collect(), "{first_units:?} {second_units:?}");

    let refused = sites.run(3, "lock gpu --units 1 --of 8 --no-wait -- echo no", &[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(refused.err.contains("gpu has lent 8 of 8 units"), "{}", refused.err);
    let shown = sites.show(3, "gpu");
    assert_eq!(shown["kind"], "pool of 8");
    let held: u64 =
        shown["holders"].as_array().unwrap().iter().filter_map(|h| h["units"].as_u64()).sum();
    assert_eq!(held, 8, "{shown}");
    let text = sites.run(3, "show gpu", &[]).out;
    assert!(text.contains("UNITS") && text.contains("3 of 8: "), "{text}");
    let listed = sites.run(3, "ls", &[]).out;
    assert!(listed.contains("pool of 8") && listed.contains("2 holders"), "{listed}");

    assert_eq!((first.finish().code, second.finish().code), (Some(0), Some(0)));
    let count =
        sites.run(3, "lock gpu --units 2 --of 8", &["--", "sh", "-c", "echo $QUORATE_UNITS"]);
    assert_eq!(count.out, "2\n", "without --numbered it is how many");
}

/// Two of five sites are killed in turn. Claims of 1, 2 and 3 units are served at all others, and
/// holders keep their units, though callers wait at every site.
#[test]
fn a_pool_goes_on_and_holders_stay_while_two_of_five_sites_are_down() {
    let mut sites = TestCluster::start(5);
    let holders = [1, 2].map(|site| sites.hold(site, &format!("lock held --units {site} --of 5")));
    let mut waiters: Vec<_> =
        (1..=5).map(|site| sites.spawn(site, "lock held --units 3 --of 5", &PRINT_UNITS)).collect();
    sites.wait_for_waiters(1, "held", 5);
    until("the holders have stayed for half a lease", || {
        let shown = sites.show(1, "held");
        let ages = shown["holders"].as_array().unwrap().iter().map(|h| h["age_ms"].as_u64());
        ages.flatten().filter(|age| *age > LEASE_MS / 2).count() == 2
    });
    let fences = |sites: &TestCluster| -> BTreeSet<u64> {
        let shown = sites.show(1, "held");
        let holders = shown["holders"].as_array().unwrap().iter();
        holders.filter_map(|holder| holder["fence"].as_u64()).collect()
    };
    let held: BTreeSet<u64> = holders.iter().map(|(_, fence)| *fence).collect();
    for killed in [5, 4] {
        sites.kill(killed);
        for (site, units) in (1..=3).flat_map(|site| [1, 2, 3].map(|units| (site, units))) {
            let line = format!("lock gpu --units {units} --of 5 --numbered");
            let done = sites.run(site, &line, &["--", "sh", "-c", "echo $QUORATE_UNITS"]);
            assert_eq!(
                done.code,
                Some(0),
                "{units} at site {site}, {killed} is down: {}",
                done.err
            );
            assert_eq!(numbers(&done.out).len(), units, "{}", done.out);
        }
        // The claim is gone when the lease of its site is over, after those of the holders there.
        sites.wait_for_waiters(1, "held", killed - 1);
        assert_eq!(fences(&sites), held, "site {killed} is down");
    }
    for (holder, _) in holders {
        assert_eq!(holder.finish().code, Some(0));
    }
    for waiter in waiters.drain(..3) {
        let done = waiter.finish();
        assert_eq!((done.code, done.out.as_str()), (Some(0), "3\n"), "{}", done.err);
    }
}

/// They need more sites the fewer units a claim asks for.
#[test]
fn pools_by_arbiters_are_made_where_the_configuration_says_so() {
    let by_arbiters = |_: &Path, _| "pool = \"arbiters\"\n".to_owned();
    let mut sites = TestCluster::start_with(3, by_arbiters, Vec::new());
    let mut first = sites.spawn(1, "lock gpu --units 1 --of 3 --numbered", &PRINT_UNITS);
    let first_units = numbers(&first.line());
    let second = sites.run(2, "lock gpu --units 2 --of 3 --numbered", &PRINT_UNITS);
    assert!(numbers(&second.out).is_disjoint(&first_units), "{}", second.out);
    assert_eq!(first.finish().code, Some(0));
    sites.kill(3);
    let all = sites.run(1, "lock gpu --units 3 --of 3", &["--", "echo", "in"]);
    assert_eq!((all.code, all.out.as_str()), (Some(0), "in\n"), "{}", all.err);
    let one = sites.spawn(1, "lock gpu --units 1 --of 3", &["--", "echo", "in"]);
    until("a claim of one unit lacks site 3, and nothing else", || {
        let explained = sites.run(2, "explain --json", &["gpu"]).json();
        let request = &explained["requests"][0];
        request["lacks"] == json!([3]) && request["unheard"] == json!([3])
    });
    sites.restart(3);
    assert_eq!(one.finish().out, "in\n");
}

#[test]
fn the_units_of_a_killed_holder_come_back() {
    let mut sites = TestCluster::start(3);
    let mut killed = sites.spawn(1, "lock gpu --units 6 --of 8", &PRINT_UNITS);
    assert_eq!(killed.line(), "6\n");
    let mut waits = sites.spawn(2, "lock gpu --units 4 --of 8", &PRINT_UNITS);
    sites.wait_for_waiters(3, "gpu", 1);
    killed.signal(Signal::SIGKILL);
    assert_eq!(waits.line(), "4\n", "its client was killed");
    let mut next = sites.spawn(3, "lock gpu --units 6 --of 8", &PRINT_UNITS);
    sites.wait_for_waiters(3, "gpu", 1);
    sites.kill(2);
    assert_eq!(next.line(), "6\n", "its site was killed");
}

#[test]
fn invalid_units_are_refused() {
    let sites = TestCluster::start(1);
    let refused = sites.run(1, "lock gpu --units 9 --of 8 -- echo no", &[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{}", refused.err);
    assert!(refused.err.contains("invalid units: 9 of 8"), "{}", refused.err);
    quorate("lock gpu --units 3 -- echo no").refused(&["--of"]);
    let (holder, _) = sites.hold(1, "lock gpu");
    let other = sites.run(1, "lock gpu --units 1 --of 8 -- echo no", &[]);
    other.refused(&["gpu is a mutex, not a pool of 8, used by "]);
    assert_eq!(holder.finish().code, Some(0));
}

/// Sixty clients claim 1 to 5 of eight units each, and count the units that are held.
#[test]
fn many_clients_never_hold_more_units_than_the_pool_has() {
    let sites = TestCluster::start(3);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let out = Arc::new(AtomicU32::new(0));
    runtime.block_on(async {
        let visit = |client: usize| {
            let (address, out) = (sites.addresses[client % 3].clone(), Arc::clone(&out));
            async move {
                let cluster = Cluster::connect(address).await.unwrap();
                let count = u32::try_from(client % 5 + 1).unwrap();
                let units = cluster.pool("many", 8).unwrap().acquire(count).await.unwrap();
                let before = out.fetch_add(count, Ordering::SeqCst);
                assert!(before + count <= 8 && units.is_valid(), "{before} and {count}");
                tokio::task::yield_now().await;
                out.fetch_sub(count, Ordering::SeqCst);
                units.release().await.unwrap();
            }
        };
        let clients: Vec<_> = (0..60).map(|client| tokio::spawn(visit(client))).collect();
        for client in clients {
            client.await.unwrap();
        }
    });
    assert_eq!(out.load(Ordering::SeqCst), 0);
}

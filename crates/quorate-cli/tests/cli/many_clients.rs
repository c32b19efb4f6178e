//! Many clients at once, and many grants with crashes in between.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use quorate::Cluster;

use crate::cluster::TestCluster;

const CLIENTS: usize = 200;

/// A client acquires or releases the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Enters(u64),
    Leaves(u64),
}

#[test]
fn two_hundred_clients_share_one_lock() {
    let sites = TestCluster::start(3);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let history = Arc::new(Mutex::new(Vec::new()));
    runtime.block_on(async {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let address = sites.addresses[client % 3].clone();
                tokio::spawn(visit(address, Arc::clone(&history)))
            })
            .collect();
        for client in clients {
            let visited = tokio::time::timeout(Duration::from_secs(50), client).await;
            visited.expect("every client gets the lock").unwrap();
        }
    });
    let history = history.lock().unwrap();
    assert_eq!(history.len(), 2 * CLIENTS);
    let mut last = 0;
    for visit in history.chunks(2) {
        let [Event::Enters(fence), left] = *visit else { panic!("two holders: {visit:?}") };
        assert_eq!(left, Event::Leaves(fence), "two holders");
        assert!(fence > last, "{fence} comes after {last}");
        last = fence;
    }
}

/// One client: connects, acquires, releases.
async fn visit(address: String, history: Arc<Mutex<Vec<Event>>>) {
    let cluster = Cluster::connect(address).await.unwrap();
    let guard = cluster.mutex("many").unwrap().lock().await.unwrap();
    let fence = guard.fence().0;
    history.lock().unwrap().push(Event::Enters(fence));
    tokio::task::yield_now().await;
    assert!(guard.is_valid());
    history.lock().unwrap().push(Event::Leaves(fence));
    guard.release().await.unwrap();
}

#[test]
fn two_hundred_clients_hold_one_lock_each() {
    let sites = TestCluster::start(3);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let guards = runtime.block_on(async {
        let hold = |client: usize| {
            let address = sites.addresses[client % 3].clone();
            async move {
                let cluster = Cluster::connect(address).await.unwrap();
                let name = format!("lock {client}");
                let guard = cluster.mutex(&name).unwrap().lock().await.unwrap();
                (cluster, guard)
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(hold(client))).collect();
        let mut guards = Vec::new();
        for client in clients {
            guards.push(client.await.unwrap());
        }
        guards
    });
    assert!(guards.iter().all(|(_, guard)| guard.is_valid()), "all hold their locks together");
    let listed = sites.run(2, "ls --json", &[]).json();
    assert_eq!(listed["locks"].as_array().expect("a list").len(), CLIENTS);
}

/// Each client holds the lock when its site is killed; the next one uses another site.
#[test]
fn fences_grow_over_a_thousand_grants_with_kills_in_between() {
    let mut sites = TestCluster::start(3);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut last = 0;
    for round in 0..4 {
        let options = quorate::Options::new([sites.addresses[round % 3].clone()]);
        runtime.block_on(async {
            let cluster = options.connect().await.unwrap();
            for _ in 0..250 {
                let guard = cluster.mutex("hot").unwrap().lock().await.unwrap();
                assert!(guard.fence().0 > last, "{} comes after {last}", guard.fence());
                last = guard.fence().0;
                guard.release().await.unwrap();
            }
            // The lock is held when its site is killed, so nobody releases it.
            let guard = cluster.mutex("hot").unwrap().lock().await.unwrap();
            last = guard.fence().0;
            sites.kill(round % 3 + 1);
            guard.lost().await;
        });
        sites.restart(round % 3 + 1);
        sites.wait_until_connected();
    }
}

//! Many clients of one lock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use quorate::Cluster;

use crate::sites::Sites;

const CLIENTS: usize = 200;

/// What happened at the lock, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Enters(u64),
    Leaves(u64),
}

#[test]
fn two_hundred_clients_take_turns() {
    let sites = Sites::start(3);
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
            visited.expect("it gets in").unwrap();
        }
    });
    let history = history.lock().unwrap();
    assert_eq!(history.len(), 2 * CLIENTS);
    let mut last = 0;
    for visit in history.chunks(2) {
        let [Event::Enters(fence), left] = *visit else { panic!("two are inside: {visit:?}") };
        assert_eq!(left, Event::Leaves(fence), "two are inside");
        assert!(fence > last, "{fence} comes after {last}");
        last = fence;
    }
}

/// One client: connects, enters, leaves.
async fn visit(address: String, history: Arc<Mutex<Vec<Event>>>) {
    let cluster = Cluster::connect(address).await.unwrap();
    let guard = cluster.mutex("crowd").unwrap().lock().await.unwrap();
    let fence = guard.fence().0;
    history.lock().unwrap().push(Event::Enters(fence));
    tokio::task::yield_now().await;
    assert!(guard.is_valid());
    history.lock().unwrap().push(Event::Leaves(fence));
    guard.release().await;
    assert!(cluster.heard(Duration::from_secs(20)).await);
}

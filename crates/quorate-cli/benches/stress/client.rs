//! A client with many claims.

use std::future::pending;
use std::sync::mpsc;
use std::thread;

use quorate::{Cluster, Guard};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// Runs a future in a runtime of its own.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(future)
}

/// A runtime in a thread of its own, until the program ends.
pub(crate) fn background() -> Handle {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        run(async {
            send.send(Handle::current()).expect("somebody waits");
            pending::<()>().await;
        });
    });
    receive.recv().expect("the thread runs")
}

/// Claims `count` names at once through the site at `address`, and waits until all are held.
pub(crate) async fn hold_names(address: String, count: usize) -> Vec<Guard> {
    let cluster = Cluster::connect(address).await.expect("the site runs");
    let mut claims = JoinSet::new();
    for number in 0..count {
        let lock = cluster.mutex(&format!("names/{number}")).expect("a valid name");
        claims.spawn(async move { lock.lock().await });
    }
    let guards = claims.join_all().await.into_iter();
    guards.map(|guard| guard.expect("nobody else wants it")).collect()
}

//! Leader election: a mutex held for long. Start several, and kill the leader.
//!
//! `quorate up` in one terminal, then `cargo run -p quorate-client --example leader` in others.

use std::time::Duration;

use quorate::{Cluster, Error};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7420".into());
    let cluster = Cluster::connect(address).await?;
    loop {
        println!("standing for election");
        let guard = cluster.mutex("leader")?.lock().await?;
        println!("leading, term {}", guard.fence());
        tokio::select! {
            () = lead() => return Ok(()),
            why = guard.lost() => println!("not leading any more: {why}"),
        }
    }
}

/// The work of the leader.
async fn lead() {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        println!("still leading");
    }
}

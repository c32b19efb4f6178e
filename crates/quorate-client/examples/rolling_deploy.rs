//! A rolling deploy in which two versions of a program never run together.
//!
//! Each worker of a version holds a group lock with that version while it runs. Workers of one
//! version run together; the first of the next version waits until the last of the old one has
//! left, on whatever host that is.
//!
//! `quorate up` in one terminal, then in some
//! `cargo run -p quorate-client --example rolling_deploy -- v1`, and with `v2` in others. A tool
//! that can work with either version passes `v1 v2`.

use std::time::Duration;

use quorate::{Cluster, Error};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let versions: Vec<String> = std::env::args().skip(1).collect();
    if versions.is_empty() {
        eprintln!("expected one or more versions, as in `v1` or `v1 v2`");
        std::process::exit(2);
    }
    let address = std::env::var("QUORATE_CONNECT").unwrap_or_else(|_| "127.0.0.1:7420".into());
    let cluster = Cluster::connect(address).await?;
    println!("waiting until {} may run", versions.join(" or "));
    let guard = cluster.group("workers")?.enter_any(versions.iter().map(String::as_str)).await?;
    tokio::select! {
        () = serve(guard.group()) => guard.release().await?,
        why = guard.lost() => eprintln!("stop: {why}"),
    }
    Ok(())
}

/// Stands for a worker that serves until it is told to make room for the next version.
async fn serve(version: &str) {
    println!("{version} is running");
    tokio::time::sleep(Duration::from_secs(10)).await;
    println!("{version} has drained its requests");
}

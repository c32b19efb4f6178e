//! A migration that runs once, however many replicas start at the same time.
//!
//! `quorate up` in one terminal, then `cargo run -p quorate-client --example migrate` in others.

use std::path::Path;

use quorate::{Cluster, Error};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7420".into());
    let cluster = Cluster::connect(address).await?;
    let guard = cluster.mutex("migrate/schema-7")?.lock().await?;
    // The second replica finds it done.
    if is_done() {
        println!("done already");
    } else {
        println!("migrating, with fence {}", guard.fence());
        migrate().expect("the marker can be written");
    }
    guard.release().await?;
    Ok(())
}

fn marker() -> std::path::PathBuf {
    std::env::temp_dir().join("quorate-example-schema-7")
}

fn is_done() -> bool {
    Path::new(&marker()).exists()
}

fn migrate() -> std::io::Result<()> {
    std::fs::write(marker(), "done")
}

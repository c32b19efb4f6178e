//! Jobs that share eight GPUs; each gets devices of its own.
//!
//! `quorate up` in one terminal, then in others
//! `cargo run -p quorate-client --example gpu_pool -- 3`, for a job that needs three of them.

use std::time::Duration;

use quorate::{Cluster, Error};

const GPUS: u32 = 8;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1);
    let address = std::env::args().nth(2).unwrap_or_else(|| "127.0.0.1:7420".into());
    let cluster = Cluster::connect(address).await?;
    println!("waiting for {count} of {GPUS}");
    let units = cluster.pool("gpu", GPUS)?.numbered().acquire(count).await?;
    let devices: Vec<String> = units.numbers().iter().map(ToString::to_string).collect();
    let devices = devices.join(",");
    tokio::select! {
        () = train(&devices) => units.release().await?,
        why = units.lost() => eprintln!("stop: {why}"),
    }
    Ok(())
}

/// Stands for the work: a real job would start a process with `CUDA_VISIBLE_DEVICES`.
async fn train(devices: &str) {
    println!("training on {devices}");
    tokio::time::sleep(Duration::from_secs(10)).await;
    println!("done");
}

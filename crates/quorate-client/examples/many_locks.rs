//! Takes many locks through one site, holds them for a while, and prints the cost:
//! `many_locks ADDRESS COUNT SECONDS`.

use std::fs;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:7420".to_owned());
    let count: usize = arguments.next().unwrap_or_else(|| "100000".to_owned()).parse()?;
    let seconds: u64 = arguments.next().unwrap_or_else(|| "60".to_owned()).parse()?;
    let cluster = quorate::Cluster::connect(address).await?;

    let (started, cpu) = (Instant::now(), cpu_time()?);
    let mut claims = JoinSet::new();
    for number in 0..count {
        let lock = cluster.mutex(&format!("many/{number}"))?;
        claims.spawn(async move { lock.lock().await });
    }
    let mut guards = Vec::with_capacity(count);
    while let Some(claim) = claims.join_next().await {
        guards.push(claim??);
    }
    let each = (cpu_time()? - cpu) * 1e6 / count as f64;
    println!("{count} locks taken in {:.1?}, {each:.1} us of CPU each", started.elapsed());
    println!("memory: {} kB", memory()?);

    let held = cpu_time()?;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let lost = guards.iter().filter(|guard| !guard.is_valid()).count();
    let share = (cpu_time()? - held) / seconds as f64 * 100.0;
    println!("held for {seconds} s: {lost} lost, {share:.2} % of a processor");

    let (started, cpu) = (Instant::now(), cpu_time()?);
    let mut releases = JoinSet::new();
    for guard in guards {
        releases.spawn(guard.release());
    }
    while let Some(released) = releases.join_next().await {
        released??;
    }
    let each = (cpu_time()? - cpu) * 1e6 / count as f64;
    println!("all released in {:.1?}, {each:.1} us of CPU each", started.elapsed());
    Ok(())
}

/// The processor time that this process has used, in seconds.
fn cpu_time() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split(' ').collect();
    let ticks = fields[12].parse::<u64>()? + fields[13].parse::<u64>()?;
    Ok(ticks as f64 / 100.0)
}

/// The memory that this process has resident, in kB.
fn memory() -> Result<u64, Box<dyn std::error::Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}

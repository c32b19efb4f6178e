//! Many readers of a table and one compactor, in versions that never mix.
//!
//! Readers are shared members of the table's version, the compactor is its exclusive member: it
//! works beside readers, and never beside another compactor. Each declares how long it will take,
//! so a late one of this version is granted only if it ends before the next version's turn.
//!
//! `quorate up` in one terminal, then in others
//! `cargo run -p quorate-client --example compactor -- v1 read`, `-- v1 compact`, `-- v2 read`.

use std::time::Duration;

use quorate::{Cluster, Error, Role};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (version, role, time) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [version, "read"] => (version, Role::Shared, Duration::from_secs(5)),
        [version, "compact"] => (version, Role::Exclusive, Duration::from_secs(10)),
        _ => {
            eprintln!("expected a version, and `read` or `compact`");
            std::process::exit(2);
        }
    };
    let address = std::env::var("QUORATE_CONNECT").unwrap_or_else(|_| "127.0.0.1:7420".into());
    let table = Cluster::connect(address).await?.group("table")?;
    println!("waiting to be {role} in {version}");
    let member = table.join(version, role, time).await?;
    println!("{} in {}, with fence {}", member.role(), member.group(), member.fence());
    tokio::select! {
        () = tokio::time::sleep(time) => member.release().await?,
        why = member.lost() => eprintln!("stop: {why}"),
    }
    println!("done");
    Ok(())
}

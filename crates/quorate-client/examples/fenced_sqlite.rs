//! A table that refuses a holder that has lost the lock: the fence is checked in the same
//! transaction.
//!
//! `quorate up` in one terminal, then `cargo run -p quorate-client --example fenced_sqlite`.

use quorate::{Cluster, Fence};
use rusqlite::{Connection, Transaction, params};

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS fence (name TEXT PRIMARY KEY, highest INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS job (id INTEGER PRIMARY KEY, what TEXT NOT NULL);
";

/// Runs `work` in a transaction, unless a higher fence has been seen for `name`.
fn fenced(
    database: &mut Connection,
    name: &str,
    fence: Fence,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<bool> {
    let transaction = database.transaction()?;
    let fence = i64::try_from(fence.0).expect("2^63 grants outlast any database");
    let passed = transaction.execute(
        "INSERT INTO fence VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET highest = ?2 WHERE highest <= ?2",
        params![name, fence],
    )?;
    if passed == 0 {
        return Ok(false); // rolled back when it is dropped
    }
    work(&transaction)?;
    transaction.commit()?;
    Ok(true)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7420".into());
    let cluster = Cluster::connect(address).await?;
    let guard = cluster.mutex("jobs")?.lock().await?;
    let mut database = Connection::open(std::env::temp_dir().join("quorate-example.sqlite"))?;
    database.execute_batch(SCHEMA)?;
    let done = fenced(&mut database, "jobs", guard.fence(), |transaction| {
        transaction.execute("INSERT INTO job (what) VALUES ('sweep')", []).map(drop)
    })?;
    println!("{} with fence {}", if done { "written" } else { "refused" }, guard.fence());
    guard.release().await?;
    Ok(())
}

#[test]
fn a_stale_holder_is_refused() {
    let mut database = Connection::open_in_memory().unwrap();
    database.execute_batch(SCHEMA).unwrap();
    let add = |database: &mut Connection, fence| {
        fenced(database, "jobs", Fence(fence), |transaction| {
            transaction.execute("INSERT INTO job (what) VALUES ('sweep')", []).map(drop)
        })
        .unwrap()
    };
    assert!(add(&mut database, 3));
    assert!(add(&mut database, 7));
    assert!(add(&mut database, 7), "the holder goes on");
    assert!(!add(&mut database, 3), "the one before does not");
    let count = database.query_row("SELECT count(*) FROM job", [], |row| row.get::<_, i64>(0));
    assert_eq!(count, Ok(3));
}

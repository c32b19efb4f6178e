//! Clients that ask for too much are refused or cut off; others are served meanwhile.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quorate::{Claimant, Cluster, PurposeText};
use quorate_session::SessionNo;
use quorate_session::client::ClientId;
use quorate_session::session::{ClusterId, Hello, Incarnation, Opening, Packet, Renewal, Seq};
use quorate_wire::{ClientPacket, Decoder, Handshake, HandshakeReply, Refusal, Who, encode};
use serde::Serialize;

use crate::cluster::{TestCluster, until};

/// The most that a site may use in these tests, in MiB. It starts with about 15.
const MEMORY_MAX: u64 = 150;

/// A client that sends what it likes.
struct RawClient {
    stream: TcpStream,
    cluster_id: ClusterId,
}

impl RawClient {
    /// Connects as a client; `Err` if the site refuses.
    fn connect(address: &str) -> Result<Self, Refusal> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = ClientId(NEXT.fetch_add(1, Ordering::Relaxed).into());
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(&frame(&Handshake::new(&Who::Client(id)))).unwrap();
        match read_frame(&mut stream) {
            HandshakeReply::Welcome { cluster_id, .. } => Ok(Self { stream, cluster_id }),
            HandshakeReply::Refused(why) => Err(why),
        }
    }

    /// Connects, and opens session 1.
    fn with_session(address: &str) -> Self {
        let mut client = Self::connect(address).unwrap();
        client.send(&client.hello(Opening::New(SessionNo(1)))).unwrap();
        let welcome: ClientPacket = read_frame(&mut client.stream);
        assert!(matches!(welcome, Packet::Welcome(_)), "{welcome:?}");
        client
    }

    fn hello(&self, opening: Opening) -> ClientPacket {
        let incarnation = Incarnation(1);
        Packet::Hello(Hello { cluster_id: self.cluster_id, incarnation, opening })
    }

    fn send(&mut self, packet: &ClientPacket) -> std::io::Result<()> {
        self.stream.write_all(&frame(packet))
    }

    /// Waits until the site closes the connection.
    #[track_caller]
    fn expect_end(mut self) {
        let mut bytes = [0; 4096];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return,
                Ok(_) => {}
                Err(error) => panic!("the site keeps the connection: {error}"),
            }
        }
    }
}

fn frame(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(value, &mut bytes).unwrap();
    bytes
}

/// The next frame. The site has sent no other yet.
fn read_frame<T: serde::de::DeserializeOwned>(stream: &mut TcpStream) -> T {
    let mut decoder = Decoder::default();
    loop {
        if let Some(frame) = decoder.next().unwrap() {
            return frame;
        }
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "the site has closed the connection");
        decoder.extend(&bytes[..count]);
    }
}

/// A claim with this reason for a break, as bytes of a frame that no client of ours would make.
fn oversized_break(reason: usize) -> Vec<u8> {
    let (up, request, of_break) = (6_u8, 0_u8, 3_u8);
    let by = ("ana", "host", 1_u32, "");
    let order = ("deploy", 1_u64, by, "x".repeat(reason));
    frame(&(up, 1_u64, 1_u64, 0_u64, request, of_break, order))
}

/// A client of ours, whose purpose is as long as it may be.
async fn talkative(address: &str) -> Cluster {
    let purpose = PurposeText::new("purpose", &"p".repeat(1024)).unwrap();
    let cluster = Cluster::connect(address).await.unwrap();
    cluster.with_claimant(Claimant { purpose, ..Claimant::default() })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[track_caller]
fn assert_served(sites: &TestCluster, site: usize) {
    let done = sites.run(site, "lock bystander --wait 10s -- echo served", &[]);
    assert_eq!((done.code, done.out.trim()), (Some(0), "served"), "{}", done.err);
}

#[test]
fn a_client_that_never_reads_is_disconnected() {
    let sites = TestCluster::start(3);
    let (holder, _) = sites.hold(1, "lock kept");
    let mut client = RawClient::with_session(&sites.addresses[0]);
    // Each renewal is answered; nobody reads the answers.
    let mut sent = 0_u64;
    let closed = (1..10_000_000).find(|k| {
        sent += 1;
        client.send(&Packet::Renew(SessionNo(1), Renewal(*k), Seq(0))).is_err()
    });
    assert!(closed.is_some());
    sites.wait_for_log(1, &["the connection of a client was closed", "it does not read"]);
    assert_served(&sites, 1);
    let memory = sites.memory(1);
    assert!(memory < MEMORY_MAX, "{memory} MiB after {sent} renewals");
    assert_eq!(holder.finish().code, Some(0), "the holder's lock was not lost");
}

#[test]
fn a_session_is_resumed_once_on_a_connection() {
    let sites = TestCluster::start(1);
    let mut client = RawClient::with_session(&sites.addresses[0]);
    for _ in 0..2 {
        client.send(&client.hello(Opening::Resume(SessionNo(1), Seq(0)))).unwrap();
    }
    client.expect_end();
    sites.wait_for_log(1, &["it resumes its session twice"]);
}

#[test]
fn nonsense_ends_its_connection_and_nothing_else() {
    let sites = TestCluster::start(3);
    let word = |at: u32| at.wrapping_mul(2_654_435_761).to_le_bytes();
    let nonsense: Vec<u8> = (1..25_000).flat_map(word).collect();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(&sites.addresses[0]).unwrap();
        drop(stream.write_all(&nonsense)); // the site may have closed it
        let mut client = RawClient::with_session(&sites.addresses[0]);
        drop(client.stream.write_all(&nonsense));
        client.expect_end();
    }
    sites.wait_for_log(1, &["a connection was refused", "it is not a connection of quorate"]);
    let mut long = RawClient::with_session(&sites.addresses[0]);
    long.stream.write_all(&[0, 0, 8, 0]).unwrap(); // a frame of half a MiB
    long.expect_end();
    let words = ["a frame of 524288 bytes is too long; at most 16384 are allowed"];
    sites.wait_for_log(1, &words);
    assert_served(&sites, 1);
    let memory = sites.memory(1);
    assert!(memory < MEMORY_MAX, "{memory} MiB");
}

#[test]
fn text_that_is_too_long_is_refused_by_commands_and_by_sites() {
    let sites = TestCluster::start(3);
    let long = "x".repeat(70_000);
    for (line, what) in [
        ("lock deploy --purpose", "purpose"),
        ("lock deploy --owner", "owner"),
        ("break deploy --fence 1 --reason", "reason"),
        ("elect campaign deploy", "value"),
        ("ls", "prefix"),
    ] {
        let done = sites.run(1, line, &[&long]);
        let most = if ["owner", "prefix"].contains(&what) { 256 } else { 1024 };
        let says = format!("the {what} has 70000 bytes; at most {most} are allowed");
        assert_eq!(done.code, Some(2), "{line}: {}", done.err);
        assert!(done.err.contains(&says), "{line}: {}", done.err);
    }
    let done = sites.run(1, "break deploy --fence 1 --reason", &["it\u{1b}[2J hangs"]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("the reason has the control character \\u{1b}"), "{}", done.err);
    // A client that does not check.
    for (reason, says) in
        [(2000, "a frame cannot be decoded"), ((1 << 20) - 100, "is too long; at most 16384")]
    {
        let mut client = RawClient::with_session(&sites.addresses[0]);
        drop(client.stream.write_all(&oversized_break(reason))); // it is closed meanwhile
        client.expect_end();
        sites.wait_for_log(1, &["the connection of a client was closed", says]);
    }
    assert_eq!(sites.logged(1, &["asked to break"]), [""; 0]);
    assert_served(&sites, 1);
}

#[test]
fn a_site_takes_so_many_clients_and_always_its_peers() {
    let mut sites = TestCluster::configure(3, |_, _| "clients_max = 30\n".into(), Vec::new());
    for site in 1..=3 {
        sites.restart(site);
    }
    sites.wait_until_connected();
    let connect = |_| RawClient::connect(&sites.addresses[0]);
    let (accepted, refused): (Vec<_>, Vec<_>) = (0..300).map(connect).partition(Result::is_ok);
    assert!((1..=30).contains(&accepted.len()), "{}", accepted.len());
    let full = Refusal::TooManyClients(30);
    assert!(refused.into_iter().all(|refused| refused.err() == Some(full.clone())));
    let done = sites.run(1, "show deploy", &[]);
    assert_eq!(done.code, Some(125));
    assert!(done.err.contains("the site has 30 clients, and takes no more"), "{}", done.err);
    // Connections that never say who they are.
    let silent: Vec<TcpStream> =
        (0..600).map(|_| TcpStream::connect(&sites.addresses[0]).unwrap()).collect();
    sites.kill(2);
    sites.restart(2);
    until("the sites are connected again", || {
        let done = sites.run(2, "sites --json", &[]);
        done.code == Some(0) && done.json()["sites"][0]["hears"] == serde_json::json!([2, 3])
    });
    drop(accepted);
    until("there is room again", || sites.run(1, "show deploy", &[]).code == Some(0));
    assert_served(&sites, 1);
    drop(silent);
}

#[test]
fn a_lock_with_thousands_of_waiters_is_shown_in_part() {
    const WAITERS: usize = 3000;
    let sites = TestCluster::start(3);
    let runtime = runtime();
    let (holder, fence) = sites.hold(2, "lock busy");
    let (other, _) = sites.hold(3, "lock other");
    let waiters = runtime.block_on(async {
        let cluster = talkative(&sites.addresses[0]).await;
        let wait = |_| {
            let mutex = cluster.mutex("busy").unwrap();
            tokio::spawn(async move { mutex.lock().await.map(|_| ()) })
        };
        let waiters: Vec<_> = (0..WAITERS).map(wait).collect();
        loop {
            let shown = sites.show(2, "busy");
            let listed = shown["waiting"].as_array().unwrap().len();
            let more = shown["more"]["waiting"].as_u64().unwrap();
            if listed as u64 + more == WAITERS as u64 {
                assert_eq!((listed, shown["known"].as_bool()), (64, Some(true)));
                return (cluster, waiters);
            }
            tokio::task::yield_now().await;
        }
    });
    for site in 1..=3 {
        let done = sites.run(site, "show", &["busy"]);
        assert_eq!(done.code, Some(0), "{}", done.err);
        assert!(done.out.contains("; 3000 wait\n"), "{}", done.out);
        assert!(done.out.contains("\nand 2936 more that wait\n"), "{}", done.out);
        let done = sites.run(site, "explain", &["busy"]);
        assert_eq!(done.code, Some(0), "{}", done.err);
        assert!(done.out.contains("\nand 2936 more that wait\n"), "{}", done.out);
        let done = sites.run(site, "ls", &[]);
        assert!(
            done.out.lines().any(|l| l.starts_with("busy") && l.ends_with(" 3000")),
            "{done:?}"
        );
    }
    assert_eq!(sites.show(3, "busy")["holders"][0]["fence"], fence);
    drop(waiters);
    drop(runtime);
    assert_eq!(holder.finish().code, Some(0), "no session was lost");
    assert_eq!(other.finish().code, Some(0), "no session was lost");
}

#[test]
fn a_thousand_locks_with_long_purposes_are_listed_in_pages() {
    const LOCKS: usize = 1000;
    let sites = TestCluster::start(3);
    let runtime = runtime();
    let held = runtime.block_on(async {
        let cluster = talkative(&sites.addresses[0]).await;
        let mut guards = Vec::new();
        for at in 0..LOCKS {
            guards.push(cluster.mutex(&format!("lock {at:04}")).unwrap().lock().await.unwrap());
        }
        (cluster, guards)
    });
    for site in 1..=3 {
        let done = sites.run(site, "ls --json", &[]);
        let listed = done.json();
        let names: Vec<&str> =
            listed["locks"].as_array().unwrap().iter().filter_map(|l| l["name"].as_str()).collect();
        let all: Vec<String> = (0..LOCKS).map(|at| format!("lock {at:04}")).collect();
        assert_eq!((done.code, names), (Some(0), all.iter().map(String::as_str).collect()));
        assert_eq!((&listed["more"], &listed["next"]), (&0.into(), &serde_json::Value::Null));
    }
    let page = sites.run(2, "ls --json --limit 2 --after", &["lock 0100", "lock 01"]).json();
    let names: Vec<_> = page["locks"].as_array().unwrap().iter().map(|l| &l["name"]).collect();
    assert_eq!(names, ["lock 0101", "lock 0102"]);
    assert_eq!(page["next"], "lock 0102");
    assert!(page["more"].as_u64().unwrap() > 0, "{page}");
    let done = sites.run(2, "ls --limit 1", &[]);
    assert!(done.out.contains("others, after lock 0000"), "{}", done.out);
    drop(held);
    drop(runtime);
}

/// A pool of many units has few different quorums.
#[test]
fn pools_of_many_different_sizes_cost_little() {
    const POOLS: u32 = 2000;
    let sites = TestCluster::start(3);
    let runtime = runtime();
    let held = runtime.block_on(async {
        let cluster = Cluster::connect(sites.addresses[0].as_str()).await.unwrap();
        let mut guards = Vec::new();
        for size in (0..POOLS).map(|at| (1 << 16) - at) {
            let pool = cluster.pool(&format!("pool of {size}"), size).unwrap();
            guards.push(pool.acquire(1).await.unwrap());
        }
        (cluster, guards)
    });
    assert_served(&sites, 1);
    for site in 1..=3 {
        let memory = sites.memory(site);
        assert!(memory < MEMORY_MAX, "site {site}: {memory} MiB");
    }
    drop(held);
    drop(runtime);
}

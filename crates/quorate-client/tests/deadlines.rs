//! Clients whose sites are cut off: every wait ends by itself, and the client moves to another
//! site.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use quorate::{Cluster, Error, Options, Question, Role, SiteConfig};
use quorate_server::Server;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::sync::watch;

const LEASE_MS: u64 = 600;

/// Longer than half a lease, after which a site counts as silent.
const WAIT: Duration = Duration::from_secs(1);

/// Three sites in this process, and a wire to each that can be cut.
struct Net {
    servers: Vec<Server>,
    wires: Vec<Wire>,
    _folder: tempfile::TempDir,
}

impl Net {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (listeners, configs) = configure(folder.path());
        let start = |(config, listener)| Server::start_on(config, listener).unwrap();
        let servers: Vec<Server> = configs.iter().zip(listeners).map(start).collect();
        let wires = servers.iter().map(|server| Wire::start(server.address().unwrap())).collect();
        Self { servers, wires, _folder: folder }
    }

    /// A client that reaches all sites, over wires.
    async fn client(&self) -> Cluster {
        Options::new(self.wires.iter().map(|wire| &wire.address)).connect().await.unwrap()
    }

    /// A client of one site, without a wire.
    async fn direct(&self, site: usize) -> Cluster {
        Cluster::connect(self.servers[site].address().unwrap().to_string()).await.unwrap()
    }

    /// The wire that is in use, if there is one client.
    fn wire_in_use(&self) -> &Wire {
        self.wires.iter().find(|wire| wire.open() > 0).expect("the client has a connection")
    }
}

fn configure(folder: &Path) -> (Vec<TcpListener>, Vec<SiteConfig>) {
    let listeners: Vec<TcpListener> =
        (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
    let sites: Vec<String> = listeners.iter().map(address).collect();
    let config = |site: usize| SiteConfig {
        lease_ms: LEASE_MS,
        ..SiteConfig::new("test", site + 1, &sites, folder.join(format!("site-{}", site + 1)))
    };
    (listeners, (0..3).map(config).collect())
}

/// Passes bytes on to a site until it is cut; then connections stay open, and nothing passes.
struct Wire {
    address: String,
    cut: watch::Sender<bool>,
    open: Arc<AtomicUsize>,
}

impl Wire {
    fn start(site: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let (cut, is_cut) = watch::channel(false);
        let open = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&open);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, site, is_cut.clone(), Arc::clone(&count)));
            }
        });
        Self { address, cut, open }
    }

    fn cut(&self) {
        self.cut.send_replace(true);
    }

    /// How many connections are open.
    fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

async fn pass(
    mut client: TcpStream,
    site: SocketAddr,
    mut is_cut: watch::Receiver<bool>,
    open: Arc<AtomicUsize>,
) {
    open.fetch_add(1, Ordering::SeqCst);
    let passing = async {
        let mut site = TcpStream::connect(site).await.unwrap();
        copy_bidirectional(&mut client, &mut site).await.ok();
    };
    tokio::select! {
        () = passing => {}
        () = async { drop(is_cut.wait_for(|cut| *cut).await) } => {
            std::future::pending::<()>().await; // the connections stay open
        }
    }
    open.fetch_sub(1, Ordering::SeqCst);
}

/// Fails a test whose wait does not end.
async fn ends<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), wait).await.expect("the wait ends")
}

#[track_caller]
fn assert_no_answer<T>(result: Result<T, Error>, address: &str) {
    let Err(error) = result else { panic!("it was granted") };
    assert!(matches!(error, Error::NoAnswer { .. }), "{error}");
    assert!(error.is_timeout());
    let text = error.to_string();
    assert!(text.starts_with(&format!("no site answers: tried {address}; the last")), "{text}");
}

#[tokio::test]
async fn every_wait_ends_at_its_deadline_though_the_site_is_cut_off() {
    let net = Net::start();
    let address = net.wires[0].address.as_str();
    let cluster = Cluster::connect(address).await.unwrap();
    drop(cluster.mutex("before").unwrap().lock().await.unwrap());
    net.wires[0].cut();
    let (mutex, pool) = (cluster.mutex("a").unwrap(), cluster.pool("b", 2).unwrap());
    let (group, token) = (cluster.group("c").unwrap(), cluster.group("d").unwrap().via_token());
    let (rwlock, election) = (cluster.rwlock("e").unwrap(), cluster.election("f").unwrap());
    let time = Duration::from_secs(5);
    let all = tokio::join!(
        ends(mutex.lock_within(WAIT)),
        ends(pool.acquire_within(1, WAIT)),
        ends(group.enter_any_within(["v1"], WAIT)),
        ends(token.enter_any_within(["v1"], WAIT)),
        ends(rwlock.read_within(WAIT)),
        ends(group.join_any_within([("v1", Role::Shared)], time, WAIT)),
        ends(election.campaign_within("me", WAIT)),
    );
    assert_no_answer(all.0, address);
    assert_no_answer(all.1, address);
    assert_no_answer(all.2, address);
    assert_no_answer(all.3, address);
    assert_no_answer(all.4, address);
    assert_no_answer(all.5, address);
    assert_no_answer(all.6, address);
}

#[tokio::test]
async fn claims_that_do_not_wait_and_questions_end_within_a_lease() {
    let net = Net::start();
    let address = net.wires[0].address.as_str();
    let cluster = Cluster::connect(address).await.unwrap();
    let held = cluster.mutex("held").unwrap().lock().await.unwrap();
    net.wires[0].cut();
    let (mutex, pool) = (cluster.mutex("a").unwrap(), cluster.pool("b", 2).unwrap());
    let question = Question::Show("a".parse().unwrap(), None);
    let election = cluster.election("f").unwrap();
    let all = tokio::join!(
        ends(mutex.try_lock()),
        ends(pool.try_acquire(1)),
        ends(cluster.ask(question, Duration::from_hours(1))),
        ends(election.leader()),
        ends(held.release()),
    );
    assert_no_answer(all.0, address);
    assert_no_answer(all.1, address);
    assert!(all.2.answers.is_empty());
    assert!(all.3.is_err(), "who leads is not known");
    assert!(all.4.is_ok(), "it was valid when it was released");
}

#[tokio::test]
async fn a_connection_that_nobody_answers_ends_at_its_deadline() {
    let hung = TcpListener::bind("127.0.0.1:0").unwrap(); // it accepts no connection
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addresses = [hung.local_addr().unwrap(), mute.local_addr().unwrap()];
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((stream, _)) = mute.accept().await {
            kept.push(stream); // it is never answered
        }
    });
    let options = Options::new(addresses.map(|address| address.to_string()));
    let error = ends(options.timeout(Duration::from_millis(300)).connect()).await.unwrap_err();
    let each = addresses.map(|address| format!("{address}: it does not answer"));
    assert_eq!(error.to_string(), format!("no site can be reached: {}", each.join("; ")));
}

#[tokio::test]
async fn a_waiting_claim_is_served_elsewhere_when_its_site_is_cut_off() {
    let net = Net::start();
    let holder = net.direct(0).await;
    let held = holder.mutex("deploy").unwrap().lock().await.unwrap();
    let cluster = net.client().await;
    let lock = cluster.mutex("deploy").unwrap();
    let waiting = tokio::spawn(async move { lock.lock().await });
    let cut = net.wire_in_use();
    cut.cut();
    let moved = || net.wires.iter().any(|wire| wire.address != cut.address && wire.open() > 0);
    ends(async {
        while !moved() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let fence = held.fence();
    held.release().await.unwrap();
    assert!(ends(waiting).await.unwrap().unwrap().fence() > fence);
}

#[tokio::test]
async fn a_holder_whose_site_is_cut_off_loses_its_grant_and_locks_again_elsewhere() {
    let net = Net::start();
    let cluster = net.client().await;
    let held = cluster.mutex("deploy").unwrap().lock().await.unwrap();
    net.wire_in_use().cut();
    let again = ends(cluster.mutex("other").unwrap().lock()).await.unwrap();
    assert!(!held.is_valid(), "no client has a session at two sites");
    assert!(again.is_valid());
}

/// The first site comes back with an empty folder: the others refuse it, and go on without it.
#[tokio::test]
async fn a_client_leaves_a_site_that_reaches_no_quorum() {
    let folder = tempfile::tempdir().unwrap();
    let (listeners, configs) = configure(folder.path());
    let start = |(config, listener)| Server::start_on(config, listener).unwrap();
    let mut servers: Vec<Server> = configs.iter().zip(listeners).map(start).collect();
    let addresses: Vec<String> =
        servers.iter().map(|server| server.address().unwrap().to_string()).collect();
    let cluster = Cluster::connect(&*addresses[0]).await.unwrap();
    drop(ends(cluster.mutex("all are up").unwrap().lock()).await.unwrap());

    servers.remove(0).stop().await;
    std::fs::remove_dir_all(&configs[0].data).unwrap();
    let listener = TcpListener::bind(&addresses[0]).unwrap();
    servers.push(Server::start_on(&configs[0], listener).unwrap());
    for name in 0..8 {
        // Half of them begin with the first site.
        let cluster = Options::new(&addresses[..2]).connect().await.unwrap();
        let lock = cluster.mutex(&format!("lock-{name}")).unwrap();
        assert!(ends(lock.lock()).await.unwrap().is_valid());
    }
    let alone = Cluster::connect(&*addresses[0]).await.unwrap();
    let error = ends(alone.mutex("deploy").unwrap().lock_within(WAIT)).await.unwrap_err();
    assert!(error.to_string().starts_with("this site has not joined its cluster"), "{error}");
}

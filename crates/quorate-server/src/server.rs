//! A running site.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use quorate_net::clock::{self, Alarm};
use quorate_net::descriptors;
use quorate_net::tls::Tls;
use quorate_session::SiteId;
use quorate_session::client::ClientId;
use quorate_session::session::Terms;
use quorate_site::client_gateway::{GatewayEffect, SiteWithClients};
use quorate_site::{Effect, Start};
use tokio::io::DuplexStream;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::ServerError;
use crate::admission::Admission;
use crate::config::SiteConfig;
use crate::core::{Core, Event};
use crate::disk::{Store, Write};
use crate::disk_writer;
use crate::inbox::{Events, Inbox, inbox};
use crate::local::{LocalClient, LocalLink};
use crate::transport::Transport;

/// A running site. Dropping it stops the site.
#[derive(Debug)]
pub struct Server {
    events: Events,
    terms: Terms,
    numbers: Arc<AtomicU64>,
    runtime: Option<Handle>,
    address: Option<SocketAddr>,
    writes: Arc<AtomicU64>,
    sent: Arc<AtomicU64>,
    sites: usize,
    /// The site's own thread, if it has one.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Starts a site in a thread of its own. Its incarnation is on disk when this returns.
    ///
    /// # Errors
    ///
    /// The configuration, the disk, the address or the certificates cannot be used.
    pub fn start(config: &SiteConfig) -> Result<Self, ServerError> {
        config.check()?;
        let listener = listen(config)?;
        Self::start_on(config, listener)
    }

    /// As [`Server::start`], on a socket that listens already.
    ///
    /// # Errors
    ///
    /// As [`Server::start`].
    pub fn start_on(
        config: &SiteConfig,
        listener: std::net::TcpListener,
    ) -> Result<Self, ServerError> {
        Self::start_in_thread(config, Sockets::Tcp(listener))
    }

    /// Starts all sites of a cluster in this process, for tests. Each has a thread of its own; they
    /// are connected in memory and have no disk. Each has sessions at all others when this returns.
    /// Settings of the configuration that concern one site are ignored.
    ///
    /// # Errors
    ///
    /// The configuration cannot be used, or the sites do not reach each other within ten seconds,
    /// because the machine is too busy.
    pub fn start_in_memory(sites: usize, config: &SiteConfig) -> Result<Vec<Self>, ServerError> {
        let addresses: Vec<String> = (1..=sites).map(|site| format!("127.0.0.1:{site}")).collect();
        let configs: Vec<SiteConfig> = (1..=sites)
            .map(|site| SiteConfig { site, sites: addresses.clone(), ..config.clone() })
            .collect();
        if let Some(why) = configs.iter().find_map(|config| config.check_settings().errors.pop()) {
            return Err(ServerError::Config(why));
        }
        let start = |(config, streams)| Self::start_in_thread(config, Sockets::Memory(streams));
        let all = configs.iter().zip(memory_streams(sites)).map(start);
        let servers = all.collect::<Result<Vec<Self>, ServerError>>()?;
        await_each_other(&servers)?;
        Ok(servers)
    }

    fn start_in_thread(config: &SiteConfig, sockets: Sockets) -> Result<Self, ServerError> {
        let (mut server, site) = Self::prepare(config, sockets)?;
        let (ready, started) = std::sync::mpsc::channel();
        let name = format!("site {}", config.me());
        let run = move || run(site, &ready);
        let thread = thread::Builder::new().name(name).spawn(run).map_err(ServerError::System)?;
        let runtime = started.recv().expect("the thread sends its result")?;
        (server.thread, server.runtime) = (Mutex::new(Some(thread)), Some(runtime));
        Ok(server)
    }

    /// Starts a site as a task of the current runtime: callers there reach it without a change of
    /// threads. If that runtime blocks for too long, the site loses its leases.
    ///
    /// # Errors
    ///
    /// As [`Server::start`].
    pub fn start_here(config: &SiteConfig) -> Result<Self, ServerError> {
        config.check()?;
        let (mut server, site) = Self::prepare(config, Sockets::Tcp(listen(config)?))?;
        tokio::spawn(site.start()?.run());
        server.runtime = Some(Handle::current());
        Ok(server)
    }

    /// Opens the disk and writes the new incarnation, but runs nothing yet.
    fn prepare(config: &SiteConfig, sockets: Sockets) -> Result<(Self, PreparedSite), ServerError> {
        let tls = config.tls.as_ref().map(Tls::read).transpose()?;
        let (address, store) = match &sockets {
            Sockets::Tcp(listener) => {
                let address = listener.local_addr().map_err(ServerError::System)?;
                (Some(address), Store::open(&config.data)?)
            }
            Sockets::Memory(_) => (None, Store::in_memory()?),
        };
        let problem = |why| ServerError::Disk(config.data.clone(), why);
        let past = store.read().map_err(problem)?;
        let places = store.mark_place(past.disk.identity.place).map_err(problem)?;
        let start = start(config, places)?;
        let (site, effects) =
            SiteWithClients::start(clock::now(), config.site_config()?, past, &start)
                .map_err(|error| problem(error.to_string()))?;
        for effect in &effects {
            if let GatewayEffect::Site(Effect::Persist(disk)) = effect {
                store.write(&[Write::Site(Box::new(disk.clone()))]).map_err(problem)?;
            }
        }
        let (events, inbox) = inbox();
        let clients_max = config.clients_max_of(descriptors::raise_limit());
        let numbers = Arc::default();
        let transport = Transport {
            me: config.me(),
            addresses: config.sites.clone().into(),
            terms: config.terms()?,
            configuration: Arc::new(config.configuration()),
            tls,
            events: events.clone(),
            numbers: Arc::clone(&numbers),
            log: Arc::default(),
            admission: Arc::new(Admission::new(clients_max)),
        };
        let server = Self {
            events,
            terms: config.terms()?,
            numbers,
            runtime: None,
            address,
            writes: store.writes(),
            sent: Arc::default(),
            sites: config.sites.len(),
            thread: Mutex::default(),
        };
        let (unix, sent) = (config.unix.clone(), Arc::clone(&server.sent));
        let (site, store) = (Box::new(site), Box::new(store));
        let folder = config.data.clone();
        Ok((server, PreparedSite { transport, sockets, unix, site, store, folder, inbox, sent }))
    }

    /// Connects a client in this process. Packets of the site go to `client`.
    pub fn connect(&self, id: ClientId, client: Arc<dyn LocalClient>) -> LocalLink {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        LocalLink::open(self.events.own.clone(), id, number, client)
    }

    /// The terms of its sessions.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The runtime it runs in.
    pub fn runtime(&self) -> &Handle {
        self.runtime.as_ref().expect("a site that was started has a runtime")
    }

    /// Where it listens, unless it is one of a cluster [in memory](Self::start_in_memory).
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// How often its disk was written since it started.
    pub fn disk_writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// How many messages of lock protocols it has sent to other sites since it started. Renewals of
    /// leases do not count.
    pub fn messages_sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// The length of a lease.
    pub fn lease(&self) -> Duration {
        self.terms.lease.length()
    }

    /// How many sites the cluster has.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// Waits until it has stopped by itself, because its disk or its timer failed. The log says
    /// which.
    pub async fn ended(&self) {
        self.events.own.closed().await;
    }

    /// Stops it, and waits until it has stopped. Grants of callers in this process are released, so
    /// stop the work under those locks first.
    pub async fn stop(&self) {
        self.end(Event::Stop).await;
    }

    /// Stops it within `time`, as gently as possible, and waits until it has stopped. Waiting
    /// callers go to another site and keep their place; those inside have this time to leave, and
    /// learn a lease before its end that their grants are lost; other sites stop relying on this
    /// one. It stops as soon as nobody needs it any more.
    pub async fn drain(&self, time: Duration) {
        self.end(|done| Event::Drain(time, done)).await;
    }

    /// Sends the event, and waits until the site has stopped.
    async fn end(&self, event: impl FnOnce(oneshot::Sender<()>) -> Event) {
        let (done, stopped) = oneshot::channel();
        if self.events.own.send(event(done)).is_ok() {
            drop(stopped.await);
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            drop(thread.join()); // it ends soon
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let (done, _) = oneshot::channel();
        drop(self.events.own.send(Event::Stop(done))); // it may have stopped
    }
}

/// What is random in a start, and where the folder lay and lies.
fn start(config: &SiteConfig, (place, new_place): (u64, u64)) -> Result<Start, ServerError> {
    let failed = |error: getrandom::Error| ServerError::System(io::Error::other(error));
    let mut birth = [0; 16];
    getrandom::fill(&mut birth).map_err(failed)?;
    let (birth, nonce) = (u128::from_le_bytes(birth), getrandom::u64().map_err(failed)?);
    Ok(Start { cluster: config.cluster.clone(), birth, nonce, place, new_place })
}

fn listen(config: &SiteConfig) -> Result<std::net::TcpListener, ServerError> {
    use std::net::ToSocketAddrs;
    let address = match config.listen {
        Some(address) => address,
        None => {
            let own = &config.sites[config.me().index()];
            let wrong = |why: &str| ServerError::Config(format!("sites: {own}: {why}"));
            let mut all = own.to_socket_addrs().map_err(|error| wrong(&error.to_string()))?;
            all.next().ok_or_else(|| wrong("it has no address"))?
        }
    };
    std::net::TcpListener::bind(address).map_err(|error| ServerError::Listen(address, error))
}

/// The thread of a site.
fn run(site: PreparedSite, ready: &std::sync::mpsc::Sender<Result<Handle, ServerError>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return drop(ready.send(Err(ServerError::System(error)))),
    };
    runtime.block_on(async {
        match site.start() {
            Err(error) => drop(ready.send(Err(error))),
            Ok(core) => {
                drop(ready.send(Ok(Handle::current())));
                core.run().await;
            }
        }
    });
}

/// How a site reaches the others.
enum Sockets {
    /// It listens on this socket, and dials.
    Tcp(std::net::TcpListener),
    /// Connections in memory, and no others.
    Memory(Vec<(SiteId, DuplexStream)>),
}

/// How long the sites of a cluster in memory have to reach each other.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Waits until each site has sessions with all others.
fn await_each_other(servers: &[Server]) -> Result<(), ServerError> {
    let end = Instant::now() + START_TIMEOUT;
    for server in servers {
        let (connected, reached) = std::sync::mpsc::channel();
        let asked = server.events.own.send(Event::AwaitPeers(connected));
        let left = end.saturating_duration_since(Instant::now());
        if asked.is_err() || reached.recv_timeout(left).is_err() {
            let why = "the sites in memory did not reach each other in time";
            return Err(ServerError::System(io::Error::new(io::ErrorKind::TimedOut, why)));
        }
    }
    Ok(())
}

/// For each site, its connections in memory to all others.
fn memory_streams(sites: usize) -> Vec<Vec<(SiteId, DuplexStream)>> {
    let mut streams: Vec<Vec<_>> = (0..sites).map(|_| Vec::new()).collect();
    for (one, other) in (0..sites).flat_map(|one| (0..one).map(move |other| (one, other))) {
        let (here, there) = tokio::io::duplex(1 << 16);
        streams[one].push((SiteId::new(other), here));
        streams[other].push((SiteId::new(one), there));
    }
    streams
}

/// A site that does not run yet.
struct PreparedSite {
    transport: Transport,
    sockets: Sockets,
    unix: Option<std::path::PathBuf>,
    site: Box<SiteWithClients>,
    store: Box<Store>,
    /// The folder of the store, if it is on disk.
    folder: PathBuf,
    inbox: Inbox,
    sent: Arc<AtomicU64>,
}

impl PreparedSite {
    /// Starts its transport in the current runtime.
    fn start(self) -> Result<Core, ServerError> {
        let (transport, system) = (self.transport, ServerError::System);
        let alarm = Alarm::new().map_err(system)?;
        let mut tasks = JoinSet::new();
        match self.sockets {
            Sockets::Tcp(listener) => {
                listener.set_nonblocking(true).map_err(system)?;
                let listener = TcpListener::from_std(listener).map_err(system)?;
                tasks.spawn(transport.clone().accept(listener));
                let peers = SiteId::all(transport.addresses.len());
                for peer in peers.filter(|peer| *peer > transport.me) {
                    tasks.spawn(transport.clone().keep_connected(peer));
                }
            }
            Sockets::Memory(streams) => {
                for (peer, stream) in streams {
                    tasks.spawn(transport.clone().run_in_memory(peer, stream));
                }
            }
        }
        if let Some(path) = self.unix {
            drop(std::fs::remove_file(&path)); // left by an earlier start
            let problem = |error: io::Error| ServerError::Disk(path.clone(), error.to_string());
            let listener = UnixListener::bind(&path).map_err(problem)?;
            tasks.spawn(transport.clone().accept_unix(listener));
        }
        let (events, timeout) = (transport.events.own, transport.terms.lease.length());
        let (folder, writes) = (self.folder, self.store.writes());
        let reopen = move || match Store::open(&folder) {
            Ok(store) => Ok(store.counting(Arc::clone(&writes))),
            Err(error) => Err(error.to_string()),
        };
        let report = move |report| drop(events.send(Event::Disk(report)));
        let disk = disk_writer::spawn(*self.store, reopen, report);
        Ok(Core::new(*self.site, self.inbox, disk, alarm, tasks, timeout, self.sent))
    }
}

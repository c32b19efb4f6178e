//! A site that runs.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use quorate_net::clock::{self, Alarm};
use quorate_net::tls::Tls;
use quorate_session::SiteId;
use quorate_session::client::ClientId;
use quorate_session::session::Terms;
use quorate_site::Effect;
use quorate_site::client_gateway::{GatewayEffect, SiteWithClients};
use tokio::io::DuplexStream;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::ServerError;
use crate::config::SiteConfig;
use crate::core::{Core, Event};
use crate::disk::{Store, Write};
use crate::local::{LocalClient, LocalLink};
use crate::mesh::Mesh;

/// A site that runs.
#[derive(Debug)]
pub struct Server {
    events: UnboundedSender<Event>,
    terms: Terms,
    numbers: Arc<AtomicU64>,
    runtime: Option<Handle>,
    address: Option<SocketAddr>,
    writes: Arc<AtomicU64>,
    sent: Arc<AtomicU64>,
    sites: usize,
    /// Its own, if it has one.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Starts a site in a thread of its own: its incarnation is on disk before this returns.
    ///
    /// # Errors
    ///
    /// The configuration, the disk, the address or the certificates cannot be used.
    pub fn start(config: &SiteConfig) -> Result<Self, ServerError> {
        config.check()?;
        let listener = listen(config)?;
        Self::start_on(config, listener)
    }

    /// The same on a socket that listens already.
    ///
    /// # Errors
    ///
    /// As [`Server::start`].
    pub fn start_on(
        config: &SiteConfig,
        listener: std::net::TcpListener,
    ) -> Result<Self, ServerError> {
        Self::start_apart(config, Sockets::Tcp(listener))
    }

    /// Starts all sites of a cluster in this process, each in a thread of its own, that talk in
    /// memory and forget all when they stop: for tests of what uses them. Of the configuration
    /// counts what is not about one site.
    ///
    /// # Errors
    ///
    /// The configuration cannot be used.
    pub fn start_in_memory(sites: usize, config: &SiteConfig) -> Result<Vec<Self>, ServerError> {
        let addresses: Vec<String> = (1..=sites).map(|site| format!("127.0.0.1:{site}")).collect();
        let configs: Vec<SiteConfig> = (1..=sites)
            .map(|site| SiteConfig { site, sites: addresses.clone(), ..config.clone() })
            .collect();
        configs.iter().try_for_each(SiteConfig::check)?;
        let start = |(config, links)| Self::start_apart(config, Sockets::Memory(links));
        configs.iter().zip(memory_links(sites)).map(start).collect()
    }

    fn start_apart(config: &SiteConfig, sockets: Sockets) -> Result<Self, ServerError> {
        let (mut server, site) = Self::prepare(config, sockets)?;
        let (ready, started) = std::sync::mpsc::channel();
        let name = format!("site {}", config.me());
        let run = move || run(site, &ready);
        let thread = thread::Builder::new().name(name).spawn(run).map_err(ServerError::System)?;
        let runtime = started.recv().expect("the thread says how it went")?;
        (server.thread, server.runtime) = (Mutex::new(Some(thread)), Some(runtime));
        Ok(server)
    }

    /// Starts a site among the tasks of the runtime we are in: callers there reach it without a
    /// change of threads. It stands still while that runtime does, and loses its leases when that
    /// takes too long.
    ///
    /// # Errors
    ///
    /// As [`Server::start`].
    pub fn start_here(config: &SiteConfig) -> Result<Self, ServerError> {
        config.check()?;
        let (mut server, site) = Self::prepare(config, Sockets::Tcp(listen(config)?))?;
        tokio::spawn(site.open()?.run());
        server.runtime = Some(Handle::current());
        Ok(server)
    }

    /// All that is needed, and not yet running.
    fn prepare(config: &SiteConfig, sockets: Sockets) -> Result<(Self, Unopened), ServerError> {
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
        let (host, effects) = SiteWithClients::start(clock::now(), config.site_config()?, past);
        for effect in &effects {
            if let GatewayEffect::Site(Effect::Persist(disk)) = effect {
                store.write(&[Write::Site(*disk)]).map_err(problem)?;
            }
        }
        let (events, inbox) = unbounded_channel();
        let numbers = Arc::default();
        let mesh = Mesh {
            me: config.me(),
            addresses: config.sites.clone().into(),
            terms: config.terms()?,
            tls,
            events: events.clone(),
            numbers: Arc::clone(&numbers),
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
        let (host, store) = (Box::new(host), Box::new(store));
        Ok((server, Unopened { mesh, sockets, unix, host, store, inbox, sent }))
    }

    /// Connects a client in this process: what its site says is handed to `client`.
    pub fn connect(&self, id: ClientId, client: Arc<dyn LocalClient>) -> LocalLink {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        LocalLink::open(self.events.clone(), (id, number), client)
    }

    /// What its sessions go by.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The runtime it runs in.
    pub fn runtime(&self) -> &Handle {
        self.runtime.as_ref().expect("a site that was started runs")
    }

    /// Where it listens, unless it is one of a cluster [in memory](Self::start_in_memory).
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// How often its disk was written since it started.
    pub fn disk_writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// How many messages of its locks' protocols it has sent to other sites since it started; what
    /// only renews a lease does not count.
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

    /// Waits until it has stopped by itself: its disk or its timer failed. The log says which.
    pub async fn ended(&self) {
        self.events.closed().await;
    }

    /// Stops it, and waits until it has: what callers in this process hold is given back, as if
    /// they had released it. Whoever calls this has stopped what was done under those locks.
    pub async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        if self.events.send(Event::Stop(done)).is_ok() {
            drop(stopped.await);
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            drop(thread.join()); // it has nothing left to do
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let (done, _) = oneshot::channel();
        drop(self.events.send(Event::Stop(done))); // it ends by itself, or has
    }
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
fn run(site: Unopened, ready: &std::sync::mpsc::Sender<Result<Handle, ServerError>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return drop(ready.send(Err(ServerError::System(error)))),
    };
    runtime.block_on(async {
        match site.open() {
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
    /// It listens here, and dials.
    Tcp(std::net::TcpListener),
    /// These connections are all there are.
    Memory(Vec<(SiteId, DuplexStream)>),
}

/// A connection in memory for each two of so many sites, by site.
fn memory_links(sites: usize) -> Vec<Vec<(SiteId, DuplexStream)>> {
    let mut links: Vec<Vec<_>> = (0..sites).map(|_| Vec::new()).collect();
    for (one, other) in (0..sites).flat_map(|one| (0..one).map(move |other| (one, other))) {
        let (here, there) = tokio::io::duplex(1 << 16);
        links[one].push((SiteId::new(other), here));
        links[other].push((SiteId::new(one), there));
    }
    links
}

/// A site whose sockets nobody serves yet.
struct Unopened {
    mesh: Mesh,
    sockets: Sockets,
    unix: Option<std::path::PathBuf>,
    host: Box<SiteWithClients>,
    store: Box<Store>,
    inbox: UnboundedReceiver<Event>,
    sent: Arc<AtomicU64>,
}

impl Unopened {
    /// Serves them, in the runtime we are in.
    fn open(self) -> Result<Core, ServerError> {
        let (mesh, system) = (self.mesh, ServerError::System);
        let alarm = Alarm::new().map_err(system)?;
        let mut doors = JoinSet::new();
        match self.sockets {
            Sockets::Tcp(listener) => {
                listener.set_nonblocking(true).map_err(system)?;
                let listener = TcpListener::from_std(listener).map_err(system)?;
                doors.spawn(mesh.clone().accept(listener));
                for peer in SiteId::all(mesh.addresses.len()).filter(|peer| *peer > mesh.me) {
                    doors.spawn(mesh.clone().keep(peer));
                }
            }
            Sockets::Memory(links) => {
                for (peer, link) in links {
                    doors.spawn(mesh.clone().keep_in_memory(peer, link));
                }
            }
        }
        if let Some(path) = self.unix {
            drop(std::fs::remove_file(&path)); // of a former life
            let problem = |error: io::Error| ServerError::Disk(path.clone(), error.to_string());
            doors.spawn(mesh.clone().accept_unix(UnixListener::bind(&path).map_err(problem)?));
        }
        let (events, patience) = (mesh.events, mesh.terms.lease.length());
        let disk = self.store.into_thread(move |saved| drop(events.send(Event::Saved(saved))));
        Ok(Core::new(*self.host, self.inbox, disk, alarm, (doors, patience), self.sent))
    }
}

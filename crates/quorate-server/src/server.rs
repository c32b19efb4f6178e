//! A site that runs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use quorate_site::Effect;
use quorate_site::gate::{Host, HostEffect};
use quorate_wire::words::SiteId;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::ServerError;
use crate::clock::{self, Alarm};
use crate::config::SiteConfig;
use crate::core::{Core, Event};
use crate::disk::Store;
use crate::local::Local;
use crate::mesh::Mesh;
use crate::tls::Tls;

/// A site that runs, in a thread of its own.
#[derive(Debug)]
pub struct Server {
    events: UnboundedSender<Event>,
    local: Local,
    address: SocketAddr,
    writes: Arc<AtomicU64>,
    lease: Duration,
    sites: usize,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a site: its incarnation is on disk before this returns.
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
        let address = listener.local_addr().map_err(ServerError::System)?;
        let tls = config.tls.as_ref().map(Tls::read).transpose()?;
        let store = Store::open(&config.data)?;
        let problem = |why| ServerError::Disk(config.data.clone(), why);
        let disk = store.read().map_err(problem)?;
        let (host, effects) = Host::start(clock::now(), config.site_config()?, disk);
        for effect in &effects {
            if let HostEffect::Site(Effect::Persist(disk)) = effect {
                store.write(disk).map_err(problem)?;
            }
        }
        let writes = store.writes();
        let (events, inbox) = unbounded_channel();
        let mesh = Mesh {
            me: config.me(),
            addresses: config.sites.clone().into(),
            terms: config.terms()?,
            tls,
            events: events.clone(),
            numbers: Arc::default(),
        };
        let sockets = Sockets { listener, unix: config.unix.clone() };
        let (host, store) = (Box::new(host), Box::new(store));
        let (ready, started) = std::sync::mpsc::channel();
        let name = format!("site {}", config.me());
        let run = move || run(&mesh, sockets, *host, *store, inbox, &ready);
        let thread = thread::Builder::new().name(name).spawn(run).map_err(ServerError::System)?;
        started.recv().expect("the thread says how it went")?;
        Ok(Self {
            local: Local::new(events.clone()),
            events,
            address,
            writes,
            lease: config.terms()?.lease.length(),
            sites: config.sites.len(),
            thread: Some(thread),
        })
    }

    /// A way to the site for callers in this process.
    pub fn local(&self) -> Local {
        self.local.clone()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How often its disk was written since it started.
    pub fn disk_writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// The length of a lease.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// How many sites the cluster has.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// Waits until it has stopped by itself: its disk or its timer failed. The log says which.
    pub async fn ended(&self) {
        self.events.closed().await;
    }

    /// Stops it: what callers in this process hold is given back.
    pub fn stop(mut self) {
        self.stop_now();
    }

    fn stop_now(&mut self) {
        let (done, stopped) = oneshot::channel();
        if self.events.send(Event::Stop(done)).is_ok() {
            drop(stopped.blocking_recv());
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let (done, _) = oneshot::channel();
            drop(self.events.send(Event::Stop(done)));
            drop(thread); // it ends by itself
        }
    }
}

struct Sockets {
    listener: std::net::TcpListener,
    unix: Option<std::path::PathBuf>,
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
fn run(
    mesh: &Mesh,
    sockets: Sockets,
    host: Host,
    store: Store,
    inbox: UnboundedReceiver<Event>,
    ready: &std::sync::mpsc::Sender<Result<(), ServerError>>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return drop(ready.send(Err(ServerError::System(error)))),
    };
    runtime.block_on(async {
        let events = mesh.events.clone();
        let disk = store.into_thread(move |saved| drop(events.send(Event::Saved(saved))));
        match open(mesh, sockets) {
            Err(error) => return drop(ready.send(Err(error))),
            Ok(alarm) => {
                drop(ready.send(Ok(())));
                Core::new(host, inbox, disk, alarm).run().await;
            }
        }
    });
}

fn open(mesh: &Mesh, sockets: Sockets) -> Result<Alarm, ServerError> {
    let system = ServerError::System;
    sockets.listener.set_nonblocking(true).map_err(system)?;
    let listener = TcpListener::from_std(sockets.listener).map_err(system)?;
    tokio::spawn(mesh.clone().accept(listener));
    if let Some(path) = sockets.unix {
        drop(std::fs::remove_file(&path)); // of a former life
        let problem = |error: std::io::Error| ServerError::Disk(path.clone(), error.to_string());
        tokio::spawn(mesh.clone().accept_unix(UnixListener::bind(&path).map_err(problem)?));
    }
    let others = SiteId::all(mesh.addresses.len()).filter(|peer| *peer > mesh.me);
    for peer in others {
        tokio::spawn(mesh.clone().keep(peer));
    }
    Alarm::new().map_err(system)
}

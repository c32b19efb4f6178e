//! The same locks for programs without an async runtime: calls block the calling thread.
//!
//! ```
//! # fn main() -> Result<(), quorate::Error> {
//! # let site = quorate::Cluster::in_memory(1)?.remove(0);
//! # let cluster = quorate::blocking::Cluster::new(site)?;
//! // let cluster = quorate::blocking::Cluster::connect("127.0.0.1:7420")?;
//! let guard = cluster.mutex("deploy")?.lock()?;
//! println!("granted with fence {}", guard.fence());
//! guard.release()?;
//! # Ok(())
//! # }
//! ```
//!
//! A background thread keeps the connection and renews leases, so a program that computes does not
//! lose its locks. Calls from a task of an async runtime panic, because they would block that
//! runtime. The types here wrap those of the crate root; [`Cluster::block_on`] waits for anything
//! that has no counterpart here.

use std::ops::Deref;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use quorate_session::Role;
use quorate_session::client::CallerLoss;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::{Error, Options};

/// The background thread of a client. It ends when the last user is dropped.
#[derive(Debug)]
struct Driver {
    runtime: Handle,
    _stop: oneshot::Sender<()>,
}

impl Driver {
    fn start() -> Result<Arc<Self>, Error> {
        let problem = |error: std::io::Error| Error::Stopped(error.to_string());
        let runtime = Builder::new_current_thread().enable_all().build().map_err(problem)?;
        let ((stop, stopped), (ready, started)) = (oneshot::channel::<()>(), mpsc::channel());
        let run = move || {
            drop(ready.send(runtime.handle().clone()));
            drop(runtime.block_on(stopped)); // its other end is dropped with the last user
        };
        thread::Builder::new().name("quorate client".into()).spawn(run).map_err(problem)?;
        let runtime = started.recv().map_err(|error| Error::Stopped(error.to_string()))?;
        Ok(Arc::new(Self { runtime, _stop: stop }))
    }
}

/// A handle to a cluster. Clones share one connection. See [`crate::Cluster`].
#[derive(Clone, Debug)]
pub struct Cluster {
    cluster: crate::Cluster,
    driver: Arc<Driver>,
}

impl Cluster {
    /// Connects to the site at this address.
    ///
    /// # Errors
    ///
    /// The site cannot be reached, or refuses the connection.
    pub fn connect(address: impl Into<String>) -> Result<Self, Error> {
        Self::with(Options::new([address.into()]))
    }

    /// Connects with these options.
    ///
    /// # Errors
    ///
    /// No site can be reached in time, or all refuse the connection.
    pub fn with(options: Options) -> Result<Self, Error> {
        let driver = Driver::start()?;
        let cluster = driver.runtime.block_on(options.connect())?;
        Ok(Self { cluster, driver })
    }

    /// Wraps a handle, for example of an [embedded](crate::Cluster::embedded) site.
    ///
    /// # Errors
    ///
    /// A thread cannot be started.
    pub fn new(cluster: crate::Cluster) -> Result<Self, Error> {
        Ok(Self { cluster, driver: Driver::start()? })
    }

    /// Blocks until a future of the crate completes that has no counterpart here.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.driver.runtime.block_on(work)
    }

    /// A lock with one holder at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn mutex(&self, name: &str) -> Result<Lock<crate::Mutex>, Error> {
        Ok(self.lock_of(self.cluster.mutex(name)?))
    }

    /// A lock with many readers or one writer.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn rwlock(&self, name: &str) -> Result<Lock<crate::RwLock>, Error> {
        Ok(self.lock_of(self.cluster.rwlock(name)?))
    }

    /// A pool of this many units.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn pool(&self, name: &str, units: u32) -> Result<Lock<crate::Pool>, Error> {
        Ok(self.lock_of(self.cluster.pool(name, units)?))
    }

    /// A lock that callers of one group hold together.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn group(&self, name: &str) -> Result<Lock<crate::GroupLock>, Error> {
        Ok(self.lock_of(self.cluster.group(name)?))
    }

    /// An election, with one leader at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Name`]: the name is invalid.
    pub fn election(&self, name: &str) -> Result<Lock<crate::Election>, Error> {
        Ok(self.lock_of(self.cluster.election(name)?))
    }

    fn lock_of<L>(&self, lock: L) -> Lock<L> {
        Lock { lock, driver: Arc::clone(&self.driver) }
    }
}

/// A lock of any kind. Its claims block the calling thread.
#[derive(Clone, Debug)]
pub struct Lock<L> {
    lock: L,
    driver: Arc<Driver>,
}

impl<L> Lock<L> {
    fn wait<G>(&self, work: impl Future<Output = Result<G, Error>>) -> Result<Guard<G>, Error> {
        let guard = self.driver.runtime.block_on(work)?;
        Ok(Guard { guard, driver: Arc::clone(&self.driver) })
    }
}

/// Methods that block on the methods of the same names.
macro_rules! blocking_methods {
    ($lock:ty: $($name:ident($($arg:ident: $type:ty $(as $given:expr)?),*) -> $guard:ty;)*) => {
        impl Lock<$lock> {
            $(
                #[doc = concat!("Blocks on [`", stringify!($lock), "::", stringify!($name), "`].")]
                ///
                /// # Errors
                ///
                /// As there.
                pub fn $name(&self, $($arg: $type),*) -> Result<Guard<$guard>, Error> {
                    $($(let $arg = $given;)?)*
                    self.wait(self.lock.$name($($arg),*))
                }
            )*
        }
    };
}

blocking_methods! { crate::Mutex:
    lock() -> crate::Guard;
    lock_within(timeout: Duration) -> crate::Guard;
    try_lock() -> crate::Guard;
}

blocking_methods! { crate::RwLock:
    read() -> crate::Guard;
    read_within(timeout: Duration) -> crate::Guard;
    try_read() -> crate::Guard;
    write() -> crate::Guard;
    write_within(timeout: Duration) -> crate::Guard;
    try_write() -> crate::Guard;
}

blocking_methods! { crate::Pool:
    acquire(count: u32) -> crate::UnitsGuard;
    acquire_within(count: u32, timeout: Duration) -> crate::UnitsGuard;
    try_acquire(count: u32) -> crate::UnitsGuard;
}

blocking_methods! { crate::GroupLock:
    enter(group: &str) -> crate::GroupGuard;
    enter_any(groups: &[&str] as groups.iter().copied()) -> crate::GroupGuard;
    enter_any_within(groups: &[&str] as groups.iter().copied(), timeout: Duration)
        -> crate::GroupGuard;
    try_enter(group: &str) -> crate::GroupGuard;
    try_enter_any(groups: &[&str] as groups.iter().copied()) -> crate::GroupGuard;
    join(group: &str, role: Role, time: Duration) -> crate::RoleGuard;
    join_any(groups: &[(&str, Role)] as groups.iter().copied(), time: Duration)
        -> crate::RoleGuard;
    try_join(group: &str, role: Role, time: Duration) -> crate::RoleGuard;
}

blocking_methods! { crate::Election:
    campaign(value: &str) -> crate::Leadership;
    campaign_within(value: &str, timeout: Duration) -> crate::Leadership;
}

impl Lock<crate::Election> {
    /// The present leader; `None` if there is none.
    ///
    /// # Errors
    ///
    /// As [`crate::Election::leader`].
    pub fn leader(&self) -> Result<Option<crate::Leader>, Error> {
        self.driver.runtime.block_on(self.lock.leader())
    }
}

/// A lock that is held. Dropping it releases the lock. It dereferences to the guard it wraps.
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub struct Guard<G> {
    guard: G,
    driver: Arc<Driver>,
}

impl<G: AsRef<crate::Guard> + Into<crate::Guard>> Guard<G> {
    /// Blocks until the lock is lost. See [`crate::Guard::lost`].
    pub fn lost(&self) -> CallerLoss {
        self.driver.runtime.block_on(self.guard.as_ref().lost())
    }

    /// Releases the lock, and blocks until its site has handled the release.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if the lock was lost before.
    pub fn release(self) -> Result<(), Error> {
        self.driver.runtime.block_on(self.guard.into().release())
    }
}

impl<G> Deref for Guard<G> {
    type Target = G;

    fn deref(&self) -> &G {
        &self.guard
    }
}

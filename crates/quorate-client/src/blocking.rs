//! The same locks for programs without a runtime: calls that wait in the thread that makes them.
//!
//! ```
//! # fn main() -> Result<(), quorate::Error> {
//! # let site = quorate::Cluster::in_memory(1)?.remove(0);
//! # let cluster = quorate::blocking::Cluster::new(site)?;
//! // let cluster = quorate::blocking::Cluster::connect("127.0.0.1:7420")?;
//! let guard = cluster.mutex("deploy")?.lock()?;
//! println!("inside, with fence {}", guard.fence());
//! guard.release()?;
//! # Ok(())
//! # }
//! ```
//!
//! A thread of its own keeps the connection and the time, so a program that computes does not lose
//! its locks. Nothing here may be called by a task of a runtime: it would block that runtime, and
//! panics. Everything here wraps what the crate has without `blocking`; [`Cluster::block_on`]
//! waits for the rest of it.

use std::ops::Deref;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use quorate_session::Role;
use quorate_session::client::CallerLoss;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::{Error, Options};

/// The thread that drives a client. It ends when the last that uses it is dropped.
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

/// A cluster, as one process sees it; cheap to copy. See [`crate::Cluster`].
#[derive(Clone, Debug)]
pub struct Cluster {
    cluster: crate::Cluster,
    driver: Arc<Driver>,
}

impl Cluster {
    /// Connects to a site.
    ///
    /// # Errors
    ///
    /// It cannot be reached, or does not want us.
    pub fn connect(address: impl Into<String>) -> Result<Self, Error> {
        Self::with(Options::new([address.into()]))
    }

    /// Connects as the options say.
    ///
    /// # Errors
    ///
    /// No site can be reached in time, or none wants us.
    pub fn with(options: Options) -> Result<Self, Error> {
        let driver = Driver::start()?;
        let cluster = driver.runtime.block_on(options.connect())?;
        Ok(Self { cluster, driver })
    }

    /// A cluster that runs elsewhere, as an [embedded](crate::Cluster::embedded) one does.
    ///
    /// # Errors
    ///
    /// A thread cannot be started.
    pub fn new(cluster: crate::Cluster) -> Result<Self, Error> {
        Ok(Self { cluster, driver: Driver::start()? })
    }

    /// Waits for something of the crate that has no counterpart here.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.driver.runtime.block_on(work)
    }

    /// A lock that one holds at a time.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn mutex(&self, name: &str) -> Result<Lock<crate::Mutex>, Error> {
        Ok(self.lock_of(self.cluster.mutex(name)?))
    }

    /// A lock that many hold to read, or one to write.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn rwlock(&self, name: &str) -> Result<Lock<crate::RwLock>, Error> {
        Ok(self.lock_of(self.cluster.rwlock(name)?))
    }

    /// So many units, of which callers take some.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn pool(&self, name: &str, units: u32) -> Result<Lock<crate::Pool>, Error> {
        Ok(self.lock_of(self.cluster.pool(name, units)?))
    }

    /// A lock that many hold together, if they are of one group.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn group(&self, name: &str) -> Result<Lock<crate::GroupLock>, Error> {
        Ok(self.lock_of(self.cluster.group(name)?))
    }

    /// An election.
    ///
    /// # Errors
    ///
    /// The name cannot be a resource's.
    pub fn election(&self, name: &str) -> Result<Lock<crate::Election>, Error> {
        Ok(self.lock_of(self.cluster.election(name)?))
    }

    fn lock_of<L>(&self, lock: L) -> Lock<L> {
        Lock { lock, driver: Arc::clone(&self.driver) }
    }
}

/// A lock of any kind. Its claims wait in the thread that makes them.
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

/// Methods that wait for those of the same names.
macro_rules! waits {
    ($lock:ty: $($name:ident($($arg:ident: $type:ty $(as $given:expr)?),*) -> $guard:ty;)*) => {
        impl Lock<$lock> {
            $(
                #[doc = concat!("Waits for [`", stringify!($lock), "::", stringify!($name), "`].")]
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

waits! { crate::Mutex:
    lock() -> crate::Guard;
    lock_within(patience: Duration) -> crate::Guard;
    try_lock() -> crate::Guard;
}

waits! { crate::RwLock:
    read() -> crate::Guard;
    read_within(patience: Duration) -> crate::Guard;
    try_read() -> crate::Guard;
    write() -> crate::Guard;
    write_within(patience: Duration) -> crate::Guard;
    try_write() -> crate::Guard;
}

waits! { crate::Pool:
    acquire(count: u32) -> crate::UnitsGuard;
    acquire_within(count: u32, patience: Duration) -> crate::UnitsGuard;
    try_acquire(count: u32) -> crate::UnitsGuard;
}

waits! { crate::GroupLock:
    enter(group: &str) -> crate::GroupGuard;
    enter_any(groups: &[&str] as groups.iter().copied()) -> crate::GroupGuard;
    enter_any_within(groups: &[&str] as groups.iter().copied(), patience: Duration)
        -> crate::GroupGuard;
    try_enter(group: &str) -> crate::GroupGuard;
    try_enter_any(groups: &[&str] as groups.iter().copied()) -> crate::GroupGuard;
    join(group: &str, role: Role, time: Duration) -> crate::RoleGuard;
    join_any(groups: &[(&str, Role)] as groups.iter().copied(), time: Duration)
        -> crate::RoleGuard;
    try_join(group: &str, role: Role, time: Duration) -> crate::RoleGuard;
}

waits! { crate::Election:
    campaign(value: &str) -> crate::Leadership;
    campaign_within(value: &str, patience: Duration) -> crate::Leadership;
}

impl Lock<crate::Election> {
    /// Who leads now; `None` if nobody does.
    ///
    /// # Errors
    ///
    /// As [`crate::Election::leader`].
    pub fn leader(&self) -> Result<Option<crate::Leader>, Error> {
        self.driver.runtime.block_on(self.lock.leader())
    }
}

/// Something that is held; dropping it releases it. It has all that the guard in it has.
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub struct Guard<G> {
    guard: G,
    driver: Arc<Driver>,
}

impl<G: AsRef<crate::Guard> + Into<crate::Guard>> Guard<G> {
    /// Waits until the lock is lost. See [`crate::Guard::lost`].
    pub fn lost(&self) -> CallerLoss {
        self.driver.runtime.block_on(self.guard.as_ref().lost())
    }

    /// Releases it, and waits until its site has taken that in.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if it was not ours to the end.
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

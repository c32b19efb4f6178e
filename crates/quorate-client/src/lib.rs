//! Locks of a quorate cluster: guards, fences, loss signals.
//!
//! ```no_run
//! # async fn work(_: quorate::Fence) {}
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), quorate::Error> {
//! let cluster = quorate::Cluster::connect("127.0.0.1:7420").await?;
//! let guard = cluster.mutex("deploy")?.lock().await?;
//! tokio::select! {
//!     () = work(guard.fence()) => {}
//!     why = guard.lost() => eprintln!("stop: {why}"),
//! }
//! guard.release().await?;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Guard`] that is dropped releases its lock. It counts for [`Guard::valid_for`], which moves
//! on while its site is heard of; [`Guard::lost`] fires before that is over. A process that was
//! asleep does not know it: give [`Guard::fence`] along with every write, and let what you protect
//! refuse a lower one than it has seen.
//!
//! Programs without a runtime use [`blocking`]. The feature `embedded` adds sites in this process
//! (`Cluster::embedded`) and whole clusters in memory for tests (`Cluster::in_memory`); without it
//! the crate links neither the server nor the protocols.

pub mod blocking;
mod call;
mod client;
mod cluster;
mod dial;
mod election;
#[cfg(feature = "embedded")]
mod embedded;
mod error;
mod group;
mod guard;
mod mutex;
mod options;
mod pool;
mod role;
mod rwlock;

pub use cluster::{Cluster, Gathered};
pub use election::{Election, Leader, Leadership, Observer};
pub use error::{Error, Holder};
pub use group::{GroupGuard, GroupLock};
pub use guard::Guard;
pub use mutex::Mutex;
pub use options::Options;
pub use pool::{Pool, UnitsGuard};
pub use quorate_net::tls::TlsConfig;
#[cfg(feature = "embedded")]
pub use quorate_server::{Server, ServerError, SiteConfig};
pub use quorate_session::client::CallerLoss as Lost;
pub use quorate_session::{
    Access, Answer, CallId, CallView, Card, ClaimId, Denial, Epoch, EtaView, Fence, Got, Group,
    Groups, Kind, Loss, Name, PeerReport, Question, RequestView, ResourceView, Role, SiteError,
    SiteId, SiteReport, Stamp, Standing, Ticket, Units, Want, Why, explain,
};
pub use role::RoleGuard;
pub use rwlock::RwLock;

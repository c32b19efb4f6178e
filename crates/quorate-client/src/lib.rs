//! Client library of the distributed lock service quorate: guards, fences, loss signals.
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
//! Start at [`Cluster`]. Its methods name locks: a [`Mutex`], an [`RwLock`], a [`Pool`] of units, a
//! [`GroupLock`], an [`Election`]. Claiming one gives a [`Guard`]:
//!
//! - Dropping the guard releases the lock.
//! - The lock is certainly held for another [`Guard::valid_for`]. The site extends this as long as
//!   it is reachable; [`Guard::lost`] completes before it runs out.
//! - A process that was suspended cannot know that its time has run out. So send [`Guard::fence`]
//!   with every write, and let the protected storage refuse a lower fence than the highest it has
//!   seen.
//!
//! Programs without an async runtime use [`blocking`]. The feature `embedded` adds sites in this
//! process (`Cluster::embedded`) and whole clusters in memory for tests (`Cluster::in_memory`);
//! without it the crate links neither the server nor the protocols.

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
mod state;

pub use cluster::{Cluster, Responses};
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
    Access, Answer, Answering, CallId, CallView, ClaimId, Claimant, Denial, Details, Doubt, Epoch,
    EtaView, Fence, Granted, Group, GroupSpec, Groups, HostText, Kind, ListPage, ListQuestion,
    LockSpec, Loss, Name, OwnerText, PeerReport, PoolSpec, Prefix, Printable, PurposeText,
    Question, ReasonText, RequestView, ResourceView, Role, RoleSpec, Share, SiteError, SiteId,
    SiteReport, Stamp, Standing, Text, TextError, Ticket, TokenSpec, Units, Unlisted, Why, explain,
    limits, site_list,
};
pub use role::RoleGuard;
pub use rwlock::RwLock;

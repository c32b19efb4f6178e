//! Sessions and the client's side of them, as pure code: what a client process knows of its locks,
//! and until when.
//!
//! Start at [`client::ClientMachine`]: it is the only implementation of that rule. [`session`] is
//! what it and the sites speak through; the rest is the vocabulary of locks that clients and sites
//! share. No protocol is here.

mod claim;
pub mod client;
mod error;
mod ids;
mod lock;
mod question;
pub mod session;
mod view;

pub use claim::{Break, CallId, Card, ClaimRequest, Denial, Loss};
pub use error::SiteError;
pub use ids::{ClaimId, Fence, SessionNo, Tick, Ticket};
pub use lock::{
    Access, Epoch, GROUPS_MAX, Got, Group, Groups, Kind, Name, Role, Stamp, TIME_MAX, UNITS_MAX,
    Units, Want, Why,
};
pub use question::{Answer, AskId, PeerReport, Question, SiteReport};
pub use quorate_quorum::SiteId;
pub use view::{CallView, EtaView, RequestView, ResourceView, Standing, explain};

//! Sessions with leases and streams, and the client's state machine, as pure code.
//!
//! [`session`] connects sites with each other and clients with their site.
//! [`client::ClientMachine`] knows which grants of a client process are valid, and until when;
//! there is no other implementation of that. The rest is the vocabulary of locks that clients and
//! sites share. No protocol is here.

mod claim;
pub mod client;
mod error;
mod hash;
mod ids;
mod knowledge;
pub mod limits;
mod lock;
mod question;
mod queue;
pub mod session;
mod text;
mod view;

pub use claim::{BreakRequest, CallId, ClaimRequest, Claimant, Denial, Loss};
pub use error::SiteError;
pub use hash::{SPLITMIX_STEP, fnv1a, splitmix};
pub use ids::{ClaimId, Fence, SessionNo, Tick, Ticket};
pub use knowledge::{Answering, Doubt, site_list};
pub use lock::*;
pub use question::{
    Answer, AskId, ListPage, ListQuestion, PeerReport, Prefix, Question, SiteAnswer, SiteReport,
};
pub use queue::Queue;
pub use quorate_quorum::SiteId;
pub use text::{HostText, OwnerText, Printable, PurposeText, ReasonText, Text, TextError};
pub use view::{CallView, EtaView, RequestView, ResourceView, Standing, Unlisted, explain};

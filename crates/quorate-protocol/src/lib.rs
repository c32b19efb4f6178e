//! Lock protocols as pure state machines: one resource at one site.
//!
//! A protocol is a value with one method that changes it, [`Protocol::step`]. It reads no clock,
//! opens no socket and draws no random number. The server, the simulator and the checker drive the
//! same code.
//!
//! | module | grants | paper |
//! |---|---|---|
//! | [`group`] | one of several groups, to all claims compatible with it | Manabe & Park 2004 |
//! | [`ledger`] | h of k units on ordinary quorums, in the laboratory only | none |
//! | [`mutex`] | the lock, to one claim at a time | Cao & Singhal 2001 |
//! | [`pool`] | h of k units, to as many claims as fit | Manabe & Tajima |
//! | [`role`] | a group, as a shared or exclusive member for some time | Cenci & Ardenghi 2012 |
//! | [`token`] | one of several groups, by a token | Swaroop & Singh 2008 |
//!
//! ```
//! use std::sync::Arc;
//! use quorate_protocol::mutex::{Mutex, Options};
//! use quorate_protocol::{ClaimId, Effect, Input, Out, Protocol, Shared, Tick};
//! use quorate_quorum::{SiteId, build, Kind};
//!
//! // A cluster of one site: its own permission is a quorum.
//! let mut shared = Shared::new(SiteId::new(0), build(Kind::Majority, 1)?);
//! let mut mutex = Mutex::new(Options::default());
//! let mut out = Out::new();
//! mutex.step(&mut shared, Tick::ZERO, Input::Acquire(ClaimId(1), ()), &mut out)?;
//!
//! // The driver carries the effects out: here a message from the site to itself, and its reply.
//! while let Some(Effect::Send(to, message)) = out.pop() {
//!     mutex.step(&mut shared, Tick::ZERO, Input::Deliver(to, message), &mut out)?;
//!     if let Some(Effect::Grant(claim, grant)) = out.peek() {
//!         assert_eq!((*claim, grant.ticket.to_string()), (ClaimId(1), "1.1".into()));
//!         out.pop();
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod effect;
pub mod group;
mod ids;
pub mod ledger;
#[cfg(feature = "mutations")]
mod mutations;
pub mod mutex;
mod no_wait;
mod plausible;
pub mod pool;
mod protocol;
mod quorum_picker;
pub mod role;
mod sessions;
mod shared;
mod stay_timer;
pub mod token;
mod view;

pub use clock::Clock;
pub use effect::{Effect, Out, Record};
pub use ids::{Fences, GrantNo};
#[cfg(feature = "mutations")]
pub use mutations::MutantProtocol;
pub use plausible::{Field, JUMP_MAX, NUMBER_MAX};
pub use protocol::{Input, Protocol, Violation};
pub use quorate_quorum::SiteId;
pub use quorate_session::{ClaimId, Fence, SPLITMIX_STEP, SessionNo, Tick, Ticket, Why, splitmix};
pub use sessions::{OutboundSession, Sessions};
pub use shared::{FENCE_BLOCK, Shared};
pub use stay_timer::StayTimer;
pub use view::{ClaimView, Eta, ValidityBasis, View};

//! Sessions between sites: leases that end at the client first, and streams that lose nothing
//! while they last.
//!
//! A session is directed: the client's requester half asks, the server's arbiter half answers.
//! Two sites have two sessions, which are opened, renewed and lost independently. A protocol may
//! rely on this:
//!
//! - S1. `Lost` at the client comes, in true time, before `Closed` at the server.
//! - S2. After `Lost` the client gets nothing of that session, after `Closed` the server.
//! - S3. `Opened` comes after the `Closed` of the session before, `Open` after its `Lost`.
//! - S4. The client's messages in a session arrive in order; those that arrive are a prefix.
//! - S5. `Lost` and `Closed` come once for each session. The locks of a site may be told one after
//!   the other: each before it handles anything later, and all before the next session opens.
//! - S6. If either end loses a session, the other end learns of it within its own lease time.
//!
//! One assumption is made: the rates of any two clocks differ by less than [`Drift`].
//! Start at [`Sessions`]; [`ClientEnd`] and [`ServerEnd`] are the two ends of one session. Each
//! has its lease in a file `lease.rs` and its stream in a file `stream.rs`.

mod client_end;
mod context;
mod deadline;
mod durable;
mod effect;
mod lease;
mod packet;
mod server_end;
mod sessions;
mod stream;
mod terms;
mod untold;

pub use client_end::{ClientEnd, ClientView};
pub use context::Context;
pub use deadline::RelativeDeadline;
pub use durable::Durable;
pub use effect::{Effect, Event, Half};
pub use lease::{Drift, Lease, between};
pub use packet::{ClusterId, Hello, Incarnation, Opening, Packet, Refusal, Renewal, Seq, Welcome};
pub use server_end::{ServerEnd, ServerView};
pub use sessions::{Input, Roles, Sessions};
pub use stream::{Frame, Payload, Stream, StreamOver, Window};
pub use terms::{Rule, Terms};
pub use untold::{Happening, HappeningNo, Untold};

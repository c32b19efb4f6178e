//! Sessions between sites: leases that end at the client first, and streams that lose nothing
//! while they last.
//!
//! A session is directed: the client's requester half speaks, the server's arbiter half answers.
//! Two sites have two, opened, renewed and lost independently. What a protocol may rely on:
//!
//! - S1. `Lost` at the client comes, in true time, before `Closed` at the server.
//! - S2. After `Lost` the client gets nothing of that session, after `Closed` the server.
//! - S3. `Opened` comes after the `Closed` of the session before, `Open` after its `Lost`.
//! - S4. What the client sent in a session arrives in order, and a prefix of it.
//! - S5. `Lost` and `Closed` are told once for each session.
//! - S6. If either end loses a session, the other end learns of it within its own lease time.
//!
//! It rests on one assumption: the rates of any two clocks differ by less than [`Drift`].
//! Start at [`Sessions`]; [`ClientEnd`] and [`ServerEnd`] are the two ends of one session.

mod client;
mod deadline;
mod durable;
mod effect;
mod lease;
mod packet;
mod server;
mod sessions;
mod stream;
mod terms;

pub use client::{ClientEnd, ClientView};
pub use deadline::RelativeDeadline;
pub use durable::Durable;
pub use effect::{Effect, Event, Half};
pub use lease::{Drift, Lease, between};
pub use packet::{Badge, Hello, Incarnation, Opening, Packet, Refusal, Renewal, Seq, Welcome};
pub use server::{ServerEnd, ServerView};
pub use sessions::{Input, Roles, Sessions};
pub use stream::{Frame, Stream, StreamOver};
pub use terms::{At, Rule, Terms};

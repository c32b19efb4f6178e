//! What the simulator must know of a protocol to drive it, judge it and speak of it.

use std::convert::Infallible;
use std::fmt::Debug;

use quorate_protocol::{Fence, Protocol};

/// A protocol that can be simulated. None so far has timers; the first that does lifts that bound.
pub trait Subject:
    Protocol<Message: Send + Sync, Claim: Send + Sync, Grant: Send + Sync, Timer = Infallible>
    + Send
    + Sync
    + 'static
{
    /// Its name in scripts and on the command line.
    const NAME: &'static str;

    /// Its switches.
    type Options: Clone + Debug + Send + Sync;

    /// One site at which nothing has happened yet.
    fn new_site(options: &Self::Options) -> Self;

    /// Reads a claim as scripts spell it after `acquires`.
    ///
    /// # Errors
    ///
    /// The words are no claim of this protocol; the text says what is.
    fn parse_claim(words: &[&str]) -> Result<Self::Claim, String>;

    /// The message's name in the paper.
    fn kind(message: &Self::Message) -> &'static str;

    /// Whether the arbiter half is spoken to; everything else is the requester's.
    fn is_for_arbiter(message: &Self::Message) -> bool;

    /// Whether two grants must not be inside together.
    fn conflict(one: &Self::Grant, other: &Self::Grant) -> bool;

    /// The grant's fence.
    fn fence(grant: &Self::Grant) -> Fence;
}

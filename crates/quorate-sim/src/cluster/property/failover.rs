//! A client whose site does not serve it is welcomed by one that does, in bounded time.
//!
//! The promise of a client that knows several sites. It is judged for remote clients that run and
//! hold nothing. A site *serves* a client if it runs, packets get through both ways, it is not
//! about to stop, and it has not said that it reaches no quorum. It is *sound* if its disk is not
//! slow either. The client is served if it has a session and a connection there.
//!
//! Let D be a lease, and let a number of sites, at least one, have been sound since the client was
//! served last. The others are bad now and then.
//!
//! - **The first failure.** A client that was served long enough to renew there waits for at most
//!   2/3 D if all other sites are sound: its site makes itself felt at the next renewal, D/3 after
//!   the one before, and has another D/3 to answer.
//! - **Any state.** Each bad site costs at most 8/3 D: D/3 to accept the connection, D/3 to answer,
//!   and D in which it has no quorum after all others have failed; and the same again if the
//!   connection breaks, but for the D/3 to answer. An attempt at a sound site may have begun before
//!   it was sound, and costs 2/3 D. After a round there is a delay of at most D/6.
//!
//! Packets, disks and timers that are late come on top.

use crate::cluster::event::ClientName;

pub(super) const NAME: &str = "failover";

/// For how long a client may not be served, though so many of its sites, and no more, were not
/// sound all the time.
pub(in crate::cluster) fn bound(lease: u64, bad: usize, slack: u64) -> u64 {
    let bad = bad as u64;
    lease * 8 / 3 * bad + lease * 5 / 6 + slack * (bad + 1)
}

/// The same, if its own site is the only one, and served it before.
pub(in crate::cluster) fn first_bound(lease: u64, slack: u64) -> u64 {
    lease * 2 / 3 + slack
}

pub(super) fn of_unserved(client: ClientName, ms: u64, bad: usize) -> String {
    format!("{client} is not served for {ms} ms, though only {bad} of its sites fail")
}

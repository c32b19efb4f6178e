//! Every limit on what others may send or keep, in one place. `docs/operating.md` has the same
//! table, and a test holds it to these numbers.
//!
//! What is beyond a limit is refused where it enters: by the decoder of a site or client, and
//! before that by the library and the commands, with an error that says what would be right.

use std::time::Duration;

/// The most bytes in the name of a lock, of a group, or in a prefix of names.
pub const NAME_BYTES: usize = 256;

/// The most bytes in the owner of a claim.
pub const OWNER_BYTES: usize = 256;

/// The most bytes in the host of a claim.
pub const HOST_BYTES: usize = 256;

/// The most bytes in the purpose of a claim, which is also the value of an election.
pub const PURPOSE_BYTES: usize = 1024;

/// The most bytes in the reason for breaking a grant.
pub const REASON_BYTES: usize = 1024;

/// The most groups that one claim may name.
pub const GROUPS: usize = 32;

/// The most bytes in the names of all groups of one claim together.
pub const GROUPS_BYTES: usize = 4096;

/// The most units of a pool.
pub const UNITS: u32 = 1 << 16;

/// The longest time that a member of a role lock may declare: a year.
pub const DECLARED_TIME: Duration = Duration::from_hours(365 * 24);

/// The most claims of one client that hold or wait at a site.
pub const CLAIMS_PER_CLIENT: usize = 1 << 17;

/// The most bytes of text in all claims of one client at a site.
pub const CLAIMS_BYTES_PER_CLIENT: usize = 64 << 20;

/// The most questions of one client that wait to be asked; beyond that the oldest is forgotten.
pub const QUESTIONS_PER_CLIENT: usize = 64;

/// The most questions that a site asks at the same time; others wait, each client in its turn.
pub const QUESTIONS_AT_ONCE: usize = 8;

/// The most callers of one site that a view of a lock shows; the others are counted.
pub const CALLERS_SHOWN: usize = 64;

/// The most callers of one site that are shown of each lock in a list; the others are counted.
pub const CALLERS_LISTED: usize = 4;

/// The most locks in one page of a list.
pub const LOCKS_LISTED: usize = 256;

/// How many locks beyond its page a site counts at most.
pub const LOCKS_COUNTED: usize = 10_000;

/// A view or a page of a list is cut when it has this many bytes.
pub const ANSWER_BYTES: usize = 128 << 10;

/// The most sites of a cluster that is served.
pub const SITES: usize = 128;

/// The most bytes in one frame.
pub const FRAME_BYTES: usize = 1 << 20;

/// The most bytes in a frame that a client sends.
pub const CLIENT_FRAME_BYTES: usize = 16 << 10;

/// The most bytes in the first frame of a connection.
pub const HANDSHAKE_BYTES: usize = 64 << 10;

/// The most bytes that wait for a client to read them; a client that leaves more is disconnected.
pub const UNREAD_BYTES: usize = 4 << 20;

/// The same for another site.
pub const UNREAD_BYTES_SITE: usize = 32 << 20;

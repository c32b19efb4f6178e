//! The configuration of a site.

use std::sync::Arc;

use quorate_protocol::FENCE_BLOCK;
use quorate_quorum::{QuorumSystem, SiteId};
use quorate_session::session::Terms;

use crate::kinds::Settings;

/// The configuration of a site. All but `site` is the same at all sites of a cluster.
#[derive(Clone, Debug)]
pub struct Config {
    /// The site.
    pub site: SiteId,
    /// How many sites there are, and which of them are quorums.
    pub quorums: Arc<dyn QuorumSystem>,
    /// The terms of its sessions.
    pub terms: Terms,
    /// How many callers of one site may follow each other while another site waits.
    pub local_turns: u32,
    /// How many claims are placed in the table of locks in one step, at least one. The rest waits
    /// for the next step, so that no step is long.
    pub claims_per_step: usize,
    /// How many records of locks that nobody uses stay on disk. If there are more, the oldest are
    /// folded into one.
    pub unused_records: usize,
    /// How many locks are told of the end of a session, and so on, in a step that is made for that,
    /// at least one; and how many grants are looked at, timers expire, calls end and delegations
    /// are renewed. The rest waits for the next step. A step that handles a packet, a claim or a
    /// caller that leaves does a sixteenth of that beside it.
    pub locks_per_step: usize,
    /// By how much fence ceilings are raised at a time.
    pub fence_block: u64,
    /// The settings of the protocols.
    pub settings: Settings,
}

impl Config {
    /// The default of [`Config::local_turns`].
    pub const LOCAL_TURNS: u32 = 8;
    /// The default of [`Config::claims_per_step`].
    pub const CLAIMS_PER_STEP: usize = 16;
    /// The default of [`Config::locks_per_step`].
    pub const LOCKS_PER_STEP: usize = 64;

    /// The default of [`Config::unused_records`].
    pub const UNUSED_RECORDS: usize = 1024;

    /// The default configuration of `site` in a cluster with these quorums.
    pub fn new(site: SiteId, quorums: Arc<dyn QuorumSystem>) -> Self {
        Self {
            site,
            quorums,
            terms: Terms::default(),
            local_turns: Self::LOCAL_TURNS,
            claims_per_step: Self::CLAIMS_PER_STEP,
            unused_records: Self::UNUSED_RECORDS,
            locks_per_step: Self::LOCKS_PER_STEP,
            fence_block: FENCE_BLOCK,
            settings: Settings::default(),
        }
    }
}

//! What a site is told at its start.

use std::sync::Arc;

use quorate_protocol::FENCE_BLOCK;
use quorate_quorum::{QuorumSystem, SiteId};
use quorate_session::session::Terms;

use crate::registry::Settings;

/// What a site is told at its start; the same at all sites of a cluster, but for who it is.
#[derive(Clone, Debug)]
pub struct Config {
    /// The site.
    pub site: SiteId,
    /// The cluster: how many sites there are, and which of them decide together.
    pub quorums: Arc<dyn QuorumSystem>,
    /// What its sessions go by.
    pub terms: Terms,
    /// How many callers of one site follow each other while another site waits.
    pub local_turns: u32,
    /// How far fence ceilings are moved on at a time.
    pub fence_block: u64,
    /// The switches of the protocols.
    pub settings: Settings,
}

impl Config {
    /// How many callers of one site follow each other, unless somebody says otherwise.
    pub const LOCAL_TURNS: u32 = 8;

    /// The usual configuration of `site` in a cluster with these quorums.
    pub fn new(site: SiteId, quorums: Arc<dyn QuorumSystem>) -> Self {
        Self {
            site,
            quorums,
            terms: Terms::default(),
            local_turns: Self::LOCAL_TURNS,
            fence_block: FENCE_BLOCK,
            settings: Settings::default(),
        }
    }
}

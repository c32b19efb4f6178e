//! Where the stages of a group live.
//!
//! Every site finds the same host for a group as long as it sees the same sites. A host is a
//! preference, not an authority: two hosts of one group are two stages, and the arbiters keep them
//! apart like those of different groups.

use quorate_quorum::SiteId;

use crate::Shared;
use crate::group::Group;

/// The site to ask for `group`: of those that can be reached, and have a quorum to ask, the one
/// with the greatest weight. `None` if there is none.
///
/// Rendezvous hashing: when a site is lost, only its own groups move.
pub(super) fn host_of(group: &Group, site: &Shared) -> Option<SiteId> {
    let name = fnv1a(group.name().as_bytes());
    let heaviest = |sites: quorate_quorum::SiteSet| {
        let weight = |&host: &SiteId| weight(name, site.place_of(host) as u64);
        let mut hosts: Vec<SiteId> = sites.iter().collect();
        hosts.sort_by_key(|host| std::cmp::Reverse(weight(host)));
        hosts.into_iter().find(|&host| site.can_ask_at(host))
    };
    heaviest(site.live()).or_else(|| heaviest(site.reachable()))
}

/// A number that depends on every bit of both; the finalizer of `SplitMix64`.
fn weight(name: u64, place: u64) -> u64 {
    let mut mixed = name ^ (place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// FNV-1a-64, as for the names of resources.
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

//! Which site hosts the stages of a group.
//!
//! All sites compute the same host for a group while they can reach the same sites. A host is a
//! preference, not an authority: two hosts of one group run two stages, and the arbiters exclude
//! them from each other like stages of different groups.

use quorate_quorum::{SiteId, SiteSet};
use quorate_session::{SPLITMIX_STEP, fnv1a, splitmix};

use crate::Shared;
use crate::group::Group;

/// The site with the greatest weight among those that can be reached and have a quorum to ask;
/// `None` if there is none.
///
/// Rendezvous hashing: when a site is lost, only its own groups move.
pub(super) fn host_of(group: &Group, site: &Shared) -> Option<SiteId> {
    let name = fnv1a(group.name().as_bytes());
    let heaviest = |sites: SiteSet| {
        let weight = |&host: &SiteId| weight(name, site.place_of(host) as u64);
        let mut hosts: Vec<SiteId> = sites.iter().collect();
        hosts.sort_by_key(|host| std::cmp::Reverse(weight(host)));
        let preferred = site.preferred_host(group).filter(|&host| sites.contains(host));
        preferred.into_iter().chain(hosts).find(|&host| site.can_ask_at(host))
    };
    heaviest(site.live()).or_else(|| heaviest(site.reachable()))
}

/// Mixes all bits of both numbers.
fn weight(name: u64, place: u64) -> u64 {
    splitmix(name ^ (place + 1).wrapping_mul(SPLITMIX_STEP))
}

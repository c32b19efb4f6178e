//! How long a grant is good: by a quorum of leases, or by the word of one who knows.

use quorate_protocol::{SessionNo, Tick};
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::session::{Lease, Sessions};

/// Whether a giver whose validity moved from `told` to `until` tells its receivers at once, not at
/// the next renewal: when it moved by D/6 or more.
pub fn should_push(lease: Lease, told: Tick, until: Tick) -> bool {
    until.0.abs_diff(told.0) >= u64::try_from(lease.push().as_nanos()).unwrap_or(u64::MAX)
}

/// When a grant ends that rests on `permissions`, each lent by a site in one session of ours there:
/// the grant is good before, and not at, this time. `None` if it rests on no quorum.
///
/// A permission counts only if its session is the present one. Our own site's never lapses: it
/// counts as one lease from now.
pub fn quorum_validity<M: Clone>(
    sessions: &Sessions<M>,
    now: Tick,
    is_quorum: impl Fn(&SiteSet) -> bool,
    permissions: impl IntoIterator<Item = (SiteId, SessionNo)>,
) -> Option<Tick> {
    let own = now + sessions.terms().lease.length();
    let mut leases: Vec<(Tick, SiteId)> = Vec::new();
    for (site, number) in permissions {
        if site == sessions.me() {
            leases.push((own, site));
        } else if let Some(there) = sessions.at(site).filter(|there| there.number == number) {
            leases.push((there.until, site));
        }
    }
    leases.retain(|(until, _)| *until > now);
    leases.sort_unstable();
    let mut lasting = SiteSet::new();
    for (until, site) in leases.into_iter().rev() {
        assert!(until > now, "I5: a counted permission's lease is not over");
        lasting.insert(site);
        if is_quorum(&lasting) {
            return Some(until);
        }
    }
    None
}

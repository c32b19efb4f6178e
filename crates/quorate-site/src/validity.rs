//! How long a grant is valid that depends on a quorum of leases.

use quorate_protocol::{SessionNo, Tick};
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::session::{Lease, Payload, Sessions};

/// Whether a deadline is announced at once that was `known` and is `until` now, and not at the next
/// renewal: if it moved by a sixth of a lease or more.
pub fn should_announce(lease: Lease, known: Tick, until: Tick) -> bool {
    until.0.abs_diff(known.0) >= u64::try_from(lease.sixth().as_nanos()).unwrap_or(u64::MAX)
}

/// When a grant ends that depends on `permissions`, each lent by a site in one session of ours
/// there: the grant is valid before, and not at, this time. `None` if they contain no quorum.
///
/// A permission counts only if its session is the present one. That of our own site never ends: it
/// counts as one lease from now.
pub fn quorum_validity<M: Payload>(
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

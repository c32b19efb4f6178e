//! How long a grant is good: by a quorum of leases, or by the word of one who knows.

use std::time::Duration;

use quorate_protocol::{SessionNo, Tick};
use quorate_quorum::{SiteId, SiteSet};
use serde::{Deserialize, Serialize};

use crate::session::{Lease, Renewal, Sessions};

/// A validity on its way from the one who has it to one who is inside on its word.
///
/// The time left must not be counted from receipt: the message may have been under way for long.
/// It is counted from a renewal of the receiver's own that the giver had handled.
///
/// ```
/// use std::time::Duration;
/// use quorate_protocol::Tick;
/// use quorate_site::session::Renewal;
/// use quorate_site::validity::HandedDown;
/// // The giver is good until 900, and handled the receiver's renewal 7 at 400.
/// let down = HandedDown::new(Tick(900), Renewal(7), Tick(400)).expect("it is not over");
/// assert_eq!(down.rest, Duration::from_nanos(500));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HandedDown {
    /// k: the latest renewal of the receiver that the giver has handled.
    pub renewal: Renewal,
    /// x: from then until the giver's own end.
    pub rest: Duration,
}

impl HandedDown {
    /// What a giver says that is good until `until` and handled the receiver's latest renewal at
    /// `handled`; `None` if it was over by then.
    pub fn new(until: Tick, renewal: Renewal, handled: Tick) -> Option<Self> {
        let rest = Duration::from_nanos(until.0.checked_sub(handled.0)?);
        assert!(handled + rest <= until, "I8: no later than the giver's");
        (!rest.is_zero()).then_some(Self { renewal, rest })
    }
}

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

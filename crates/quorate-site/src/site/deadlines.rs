//! Deadlines in messages of a protocol.
//!
//! A protocol with leases of its own puts deadlines into its messages, as readings of its own
//! clock. Between sites such a deadline travels as a [`RelativeDeadline`], and arrives as a reading
//! of the receiver's clock. A message whose deadline cannot be converted, or is over, is dropped.
//!
//! [`RelativeDeadline`]: quorate_session::session::RelativeDeadline

use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::session::Rule;

use super::site_core::SiteCore;
use crate::site_message::{Addressed, SiteMessage, Until};

/// As good as never: the deadline if [`Rule::DelegationExpires`] is not kept.
const LONG: Duration = Duration::from_hours(1);

impl SiteCore {
    /// A message with a deadline, for another site; `None` if that site could not read it.
    pub(super) fn write_timed(&self, to: SiteId, mut addressed: Addressed) -> Option<SiteMessage> {
        let until = addressed.message.as_message_mut().deadline_mut()?.take()?;
        let session = self.sessions.of(to)?.number;
        let until = Until { session, until: self.sessions.relative_deadline(to, until)? };
        Some(SiteMessage::Timed(addressed, until))
    }

    /// A message with its deadline by our clock; `None` if it is over or cannot be read.
    ///
    /// No deadline is later than one lease from now, because the quarantine after a restart of ours
    /// is no longer.
    pub(super) fn read_timed(
        &self,
        from: SiteId,
        mut addressed: Addressed,
        until: Until,
    ) -> Option<Addressed> {
        let Until { session, until } = until;
        self.sessions.at(from).filter(|there| there.number == session)?;
        let terms = &self.config.terms;
        let farthest = self.now + terms.lease.length();
        let until = match (
            terms.keep(Rule::DelegationExpires),
            terms.keep(Rule::DelegationCountsFromRenewal),
        ) {
            (true, true) => self.sessions.absolute_deadline(from, until)?.min(farthest),
            (true, false) => (self.now + until.after).min(farthest),
            (false, _) => self.now + LONG,
        };
        *addressed.message.as_message_mut().deadline_mut()? = Some(until);
        (until > self.now).then_some(addressed)
    }
}

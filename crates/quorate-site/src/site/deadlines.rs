//! Deadlines that travel in messages of a protocol.
//!
//! A protocol that keeps leases of its own says until when, by its own clock. That means nothing to
//! another site: it travels as (k, x) like a word, and is a reading of the receiver's clock when it
//! arrives. What cannot be told so, or comes too late, is like a message that was lost.

use std::time::Duration;

use quorate_protocol::Tick;
use quorate_quorum::SiteId;
use quorate_session::Name;
use quorate_session::session::Rule;

use super::Resource;
use super::desk::Desk;
use crate::registry::Speech;
use crate::said::{Said, Until};

/// As good as never: how long somebody stays who is not told when to stop.
const LONG: Duration = Duration::from_hours(1);

impl Desk {
    /// A protocol's message that carries a deadline, as another site can read it; `None` if that
    /// site could not.
    pub(super) fn put_timed(
        &self,
        to: SiteId,
        name: &Name,
        resource: &Resource,
        mut speech: Speech,
    ) -> Option<Said> {
        let until = speech.deadline_mut()?.take()?;
        let session = self.sessions.of(to)?.number;
        let until = Until { session, down: self.sessions.hand_down(to, until)? };
        Some(Said::Timed(name.clone(), resource.kind.clone(), speech, until))
    }

    /// A message with its deadline by our clock; `None` if it is over or cannot be told.
    ///
    /// None is farther away than our own lease: after a restart we keep quiet for only so long.
    pub(super) fn read_timed(
        &self,
        from: SiteId,
        mut speech: Speech,
        until: Until,
    ) -> Option<Speech> {
        let Until { session, down } = until;
        self.sessions.at(from).filter(|there| there.number == session)?;
        let terms = &self.config.terms;
        let farthest = self.now + terms.lease.length();
        let until = match (terms.keep(Rule::WordsEnd), terms.keep(Rule::WordsFromRenewal)) {
            (true, true) => self.sessions.handed(from, down)?.min(farthest),
            (true, false) => (self.now + down.after).min(farthest),
            (false, _) => self.now + LONG,
        };
        *speech.deadline_mut()? = Some(until).filter(|until: &Tick| *until > self.now);
        speech.deadline_mut()?.is_some().then_some(speech)
    }
}

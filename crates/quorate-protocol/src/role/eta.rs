//! When those who wait can be admitted, by what everybody declared.
//!
//! The earliest moment: a host knows its own members and those who wait there, not how long the
//! stages of other groups take.

use std::time::Duration;

use super::member::Request;
use super::stage::{Stage, State};
use crate::Eta;

impl Stage {
    /// What those who wait can expect: of this stage, and of the next one.
    pub(super) fn etas(&self) -> Vec<Eta> {
        let waits = |request: &&Request| request.admitted.is_none();
        let mut etas = match self.state {
            State::Active => in_turn(None, self.lp.0.iter()),
            State::Cs(cs) => {
                let inside = self.lp.exclusive().and_then(Request::end);
                in_turn(Some(inside.unwrap_or(cs.since)), self.lp.0.iter().filter(waits))
            }
        };
        let next = match self.state {
            State::Active => in_turn(None, self.lw.0.iter()),
            State::Cs(cs) => in_turn(Some(cs.deadline), self.lw.0.iter()),
        };
        let first = if self.state == State::Active { self.lp.gtpo() } else { Duration::ZERO };
        etas.extend(
            next.into_iter().map(|eta| Eta { after: first.saturating_add(eta.after), ..eta }),
        );
        etas
    }
}

/// The exclusive ones after each other, the shared ones at once.
fn in_turn<'a>(from: Option<crate::Tick>, requests: impl Iterator<Item = &'a Request>) -> Vec<Eta> {
    let mut before = Duration::ZERO;
    let eta = |request: &Request| {
        let after = if request.is_exclusive() { before } else { Duration::ZERO };
        if request.is_exclusive() {
            before = before.saturating_add(request.cost);
        }
        Eta { ticket: request.ticket, from, after }
    };
    requests.map(eta).collect()
}

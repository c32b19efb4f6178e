//! When waiting requests can be admitted at the earliest, by the declared times.
//!
//! A host knows the requests of its own group, not how long the stages of other groups take.

use std::time::Duration;

use super::requests::Request;
use super::stage::{Stage, StageState};
use crate::{Eta, Tick};

impl Stage {
    /// The estimates for requests that wait for this stage and for the next one.
    pub(super) fn etas(&self) -> Vec<Eta> {
        let waits = |request: &&Request| request.admitted.is_none();
        let mut etas = match self.state {
            StageState::Active => sequential(None, self.lp.0.iter()),
            StageState::Cs(cs) => {
                let exclusive_end = self.lp.exclusive().and_then(Request::end);
                let from = exclusive_end.unwrap_or(cs.since);
                sequential(Some(from), self.lp.0.iter().filter(waits))
            }
        };
        let next = match self.state {
            StageState::Active => sequential(None, self.lw.0.iter()),
            StageState::Cs(cs) => sequential(Some(cs.deadline), self.lw.0.iter()),
        };
        let active = self.state == StageState::Active;
        let before = if active { self.lp.gtpo() } else { Duration::ZERO };
        etas.extend(
            next.into_iter().map(|eta| Eta { after: before.saturating_add(eta.after), ..eta }),
        );
        etas
    }
}

/// Exclusive requests one after the other, shared ones at once.
fn sequential<'a>(from: Option<Tick>, requests: impl Iterator<Item = &'a Request>) -> Vec<Eta> {
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

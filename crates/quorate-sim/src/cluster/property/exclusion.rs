//! Never two conflicting valid grants at one instant. [`Share`](quorate_session::Share) says which
//! grants conflict.
//!
//! The promise to callers: a caller is valid if it was granted, has not left, and its client's
//! clock is before the deadline that the client's machine gives. Callers of paused clients, and of
//! crashed and paused sites, count until then.

use quorate_session::CallId;

use super::Holder;
use crate::cluster::event::ClientName;

pub(super) const NAME: &str = "exclusion";

/// A breach even if no other caller has entered yet.
pub(super) fn of_outlived(client: ClientName, call: CallId) -> String {
    format!("call {} of {client} is valid, and its site ended the grant", call.0)
}

/// The callers that believe they are valid, by lock.
#[derive(Debug)]
pub(super) struct Exclusion {
    inside: Vec<Vec<Holder>>,
}

impl Exclusion {
    pub(super) fn new(names: usize) -> Self {
        Self { inside: vec![Vec::new(); names] }
    }

    /// Two validities overlap only if the other one lasts when the later one begins or is extended.
    pub(super) fn on_belief(&mut self, now: u64, new: &Holder) -> Result<(), String> {
        let inside = &mut self.inside[new.name];
        match inside.iter_mut().find(|holder| holder.call == new.call) {
            Some(holder) => holder.end = holder.end.max(new.end),
            None => inside.push(new.clone()),
        }
        if new.end <= now {
            return Ok(());
        }
        let is_other = |holder: &&Holder| holder.call != new.call && holder.end > now;
        let (mut shares, mut together) = (Vec::new(), String::new());
        for other in inside.iter().filter(is_other) {
            shares.push(&other.share);
            together = format!("{together}call {} of {} and ", other.call.0, other.client);
            if !new.share.fits_with(&shares) {
                let (call, client) = (new.call.0, new.client);
                return Err(format!("{together}call {call} of {client} are valid together"));
            }
        }
        Ok(())
    }

    pub(super) fn on_leave(&mut self, name: usize, call: CallId) {
        self.inside[name].retain(|holder| holder.call != call);
    }

    pub(super) fn is_valid(&self, now: u64, name: usize, call: CallId) -> bool {
        self.inside[name].iter().any(|holder| holder.call == call && holder.end > now)
    }

    /// The latest deadline of the callers that have not left, or now.
    pub(super) fn last_end(&self, now: u64, name: usize) -> u64 {
        self.inside[name].iter().map(|holder| holder.end.min(now)).max().unwrap_or(0)
    }

    pub(super) fn holder(&self, now: u64, name: usize) -> Option<Holder> {
        self.inside[name].iter().find(|holder| holder.end > now).cloned()
    }
}

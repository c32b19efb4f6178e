//! Never two conflicting valid grants at one instant: never more units than there are, no unit that
//! two know to be theirs, no two groups, and no two exclusive members of one. A mutex is a pool of
//! one unit.
//!
//! The promise to callers: a caller is valid if it was granted, has not left, and its client's
//! clock is before the time that the client's machine says. Callers of paused clients, and of
//! crashed and paused sites, count until that time.

use quorate_session::CallId;

use super::Holder;
use crate::cluster::event::ClientName;

pub(super) const NAME: &str = "exclusion";

/// Somebody else may be let in though nobody was yet.
pub(super) fn of_outlived(client: ClientName, call: CallId) -> String {
    format!("call {} of {client} is valid, and its site ended the grant", call.0)
}

/// Who believes to be inside, by resource.
#[derive(Debug)]
pub(super) struct Exclusion {
    units: u32,
    inside: Vec<Vec<Holder>>,
}

impl Exclusion {
    pub(super) fn new(names: usize, units: u32) -> Self {
        Self { units, inside: vec![Vec::new(); names] }
    }

    /// Two validities overlap only if the later one to begin or grow finds the other one going on.
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
        let others: Vec<&Holder> = inside.iter().filter(is_other).collect();
        let (mut taken, mut together) = (new.units, String::new());
        for other in others {
            taken += other.units;
            together = format!("{together}call {} of {} and ", other.call.0, other.client);
            let apart = match new.group {
                None => taken > self.units || !new.numbers.is_disjoint(&other.numbers),
                Some(_) => new.group != other.group || (new.exclusive && other.exclusive),
            };
            if apart {
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

    /// When the last of those was valid that are not any more and have not left, or now.
    pub(super) fn last_end(&self, now: u64, name: usize) -> u64 {
        self.inside[name].iter().map(|holder| holder.end.min(now)).max().unwrap_or(0)
    }

    pub(super) fn holder(&self, now: u64, name: usize) -> Option<Holder> {
        self.inside[name].iter().find(|holder| holder.end > now).cloned()
    }
}

//! Never two conflicting valid grants at one instant.
//!
//! The site layer's promise: a caller is valid if it was granted, has not left, was not told that
//! it lost the grant, and its site's clock is before the time it was told. Callers of crashed and
//! paused sites count until that time.

use quorate_site::CallId;

use super::Holder;

pub(super) const NAME: &str = "exclusion";

/// Who believes to be inside, by resource.
#[derive(Debug)]
pub(super) struct Exclusion {
    inside: Vec<Vec<Holder>>,
}

impl Exclusion {
    pub(super) fn new(names: usize) -> Self {
        Self { inside: vec![Vec::new(); names] }
    }

    /// Two validities overlap only if the later one to begin or grow finds the other one going on.
    pub(super) fn on_belief(&mut self, now: u64, new: Holder) -> Result<(), String> {
        let inside = &mut self.inside[new.name];
        match inside.iter_mut().find(|holder| holder.call == new.call) {
            Some(holder) => holder.end = holder.end.max(new.end),
            None => inside.push(new),
        }
        let is_other = |holder: &&Holder| holder.call != new.call && holder.end > now;
        match inside.iter().find(is_other) {
            Some(other) if new.end > now => Err(format!(
                "call {} of {} and call {} of {} are valid together",
                other.call.0, other.site, new.call.0, new.site
            )),
            _ => Ok(()),
        }
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
        self.inside[name].iter().find(|holder| holder.end > now).copied()
    }
}

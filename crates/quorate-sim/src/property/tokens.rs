//! Never two tokens of one epoch, counting those under way.
//!
//! Swaroop & Singh 2008, lemma 1: there is one valid token. Tokens of lower epochs may be left
//! over; they count for nothing.

use std::collections::BTreeMap;

pub(super) const NAME: &str = "one token";

/// How many tokens of each epoch there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Tokens {
    counts: BTreeMap<u64, u32>,
}

impl Tokens {
    /// A token appears, vanishes or is replaced.
    pub(super) fn change(&mut self, before: Option<u64>, after: Option<u64>) {
        if let Some(epoch) = after {
            *self.counts.entry(epoch).or_default() += 1;
        }
        if let Some(count) = before.and_then(|epoch| self.counts.get_mut(&epoch)) {
            *count = count.saturating_sub(1);
        }
        self.counts.retain(|_, count| *count > 0);
    }

    /// To be asked when an action is complete.
    pub(super) fn monitor(&self) -> Result<(), String> {
        match self.counts.iter().find(|&(_, &count)| count > 1) {
            Some((epoch, count)) => Err(format!("there are {count} tokens of epoch {epoch}")),
            None => Ok(()),
        }
    }
}

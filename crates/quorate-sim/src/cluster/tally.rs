//! The counters of a run.

use std::collections::BTreeMap;

use super::faults::Fault;

/// The counters of one run or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Claims made.
    pub claims: u64,
    /// Grants that reached a caller that still waited.
    pub grants: u64,
    /// Claims that ended without a grant, by reason.
    pub denied: BTreeMap<&'static str, u64>,
    /// Waiting callers that gave up.
    pub given_up: u64,
    /// Waiting callers whose process crashed.
    pub orphaned: u64,
    /// Grants whose loss was signalled to their callers, because leases ended.
    pub lost: u64,
    /// Grants that ended because they were broken.
    pub broken: u64,
    /// Requests to break a grant.
    pub breaks: u64,
    /// Callers that saw their own deadline pass.
    pub lapsed: u64,
    /// Writes of valid holders.
    pub writes: u64,
    /// Refused writes of callers that were no longer valid.
    pub late_refused: u64,
    /// Accepted writes of such callers, before their successor wrote.
    pub late_accepted: u64,
    /// Tokens made in place of lost ones.
    pub regenerated: u64,
    /// Records of locks that were folded into one.
    pub folded: u64,
    /// Connections of sites that were closed because a disk is not what it was.
    pub refused: u64,
    /// Runs in which callers waited for too long, and no bound was promised.
    pub unjudged: u64,
    /// Packets sent.
    pub packets: u64,
    /// Writes to disk.
    pub disk_writes: u64,
    /// Faults, by their place in [`Fault::KINDS`].
    pub faults: [u64; Fault::KINDS.len()],
    /// True time that passed, in nanoseconds.
    pub elapsed_ns: u64,
    /// The longest time with a waiter and no holder.
    pub gap_ns_max: u64,
    /// The longest time that a packet took.
    pub packet_ns_max: u64,
    /// The time from the end of the faults until no claim was left.
    pub settled_ns_max: u64,
}

impl Tally {
    /// Adds the counters of another run.
    pub fn add(&mut self, other: &Tally) {
        for (reason, count) in &other.denied {
            *self.denied.entry(reason).or_default() += count;
        }
        for (mine, theirs) in self.faults.iter_mut().zip(other.faults) {
            *mine += theirs;
        }
        for (mine, theirs) in [
            (&mut self.claims, other.claims),
            (&mut self.grants, other.grants),
            (&mut self.given_up, other.given_up),
            (&mut self.orphaned, other.orphaned),
            (&mut self.lost, other.lost),
            (&mut self.broken, other.broken),
            (&mut self.breaks, other.breaks),
            (&mut self.lapsed, other.lapsed),
            (&mut self.writes, other.writes),
            (&mut self.late_refused, other.late_refused),
            (&mut self.late_accepted, other.late_accepted),
            (&mut self.regenerated, other.regenerated),
            (&mut self.folded, other.folded),
            (&mut self.refused, other.refused),
            (&mut self.unjudged, other.unjudged),
            (&mut self.packets, other.packets),
            (&mut self.disk_writes, other.disk_writes),
            (&mut self.elapsed_ns, other.elapsed_ns),
        ] {
            *mine += theirs;
        }
        self.gap_ns_max = self.gap_ns_max.max(other.gap_ns_max);
        self.packet_ns_max = self.packet_ns_max.max(other.packet_ns_max);
        self.settled_ns_max = self.settled_ns_max.max(other.settled_ns_max);
    }
}

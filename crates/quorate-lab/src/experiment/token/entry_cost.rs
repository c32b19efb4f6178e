//! The cost of an entry as the paper counts it: request and complete are charged to their sender,
//! start and token to their receiver.

use std::collections::BTreeMap;

use quorate_protocol::token::Message;
use quorate_protocol::{SiteId, Tick};
use quorate_sim::Event;
use quorate_sim::random::TimedObserver;

/// The most expensive entry and the longest queue of several runs.
#[derive(Debug, Default)]
pub(super) struct EntryCost {
    most: u64,
    /// The most groups that a token's queue had when it was handed over.
    pub(super) entries_most: usize,
}

impl EntryCost {
    /// The messages of the most expensive entry.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// An observer for one run: the next run numbers its requests from one again.
    pub(super) fn observe_run(&mut self) -> Run<'_> {
        Run { cost: self, charged: BTreeMap::new() }
    }
}

/// One run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    cost: &'a mut EntryCost,
    charged: BTreeMap<(SiteId, u64), u64>,
}

impl TimedObserver for Run<'_> {
    fn see(&mut self, _: Tick, _: usize, event: &Event<'_>) {
        let Event::Sends { from, to, message } = *event else { return };
        let payer = match message.downcast() {
            Message::Request { sn, .. } | Message::Complete { sn, .. } => (from, *sn),
            Message::Start(pass) => (to, pass.sn),
            Message::Token { token, .. } => {
                let entries = token.queue.entries();
                self.cost.entries_most = self.cost.entries_most.max(entries.len());
                (to, entries[0].waiting[0].sn)
            }
            _ => return,
        };
        let charged = self.charged.entry(payer).or_default();
        *charged += 1;
        self.cost.most = self.cost.most.max(*charged);
    }
}

//! The recorded events of one run.

use quorate_protocol::{ClaimId, Tick};
use quorate_quorum::SiteId;
use quorate_sim::random::{T, TimedObserver};
use quorate_sim::{Caller, Event};
use serde_json::{Value, json};

/// One event of a run, without the protocol's types.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The time.
    pub(crate) at: Tick,
    /// Its depth within its action.
    pub(crate) depth: usize,
    /// The kind of event.
    pub(crate) what: What,
    /// Its name in JSON.
    pub(crate) word: &'static str,
    /// Its description.
    pub(crate) text: String,
}

/// The kinds of events that a trace distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A caller starts to wait.
    Acquires(SiteId, ClaimId),
    /// A caller enters.
    Enters(SiteId, ClaimId),
    /// A caller is gone: it left, gave up, or lost the lock.
    Leaves(SiteId, ClaimId),
    /// A message is sent.
    Sends(SiteId, SiteId),
    /// A message of this kind arrives.
    Receives(SiteId, SiteId, &'static str),
    /// A site ignores an input.
    Ignores(SiteId),
}

impl Seen {
    /// The event as a line of a trace, indented as in scripts.
    pub(crate) fn line(&self) -> String {
        let width = 2 * self.depth;
        format!("{:>9}  {:width$}{}", in_t(self.at.0), "", self.text)
    }

    /// The event as JSON.
    pub(crate) fn json(&self) -> Value {
        let (site, peer, kind) = match self.what {
            What::Acquires(site, _) | What::Enters(site, _) | What::Leaves(site, _) => {
                (site, None, None)
            }
            What::Sends(from, to) => (from, Some(to), None),
            What::Receives(from, to, kind) => (to, Some(from), Some(kind)),
            What::Ignores(site) => (site, None, None),
        };
        let mut value = json!({
            "time_T": as_t(self.at.0),
            "depth": self.depth,
            "event": self.word,
            "site": site.index() + 1,
            "text": self.text,
        });
        if let Some(peer) = peer {
            value["peer"] = json!(peer.index() + 1);
        }
        if let Some(kind) = kind {
            value["kind"] = json!(kind);
        }
        value
    }
}

/// Records all events of a run.
#[derive(Debug, Default)]
pub(crate) struct Recorder(pub(crate) Vec<Seen>);

impl TimedObserver for Recorder {
    fn see(&mut self, at: Tick, depth: usize, event: &Event<'_>) {
        let what = match *event {
            Event::Acquires(Caller { site, claim, .. }) => What::Acquires(site, claim),
            Event::Releases(Caller { site, claim, .. })
            | Event::GivesUp(Caller { site, claim, .. })
            | Event::Loses(Caller { site, claim, .. }, _) => What::Leaves(site, claim),
            Event::Enters(Caller { site, claim, .. }, _) => What::Enters(site, claim),
            Event::Sends { from, to, .. } => What::Sends(from, to),
            Event::Receives { from, to, message } => What::Receives(from, to, message.kind),
            Event::Arms(..) => return,
            Event::Ignores(site, _)
            | Event::Estimates(site, _)
            | Event::Drops { to: site, .. }
            | Event::Expires(site, _) => What::Ignores(site),
            Event::Suffers(fault) => What::Ignores(fault.site()),
        };
        self.0.push(Seen { at, depth, what, word: event.word(), text: event.to_string() });
    }

    fn wants_estimates(&self) -> bool {
        true
    }
}

/// Ticks as a number of T.
pub(crate) fn as_t(ticks: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "figures for people and plots")]
    let (ticks, t) = (ticks as f64, T as f64);
    ticks / t
}

/// Ticks as a number of T, with three decimals.
pub(crate) fn in_t(ticks: u64) -> String {
    format!("{:.3}", as_t(ticks))
}

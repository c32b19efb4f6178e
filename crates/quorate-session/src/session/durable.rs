//! What sessions must find again after a restart.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Drift, Incarnation};
use crate::Tick;

/// What a site keeps on disk for its sessions; empty on a new disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Durable {
    /// The site's incarnation, raised before the first byte is sent.
    pub incarnation: Incarnation,
    /// The longest lease this site ever agreed to, raised before a Welcome with a longer one.
    pub lease_max: Duration,
}

impl Durable {
    /// What must be on disk before the next life of the site says a word.
    pub fn reborn(self) -> Self {
        Self { incarnation: Incarnation(self.incarnation.0 + 1), ..self }
    }

    /// Until when a site that starts `now` lends nothing: every permission that it may have lent
    /// in an earlier life has lapsed by then.
    pub fn quarantine(self, now: Tick, drift: Drift) -> Tick {
        now + drift.lengthen(self.lease_max)
    }
}

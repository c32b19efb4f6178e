//! What sessions need after a restart.

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
    /// What must be on disk before the next incarnation sends its first byte.
    pub fn next_incarnation(self) -> Self {
        Self { incarnation: Incarnation(self.incarnation.0 + 1), ..self }
    }

    /// Until when a site that starts `now` lends nothing: by then every loan of an earlier
    /// incarnation has expired.
    pub fn quarantine(self, now: Tick, drift: Drift) -> Tick {
        now + drift.lengthen(self.lease_max)
    }
}

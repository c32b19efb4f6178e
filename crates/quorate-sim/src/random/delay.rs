//! How long messages take.

use std::collections::BTreeMap;
use std::str::FromStr;

use quorate_protocol::Tick;
use quorate_quorum::SiteId;

use super::T;
use crate::Lane;
use crate::chance::{Chance, mix};

/// The distribution of message delays; the mean is [`T`] in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delay {
    /// Every message takes exactly T.
    Constant,
    /// Anything up to 2 T is equally likely.
    Uniform,
    /// Mostly short, sometimes very long.
    #[default]
    Exponential,
}

impl Delay {
    /// The names of the distributions.
    pub const NAMES: [&'static str; 3] = ["constant", "uniform", "exponential"];
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "constant" => Ok(Delay::Constant),
            "uniform" => Ok(Delay::Uniform),
            "exponential" => Ok(Delay::Exponential),
            _ => Err(format!("unknown delay `{name}`; known: {}", Delay::NAMES.join(", "))),
        }
    }
}

/// Draws when messages arrive; none arrives before one that was sent earlier on its channel.
#[derive(Debug)]
pub(super) struct Arrivals {
    delay: Delay,
    skew: bool,
    seed: u64,
    last: Vec<BTreeMap<(SiteId, Lane), Tick>>,
}

impl Arrivals {
    pub(super) fn new(n: usize, delay: Delay, skew: bool, seed: u64) -> Self {
        Self { delay, skew, seed, last: vec![BTreeMap::new(); n] }
    }

    pub(super) fn arrival(
        &mut self,
        now: Tick,
        (from, to, lane): (SiteId, SiteId, Lane),
        chance: &mut Chance,
    ) -> Tick {
        let delay = match self.delay {
            Delay::Constant => T,
            Delay::Uniform => chance.below(2 * T + 1),
            Delay::Exponential => chance.exponential(T),
        };
        let arrival = Tick(now.0 + if self.skew { self.skewed(delay, from, to) } else { delay });
        if self.delay == Delay::Constant {
            return arrival; // in order already
        }
        let last = self.last[from.index()].entry((to, lane)).or_default();
        *last = arrival.max(*last);
        *last
    }

    /// A channel is up to four times slower or faster than the rest, for a whole run.
    fn skewed(&self, delay: u64, from: SiteId, to: SiteId) -> u64 {
        delay * (1 << (mix(self.seed, from, to) % 5)) / 4
    }
}

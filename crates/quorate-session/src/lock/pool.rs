//! Pools, without their protocol.

use std::collections::BTreeSet;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::spec::{Details, KindSpec, KindWords};
use super::{Granted, Kind, Share};
use crate::claim::Denial;
use crate::limits;

pub(super) const WORDS: KindWords =
    KindWords { name: "pool", column: Some("UNITS"), joint_request: None };

/// Some units of a pool: `3 of 8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Units {
    /// How many are meant; the paper's h.
    pub count: u32,
    /// How many there are; the paper's k.
    pub of: u32,
}

impl Units {
    /// Whether somebody can have so many: at least one, and no more than there are.
    pub fn is_valid(self) -> bool {
        (1..=self.of).contains(&self.count)
    }
}

impl Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.count, self.of)
    }
}

/// What a caller wants of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PoolSpec {
    /// How many units, of how many.
    pub units: Units,
    /// Whether the caller must know which ones.
    pub numbered: bool,
}

impl PoolSpec {
    fn numbers<'a>(&self, granted: Option<&'a Granted>) -> Option<&'a BTreeSet<u32>> {
        match granted {
            Some(Granted::Pool(numbers)) if self.numbered => Some(numbers),
            _ => None,
        }
    }
}

impl Display for PoolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.units.fmt(f)
    }
}

impl KindSpec for PoolSpec {
    fn kind(&self) -> Kind {
        Kind::Pool(self.units.of)
    }

    fn check(&self) -> Result<(), Denial> {
        let valid = self.units.is_valid() && self.units.of <= limits::UNITS;
        if valid { Ok(()) } else { Err(Denial::Units(self.units)) }
    }

    fn bytes(&self) -> usize {
        16
    }

    fn share(&self, granted: &Granted) -> Share {
        let numbers =
            if let Granted::Pool(numbers) = granted { numbers.clone() } else { [].into() };
        Share::of_units(self.units, numbers)
    }

    fn details<'a>(&'a self, granted: Option<&'a Granted>) -> Details<'a> {
        let (units, numbers) = (Some(self.units.count), self.numbers(granted));
        Details { units, numbers, ..Details::default() }
    }

    fn phrase(&self, granted: Option<&Granted>) -> String {
        match self.numbers(granted) {
            None => self.to_string(),
            Some(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                format!("{self}: {}", numbers.join(" "))
            }
        }
    }
}

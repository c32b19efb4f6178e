//! Mutexes, without their protocol.

use std::fmt::{self, Display};

use super::spec::{Details, KindSpec, KindWords};
use super::{Granted, Kind, Share, Units};

pub(super) const WORDS: KindWords = KindWords { name: "mutex", column: None, joint_request: None };

/// What a caller wants of a mutex: nothing can be chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct MutexSpec;

impl Display for MutexSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lock")
    }
}

impl KindSpec for MutexSpec {
    fn kind(&self) -> Kind {
        Kind::Mutex
    }

    fn bytes(&self) -> usize {
        16
    }

    /// A mutex is a pool of one unit, which has number 0.
    fn share(&self, _: &Granted) -> Share {
        Share::of_units(Units { count: 1, of: 1 }, [0].into())
    }

    fn details<'a>(&'a self, _: Option<&'a Granted>) -> Details<'a> {
        Details::default()
    }

    fn phrase(&self, _: Option<&Granted>) -> String {
        String::new()
    }
}

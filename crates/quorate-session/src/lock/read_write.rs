//! Read-write locks, without their protocol.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::spec::{Details, KindSpec, KindWords};
use super::{Granted, Kind, Share};

pub(super) const WORDS: KindWords =
    KindWords { name: "read-write lock", column: Some("ACCESS"), joint_request: None };

/// What a caller wants of a read-write lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    /// Together with other readers.
    Read,
    /// Alone.
    Write,
}

impl Access {
    fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
        }
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "to {}", self.name())
    }
}

impl KindSpec for Access {
    fn kind(&self) -> Kind {
        Kind::ReadWrite
    }

    fn bytes(&self) -> usize {
        16
    }

    /// All readers are one group, and each writer is a group of its own.
    fn share(&self, granted: &Granted) -> Share {
        Share::of_group(granted.group(), false)
    }

    fn details<'a>(&'a self, _: Option<&'a Granted>) -> Details<'a> {
        Details { access: Some(self.name()), ..Details::default() }
    }

    fn cell(&self, _: Option<&Granted>) -> String {
        self.name().to_owned()
    }
}

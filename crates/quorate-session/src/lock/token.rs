//! Group locks by token, without their protocol. For callers they are like group locks.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::groups::Groups;
use super::spec::{Details, KindSpec, KindWords};
use super::{Granted, Kind, Share};
use crate::claim::Denial;

pub(super) const WORDS: KindWords =
    KindWords { name: "group lock by token", column: Some("GROUP"), joint_request: None };

/// What a caller wants of a group lock by token: to be inside with any one of these groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenSpec(pub Groups);

impl Display for TokenSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "group {}", self.0.any())
    }
}

impl KindSpec for TokenSpec {
    fn kind(&self) -> Kind {
        Kind::Token
    }

    fn check(&self) -> Result<(), Denial> {
        self.0.check()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn share(&self, granted: &Granted) -> Share {
        Share::of_group(granted.group(), false)
    }

    fn details<'a>(&'a self, granted: Option<&'a Granted>) -> Details<'a> {
        self.0.details(granted)
    }

    fn phrase(&self, granted: Option<&Granted>) -> String {
        self.0.phrase(granted)
    }

    fn cell(&self, granted: Option<&Granted>) -> String {
        self.0.cell(granted)
    }
}

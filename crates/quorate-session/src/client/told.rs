//! What a caller is told, in this process or another.

use std::sync::Arc;

use super::CallerLoss;
use crate::claim::Denial;
use crate::lock::Got;
use crate::{Fence, Tick};

/// What a caller is told of its call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// It is inside; its grant is good until then at least.
    Granted(Fence, Got, Tick),
    /// The grant is good until then at least.
    Extended(Tick),
    /// The grant was broken, and ends then.
    Broken(Tick, Arc<str>),
    /// The grant is over. It is the last that is told.
    Lost(CallerLoss),
    /// It gets nothing. It is the last that is told.
    Denied(Denial),
}

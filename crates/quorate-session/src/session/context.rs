//! What every step of a session can see.

use super::{Incarnation, Terms};
use crate::Tick;

/// The context of a step: the time, the site's terms, and its incarnation.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The time of the step.
    pub now: Tick,
    /// The terms of the site's sessions.
    pub terms: &'a Terms,
    /// The site's incarnation.
    pub incarnation: Incarnation,
    /// Until when the site lends nothing.
    pub quarantined_until: Tick,
    /// Whether the site is about to stop.
    pub draining: bool,
}

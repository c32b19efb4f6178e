//! Access to the effects of a step, for mutants.

use super::{Effect, Out};
use crate::Protocol;

impl<P: Protocol> Out<P> {
    /// All effects, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Effect<P>> {
        self.effects.iter()
    }

    /// All effects, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Effect<P>> {
        self.effects.iter_mut()
    }
}

//! Parts of a world that do not count when states are compared.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quorate_protocol::Out;

use crate::{Setup, SimProtocol};

/// The setup, which is the same in all states of a run.
pub(super) struct Fixed<P: SimProtocol>(pub(super) Arc<Setup<P>>);

impl<P: SimProtocol> Clone for Fixed<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: SimProtocol> fmt::Debug for Fixed<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl<P: SimProtocol> PartialEq for Fixed<P> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<P: SimProtocol> Eq for Fixed<P> {}

impl<P: SimProtocol> Hash for Fixed<P> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Buffers that are used during a step and empty between steps.
#[derive(Debug)]
pub(super) struct Scratch<P: SimProtocol> {
    pub(super) out: Out<P>,
    pub(super) own: VecDeque<P::Message>,
}

impl<P: SimProtocol> Default for Scratch<P> {
    fn default() -> Self {
        Self { out: Out::new(), own: VecDeque::new() }
    }
}

impl<P: SimProtocol> Clone for Scratch<P> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<P: SimProtocol> PartialEq for Scratch<P> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<P: SimProtocol> Eq for Scratch<P> {}

impl<P: SimProtocol> Hash for Scratch<P> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

//! What a world carries along that tells no two of its states apart.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quorate_protocol::Out;

use crate::{Setup, Subject};

/// What is the same in all states of a run, and so tells none of them apart.
pub(super) struct Fixed<P: Subject>(pub(super) Arc<Setup<P>>);

impl<P: Subject> Clone for Fixed<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: Subject> fmt::Debug for Fixed<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl<P: Subject> PartialEq for Fixed<P> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<P: Subject> Eq for Fixed<P> {}

impl<P: Subject> Hash for Fixed<P> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Room that is used during a step and empty between steps.
#[derive(Debug)]
pub(super) struct Scratch<P: Subject> {
    pub(super) out: Out<P>,
    pub(super) own: VecDeque<P::Message>,
}

impl<P: Subject> Default for Scratch<P> {
    fn default() -> Self {
        Self { out: Out::new(), own: VecDeque::new() }
    }
}

impl<P: Subject> Clone for Scratch<P> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<P: Subject> PartialEq for Scratch<P> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<P: Subject> Eq for Scratch<P> {}

impl<P: Subject> Hash for Scratch<P> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

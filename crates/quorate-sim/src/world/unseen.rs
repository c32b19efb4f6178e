//! What a world carries along that tells no two of its states apart.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quorate_protocol::Out;
use quorate_quorum::SiteId;

use crate::{Quorums, Subject};

/// What is the same in all states of a run, and so tells none of them apart.
pub(super) struct Fixed<P: Subject>(pub(super) Arc<Setup<P>>);

/// How a world was set up.
pub(super) struct Setup<P: Subject> {
    pub(super) options: P::Options,
    pub(super) quorums: P::Quorums,
    /// The pairs of sites that never speak, each both ways.
    pub(super) mute: BTreeSet<(SiteId, SiteId)>,
}

impl<P: Subject> Setup<P> {
    pub(super) fn new(options: &P::Options, quorums: &P::Quorums) -> Self {
        let sites = || SiteId::all(quorums.n());
        let mut mute = BTreeSet::new();
        // Where all may ask, all are asked.
        if !sites().all(|site| quorums.may_ask(site)) {
            let pairs = sites().flat_map(|one| sites().map(move |other| (one, other)));
            mute.extend(pairs.filter(|&(one, other)| !P::speak(quorums, one, other)));
        }
        Self { options: options.clone(), quorums: quorums.clone(), mute }
    }
}

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

//! Fences grow along conflicting grants.
//!
//! DESIGN of the site layer: a fence is above every fence used before it on that resource. Those of
//! a pool order only grants that could not have been inside together; the members of a group share
//! one. Those of stages order the stages, and in a stage the exclusive members.

use quorate_protocol::Fence;

use crate::Marks;

pub(super) const NAME: &str = "fences grow";

/// The highest fence granted so far and whom it serves, by kind of grant. Most protocols have one
/// kind, which takes no room of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Fences {
    first: (Fence, u64),
    others: Vec<(Fence, u64)>,
    /// That of the last stage.
    stage: Fence,
}

impl Fences {
    pub(super) fn on_enter(
        &mut self,
        fence: Fence,
        party: u64,
        marks: &Marks,
    ) -> Result<(), String> {
        let highest_of = |kinds: &[usize]| kinds.iter().map(|&kind| self.highest(kind).0).max();
        let highest = highest_of(&marks.above).unwrap_or_default();
        let level = highest_of(&marks.level).unwrap_or_default();
        let mut shared = false;
        for &kind in &marks.own {
            let before = self.highest_mut(kind);
            shared |= before.0 == fence && before.1 != party;
            if fence > before.0 {
                *before = (fence, party);
            }
        }
        if shared {
            return Err(format!("fence {fence} serves two groups"));
        }
        if fence > highest && fence >= level {
            return Ok(());
        }
        Err(format!("fence {fence} follows fence {}", highest.max(level)))
    }

    /// A grant is part of the stage with this fence: the same as before, or a new one.
    pub(super) fn on_stage(&mut self, stage: Fence) -> Result<(), String> {
        let first = self.first.0;
        let before = self.others.iter().fold(first, |highest, &(fence, _)| highest.max(fence));
        let follows = stage == self.stage || stage > before;
        self.stage = stage;
        if follows { Ok(()) } else { Err(format!("a stage of fence {stage} follows {before}")) }
    }

    fn highest(&self, kind: usize) -> (Fence, u64) {
        match kind.checked_sub(1) {
            None => self.first,
            Some(place) => self.others.get(place).copied().unwrap_or_default(),
        }
    }

    fn highest_mut(&mut self, kind: usize) -> &mut (Fence, u64) {
        let Some(place) = kind.checked_sub(1) else { return &mut self.first };
        if self.others.len() <= place {
            self.others.resize(place + 1, Default::default());
        }
        &mut self.others[place]
    }
}

//! Fences grow along conflicting grants.
//!
//! A fence is above every fence used before it on that lock (`docs/site.md`). Fences of a pool
//! order only grants that could not have been inside together. The members of a group share one.
//! Fences of role locks order the stages, and in a stage the exclusive members.

use quorate_protocol::Fence;

use crate::FenceOrder;

pub(super) const NAME: &str = "fences grow";

/// The highest fence granted so far and its owner, by kind of grant. Most protocols have one kind,
/// which takes no room of its own.
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
        owner: u64,
        order: &FenceOrder,
    ) -> Result<(), String> {
        let highest_of = |kinds: &[usize]| kinds.iter().map(|&kind| self.highest(kind).0).max();
        let highest = highest_of(&order.above).unwrap_or_default();
        let level = highest_of(&order.level).unwrap_or_default();
        let mut shared = false;
        for &kind in &order.own {
            let before = self.highest_mut(kind);
            shared |= before.0 == fence && before.1 != owner;
            if fence > before.0 {
                *before = (fence, owner);
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

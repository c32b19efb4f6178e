//! The storage that a lock guards: outside all sites, and it checks fences.

use quorate_protocol::Fence;
use quorate_session::CallId;

/// One resource's storage. A write carries a fence and is refused if a higher one was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Storage {
    /// The highest fence seen, and the caller that brought it first.
    highest: Option<(Fence, CallId)>,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// It was accepted.
    Accepted,
    /// It was refused: this higher fence was seen before.
    Refused(Fence),
    /// It was accepted, although another caller has written with the same fence.
    Mixed(CallId),
}

impl Storage {
    pub(super) fn write(&mut self, call: CallId, fence: Fence) -> Write {
        match self.highest {
            Some((highest, _)) if fence < highest => Write::Refused(highest),
            Some((highest, other)) if fence == highest && other != call => Write::Mixed(other),
            Some((highest, _)) if fence == highest => Write::Accepted,
            _ => {
                self.highest = Some((fence, call));
                Write::Accepted
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_fence_is_refused_and_the_same_is_told_apart() {
        let mut storage = Storage::default();
        let [one, two] = [1, 2].map(CallId);
        assert_eq!(storage.write(one, Fence(5)), Write::Accepted);
        assert_eq!(storage.write(one, Fence(5)), Write::Accepted);
        assert_eq!(storage.write(two, Fence(5)), Write::Mixed(one));
        assert_eq!(storage.write(two, Fence(7)), Write::Accepted);
        assert_eq!(storage.write(one, Fence(5)), Write::Refused(Fence(7)));
    }
}

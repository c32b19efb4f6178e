//! Values that many worlds share and that remember their hash.
//!
//! An action writes to one site or two. The others, and most channels, are the same as in the world
//! before. A search hashes every world it reaches, so unwritten parts keep their hash.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ahash::RandomState;

/// The same hashes in every run.
const SEEDED: RandomState = RandomState::with_seeds(1, 2, 3, 4);

/// A value that is shared between clones, copied when written, and hashed once.
pub(crate) struct Memo<T>(Arc<Inner<T>>);

struct Inner<T> {
    value: T,
    /// The hash of the value; 0 if it is not known.
    digest: AtomicU64,
}

impl<T> Memo<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(Inner { value, digest: AtomicU64::new(0) }))
    }
}

impl<T: Clone> Memo<T> {
    /// The value, to be written to. It is copied if it is shared.
    pub(crate) fn make_mut(&mut self) -> &mut T {
        let inner = Arc::make_mut(&mut self.0);
        *inner.digest.get_mut() = 0;
        &mut inner.value
    }
}

impl<T: Clone> Clone for Inner<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), digest: AtomicU64::new(0) }
    }
}

impl<T> Clone for Memo<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Memo<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Memo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.value.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Memo<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.value == other.0.value
    }
}

impl<T: Eq> Eq for Memo<T> {}

impl<T: Hash> Hash for Memo<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut digest = self.0.digest.load(Ordering::Relaxed);
        if digest == 0 {
            digest = SEEDED.hash_one(&self.0.value).max(1);
            self.0.digest.store(digest, Ordering::Relaxed);
        }
        hasher.write_u64(digest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(memo: &Memo<Vec<u32>>) -> u64 {
        SEEDED.hash_one(memo)
    }

    #[test]
    fn a_value_that_was_written_has_another_hash() {
        let mut memo = Memo::new(vec![1]);
        let (before, clone) = (hash(&memo), memo.clone());
        memo.make_mut().push(2);
        assert_ne!(hash(&memo), before);
        assert_eq!(hash(&clone), before, "a clone is not written to");
        memo.make_mut().pop();
        assert_eq!((hash(&memo), &memo), (before, &clone), "equal values have equal hashes");
    }
}

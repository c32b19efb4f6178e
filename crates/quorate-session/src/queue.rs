//! A queue that may become very long.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// How many items a block has.
const BLOCK: usize = 512;

/// A queue in blocks: a push never moves what is in it, however much that is. So no step of a site
/// is long because a queue grows.
///
/// ```
/// use quorate_session::Queue;
///
/// let mut queue: Queue<u32> = (0..2000).collect();
/// assert_eq!((queue.len(), queue.get(1500)), (2000, Some(&1500)));
/// assert_eq!(queue.pop_front(), Some(0));
/// queue.push_back(7);
/// assert_eq!(queue.iter().last(), Some(&7));
/// ```
#[derive(Clone, Debug)]
pub struct Queue<T> {
    /// The first may have lost items at its front, the last may have room; those between are full.
    /// None is empty.
    blocks: VecDeque<VecDeque<T>>,
    len: usize,
}

impl<T> Queue<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self { blocks: VecDeque::new(), len: 0 }
    }

    /// How many items it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an item at the end.
    pub fn push_back(&mut self, item: T) {
        self.len += 1;
        let has_room = |block: &&mut VecDeque<T>| block.len() < BLOCK;
        match self.blocks.back_mut().filter(has_room) {
            Some(last) => last.push_back(item),
            None => self.blocks.push_back(VecDeque::from([item])),
        }
    }

    /// Takes the first item.
    pub fn pop_front(&mut self) -> Option<T> {
        let first = self.blocks.front_mut()?;
        let item = first.pop_front();
        if first.is_empty() {
            self.blocks.pop_front();
        }
        self.len -= 1;
        item
    }

    /// Takes the first item if it satisfies `predicate`.
    pub fn pop_front_if(&mut self, predicate: impl FnOnce(&T) -> bool) -> Option<T> {
        self.get(0).filter(|first| predicate(first))?;
        self.pop_front()
    }

    /// The item at this place.
    pub fn get(&self, place: usize) -> Option<&T> {
        let first = self.blocks.front()?;
        match place.checked_sub(first.len()) {
            None => first.get(place),
            Some(beyond) => self.blocks.get(1 + beyond / BLOCK)?.get(beyond % BLOCK),
        }
    }

    /// The items in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flatten()
    }

    /// Keeps the items that satisfy `predicate`.
    pub fn retain(&mut self, predicate: impl FnMut(&T) -> bool) {
        let items = std::mem::take(self).blocks.into_iter().flatten();
        *self = items.filter(predicate).collect();
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Extend<T> for Queue<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push_back(item));
    }
}

impl<T> FromIterator<T> for Queue<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut queue = Self::new();
        queue.extend(items);
        queue
    }
}

/// Where blocks begin makes no difference.
impl<T: PartialEq> PartialEq for Queue<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Queue<T> {}

impl<T: Hash> Hash for Queue<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len.hash(state);
        self.iter().for_each(|item| item.hash(state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_queue_whatever_the_blocks() {
        let (mut queue, mut model) = (Queue::new(), VecDeque::new());
        // Pushes and pops by turns, in runs that begin and end anywhere in a block.
        for run in 0..40_usize {
            for item in 0..(run * 97) % 1300 {
                queue.push_back(item);
                model.push_back(item);
            }
            for _ in 0..(run * 61) % 1100 {
                assert_eq!(queue.pop_front(), model.pop_front());
            }
            assert_eq!(queue.len(), model.len());
            assert!(queue.iter().eq(model.iter()));
            for place in (0..model.len() + 3).step_by(7) {
                assert_eq!(queue.get(place), model.get(place));
            }
        }
        assert!(model.len() > 2 * BLOCK, "several blocks are compared");
        queue.retain(|item| item % 3 == 0);
        model.retain(|item| item % 3 == 0);
        assert!(queue.iter().eq(model.iter()) && queue.len() == model.len());
    }

    #[test]
    fn where_blocks_begin_makes_no_difference() {
        let mut late: Queue<usize> = (0..2 * BLOCK).collect();
        for _ in 0..BLOCK / 2 {
            late.pop_front();
        }
        assert_eq!(late, (BLOCK / 2..2 * BLOCK).collect());
        assert_ne!(late, (BLOCK / 2..=2 * BLOCK).collect());
    }

    #[test]
    fn only_the_first_item_is_taken_and_only_if_it_fits() {
        let mut queue: Queue<u8> = [1, 2].into_iter().collect();
        assert_eq!(queue.pop_front_if(|item| *item == 2), None);
        assert_eq!(queue.pop_front_if(|item| *item == 1), Some(1));
        assert_eq!(queue.pop_front(), Some(2));
        assert!(queue.is_empty() && queue.pop_front().is_none());
    }
}

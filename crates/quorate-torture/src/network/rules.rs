//! What the router does to packets on each link.

use std::collections::BTreeMap;
use std::time::Duration;

/// A host: a site, or a client. Sites come first, from 0.
pub(crate) type Node = usize;

/// What happens to packets on one way between two nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Link {
    /// All are dropped.
    pub(crate) cut: bool,
    /// All wait until the fault is over.
    pub(crate) stalled: bool,
    /// Each takes so long, and its successor does not overtake it.
    pub(crate) delay: Duration,
    /// Some take up to so long in addition, and are overtaken.
    pub(crate) jitter: Duration,
    /// So many in a thousand are dropped.
    pub(crate) loss: u32,
    /// So many in a thousand come twice.
    pub(crate) duplicates: u32,
    /// So many in a thousand reset their connection.
    pub(crate) resets: u32,
}

impl Link {
    /// Both faults together.
    fn with(self, other: Link) -> Self {
        Self {
            cut: self.cut || other.cut,
            stalled: self.stalled || other.stalled,
            delay: self.delay.max(other.delay),
            jitter: self.jitter.max(other.jitter),
            loss: self.loss.max(other.loss),
            duplicates: self.duplicates.max(other.duplicates),
            resets: self.resets.max(other.resets),
        }
    }
}

/// A fault of one way between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) link: Link,
}

/// The rules of all faults that are active.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    of_fault: BTreeMap<usize, Vec<Rule>>,
    links: BTreeMap<(Node, Node), Link>,
}

impl Rules {
    /// Replaces the rules of a fault.
    pub(crate) fn set(&mut self, fault: usize, rules: Vec<Rule>) {
        self.of_fault.insert(fault, rules);
        self.combine();
    }

    /// Ends a fault.
    pub(crate) fn clear(&mut self, fault: usize) {
        self.of_fault.remove(&fault);
        self.combine();
    }

    /// Ends all faults.
    pub(crate) fn clear_all(&mut self) {
        self.of_fault.clear();
        self.combine();
    }

    pub(crate) fn link(&self, from: Node, to: Node) -> Link {
        self.links.get(&(from, to)).copied().unwrap_or_default()
    }

    fn combine(&mut self) {
        self.links.clear();
        for Rule { from, to, link } in self.of_fault.values().flatten() {
            let known = self.links.entry((*from, *to)).or_default();
            *known = known.with(*link);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_one_link_add_up_and_end_apart() {
        let mut rules = Rules::default();
        let rule = |link| vec![Rule { from: 0, to: 1, link }];
        rules.set(1, rule(Link { cut: true, ..Link::default() }));
        rules.set(2, rule(Link { loss: 5, ..Link::default() }));
        assert_eq!(rules.link(0, 1), Link { cut: true, loss: 5, ..Link::default() });
        assert_eq!(rules.link(1, 0), Link::default());
        rules.clear(1);
        assert_eq!(rules.link(0, 1), Link { loss: 5, ..Link::default() });
    }
}

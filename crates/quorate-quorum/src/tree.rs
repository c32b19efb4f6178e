//! The tree: a path from the root to a leaf, with detours around dead nodes.

use crate::measure::{self, LoadBounds};
use crate::price::nearest;
use crate::{Prices, QuorumError, QuorumSystem, Shape, SiteId, SiteSet, check_sites};

/// A path from the root of a tree to a leaf (Agrawal & El Abbadi 1991).
///
/// A quorum of a leaf is the leaf. A quorum of an inner node is the node with a quorum of *one* of
/// its children, or a quorum of *each* of its children without the node. (Where summaries replace a
/// dead node by "a path from a child", the paths of all its children are meant: those of one alone
/// would not meet the others.)
///
/// Nodes are numbered as in a heap: the children of v are 2v + 1 and 2v + 2. For even n the last
/// inner node gets the last site as a third child, since a node with one child would be redundant.
/// Only for 2 sites there is no other way: the quorum is the child.
///
/// A site's own quorum is a path through it. Each leaf ends at most two of these paths, but the
/// root is in all of them: this system is for few messages, not for an even load.
///
/// ```
/// use quorate_quorum::{QuorumSystem, SiteId, SiteSet, Tree};
/// let system = Tree::new(7)?;
/// let mut live = SiteSet::full(7);
/// assert_eq!(system.pick_for(SiteId::new(4), &live).unwrap().to_string(), "{1 2 5}");
/// live.remove(SiteId::new(1));
/// assert_eq!(system.pick_for(SiteId::new(4), &live).unwrap().to_string(), "{1 4 5}");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    n: usize,
}

/// The cheapest way to a quorum of a node.
#[derive(Clone, Copy)]
enum Way {
    /// The node, and this child's quorum if it has children.
    Through(Option<usize>),
    /// The quorums of all its children.
    Around,
}

impl Tree {
    /// The tree of `n` sites.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn new(n: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        Ok(Self { n })
    }

    /// How many nodes are numbered as in a heap: all but the third child.
    fn heap(&self) -> usize {
        if self.n.is_multiple_of(2) && self.n > 2 { self.n - 1 } else { self.n }
    }

    /// The nodes right below `node`.
    fn children(&self, node: usize) -> std::ops::Range<usize> {
        let (first, heap) = (2 * node + 1, self.heap());
        if first >= heap {
            return 0..0;
        }
        let end = (first + 2).min(heap);
        first..if end == heap { self.n } else { end }
    }

    fn parent(&self, node: usize) -> Option<usize> {
        Some(node.min(self.heap() - 1).checked_sub(1)? / 2)
    }

    /// A value for the root from the values of children, leaves first.
    fn fold<T: Clone>(&self, mut value: impl FnMut(usize, &[T]) -> T) -> T {
        let mut values: Vec<Option<T>> = vec![None; self.n];
        for node in (0..self.n).rev() {
            let below = self.children(node).filter_map(|child| values[child].clone());
            let below: Vec<T> = below.collect();
            values[node] = Some(value(node, &below));
        }
        values.swap_remove(0).expect("every node got a value")
    }

    /// The way from the root through `site` to a leaf.
    ///
    /// Below an inner node it turns right once and then left: to the next leaf in the order in
    /// which a heap is read from left to right, which so is that of no other inner node.
    fn path(&self, site: usize) -> SiteSet {
        let up = std::iter::successors(Some(site), |node| self.parent(*node));
        let turn = self.children(site).nth(1).or(self.children(site).next());
        let down = std::iter::successors(turn, |node| self.children(*node).next());
        // A node with one child is redundant, and here only because it asks for itself.
        let needed = |node: &usize| *node == site || self.children(*node).len() != 1;
        up.chain(down).filter(needed).map(SiteId::new).collect()
    }

    /// The cheapest live quorum of each node: what it costs, and the way to it.
    fn ways(&self, prices: &Prices) -> Vec<Option<(u64, Way)>> {
        let mut best: Vec<Option<(u64, Way)>> = vec![None; self.n];
        for node in (0..self.n).rev() {
            let cost = |child: usize| best[child].map(|(cost, _)| cost);
            let (here, children) = (prices.of(SiteId::new(node)), self.children(node));
            best[node] = if children.is_empty() {
                here.map(|here| (here, Way::Through(None)))
            } else {
                let child = children.clone().filter_map(|at| Some((cost(at)?, at))).min();
                let through = here.zip(child).map(|(here, (cost, child))| (here + cost, child));
                let through = through.map(|(cost, child)| (cost, Way::Through(Some(child))));
                let around = children.map(cost).sum::<Option<u64>>().map(|all| (all, Way::Around));
                through.into_iter().chain(around).min_by_key(|(cost, _)| *cost)
            };
        }
        best
    }

    /// The quorums of `node`.
    fn below(&self, node: usize) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        let children = self.children(node);
        if children.is_empty() {
            return Box::new(std::iter::once([SiteId::new(node)].into_iter().collect()));
        }
        if children.len() == 1 {
            return Box::new(children.flat_map(|child| self.below(child)));
        }
        let through =
            children.clone().flat_map(|child| self.below(child)).map(move |mut quorum| {
                quorum.insert(SiteId::new(node));
                quorum
            });
        Box::new(through.chain(self.of_each(children.collect(), SiteSet::new())))
    }

    /// `so_far` with a quorum of each of `nodes`.
    fn of_each(
        &self,
        mut nodes: Vec<usize>,
        so_far: SiteSet,
    ) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        let Some(node) = nodes.pop() else {
            return Box::new(std::iter::once(so_far));
        };
        Box::new(self.below(node).flat_map(move |mut quorum| {
            quorum.extend_from(&so_far);
            self.of_each(nodes.clone(), quorum)
        }))
    }
}

impl QuorumSystem for Tree {
    fn name(&self) -> String {
        format!("tree of {}", self.n)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        self.fold(|node, below: &[bool]| {
            let here = set.contains(SiteId::new(node));
            match below {
                [] => here,
                _ => here && below.contains(&true) || !below.contains(&false),
            }
        })
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        self.below(0)
    }

    fn min_size(&self) -> usize {
        self.fold(|_, below: &[usize]| match below.iter().min() {
            None => 1,
            Some(least) => (1 + least).min(below.iter().sum()),
        })
    }

    fn max_size(&self) -> usize {
        self.fold(|_, below: &[usize]| match below.iter().max() {
            None => 1,
            Some(most) if below.len() > 1 => (1 + most).max(below.iter().sum()),
            Some(only) => *only,
        })
    }

    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let best = self.ways(prices);
        best[0]?;
        let (mut quorum, mut open) = (SiteSet::new(), vec![0]);
        while let Some(node) = open.pop() {
            match best[node].expect("only nodes with a live quorum are chosen").1 {
                Way::Through(child) => {
                    quorum.insert(SiteId::new(node));
                    open.extend(child);
                }
                Way::Around => open.extend(self.children(node)),
            }
        }
        Some(quorum)
    }

    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n {
            return None;
        }
        nearest(self, site, self.path(site.index()), live)
    }

    /// No tie is possible, so the sets that hit every quorum are those that contain one.
    fn transversal(&self, costs: &[u64]) -> Result<u64, QuorumError> {
        let prices = Prices::of_all(costs);
        let best = self.ways(&prices)[0].expect("all sites are live");
        Ok(best.0)
    }

    fn availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n, up)?;
        Ok(self.fold(|node, below: &[f64]| {
            if below.is_empty() {
                return up[node];
            }
            let none: f64 = below.iter().map(|below| 1.0 - below).product();
            up[node] * (1.0 - none) + (1.0 - up[node]) * below.iter().product::<f64>()
        }))
    }

    /// Exact: 2/(d + 2) for the full tree of depth d.
    ///
    /// Let a node with b children of loads Lᵢ bear the load L. The rest, 1 - L, goes around it to
    /// all children, and L = Σ αᵢ goes through it to one. Child i then bears (αᵢ + 1 - L)·Lᵢ; all
    /// bear L if L = b/(Σ 1/Lᵢ + b - 1), and any other choice loads some site more.
    fn load_bounds(&self) -> LoadBounds {
        let load = self.fold(|_, below: &[f64]| {
            if below.is_empty() {
                return 1.0;
            }
            let children: f64 = below.iter().map(|_| 1.0).sum();
            let load =
                children / (below.iter().map(|load| 1.0 / load).sum::<f64>() + children - 1.0);
            let possible = below.iter().all(|below| load / below >= 1.0 - load);
            assert!(possible, "the children of a heap's node are alike enough to share its load");
            load
        });
        LoadBounds::exactly(load)
    }

    fn shape(&self) -> Shape {
        self.fold(|node, below: &[Shape]| {
            let here = Shape::Site(SiteId::new(node));
            if below.is_empty() { here } else { Shape::Tree(Box::new(here), below.to_vec()) }
        })
    }
}

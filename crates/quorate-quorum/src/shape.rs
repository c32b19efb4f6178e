//! The layout of a quorum system's sites, for drawings.

use crate::SiteId;

/// The layout of the sites: plain data, from which a program may draw.
///
/// Layouts nest, since a construction may stand groups of sites where another has single ones.
///
/// ```
/// use quorate_quorum::{QuorumSystem, Shape, SiteId, build};
/// let Shape::Rows(rows) = build("grid".parse()?, 8)?.shape() else { panic!("a grid has rows") };
/// assert_eq!(rows[2], [6, 7].map(|at| Shape::Site(SiteId::new(at))));
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One site.
    Site(SiteId),
    /// Parts side by side, of which none stands out.
    Group(Vec<Shape>),
    /// Parts in a circle.
    Ring(Vec<Shape>),
    /// Rows of parts, from top to bottom; some may be shorter.
    Rows(Vec<Vec<Shape>>),
    /// A part above others.
    Tree(Box<Shape>, Vec<Shape>),
}

impl Shape {
    /// Sites side by side.
    pub(crate) fn group(sites: impl IntoIterator<Item = SiteId>) -> Self {
        Self::Group(sites.into_iter().map(Self::Site).collect())
    }

    /// Sites in a circle.
    pub(crate) fn ring(sites: impl IntoIterator<Item = SiteId>) -> Self {
        Self::Ring(sites.into_iter().map(Self::Site).collect())
    }

    /// Rows of sites.
    pub(crate) fn rows<R: IntoIterator<Item = SiteId>>(rows: impl IntoIterator<Item = R>) -> Self {
        let row = |row: R| row.into_iter().map(Self::Site).collect();
        Self::Rows(rows.into_iter().map(row).collect())
    }

    /// The same layout with other parts in the place of its sites.
    pub(crate) fn map(self, part: &impl Fn(SiteId) -> Shape) -> Shape {
        let each = |parts: Vec<Shape>| parts.into_iter().map(|shape| shape.map(part)).collect();
        match self {
            Self::Site(site) => part(site),
            Self::Group(parts) => Self::Group(each(parts)),
            Self::Ring(parts) => Self::Ring(each(parts)),
            Self::Rows(rows) => Self::Rows(rows.into_iter().map(each).collect()),
            Self::Tree(root, below) => Self::Tree(Box::new(root.map(part)), each(below)),
        }
    }

    /// Its sites, in the order in which they are laid out.
    pub fn sites(&self) -> Vec<SiteId> {
        match self {
            Self::Site(site) => vec![*site],
            Self::Group(parts) | Self::Ring(parts) => parts.iter().flat_map(Self::sites).collect(),
            Self::Rows(rows) => rows.iter().flatten().flat_map(Self::sites).collect(),
            Self::Tree(root, below) => {
                root.sites().into_iter().chain(below.iter().flat_map(Self::sites)).collect()
            }
        }
    }
}

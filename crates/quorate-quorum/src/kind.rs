//! The constructions by name.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{
    Composed, Cover, Cyclic, Grid, Numbers, Plane, QuorumError, QuorumSystem, Threshold, Tree,
    Wall, Weighted,
};

/// A construction that gives a quorum system for every number of sites, or for just one.
///
/// ```
/// use quorate_quorum::{Kind, QuorumSystem, build};
/// let kind: Kind = "plane".parse()?;
/// assert_eq!(build(kind, 13)?.max_size(), 4);
/// for kind in Kind::all() {
///     println!("{kind}: {}", kind.description());
/// }
/// let wall: Kind = "wall:1,2,3".parse()?;
/// assert_eq!(build(wall, 6)?.max_size(), 3);
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// [`Threshold::majority`].
    Majority,
    /// [`Weighted`], with two votes for the first site where n is even.
    Weighted,
    /// [`Grid`].
    Grid,
    /// [`Cover`].
    Cover,
    /// [`Plane`].
    Plane,
    /// [`Cyclic`].
    Cyclic,
    /// [`Tree`].
    Tree,
    /// [`Composed::hierarchy`].
    Hqc,
    /// [`Composed::grid_set`] of three groups.
    GridSet,
    /// [`Composed::grid_of_groups`] of three sites.
    Rst,
    /// [`Wall::triangle`].
    Triangle,
    /// [`Wall::logarithmic`].
    CwLog,
    /// [`Wall::wheel`].
    Wheel,
    /// [`Wall::new`] with these widths, written `wall:1,2,3`.
    Wall(Numbers),
    /// [`Weighted::new`] with these votes, written `weighted:2,1,1,1`.
    Votes(Numbers),
    /// [`Plane::of_order`], written `plane:4`.
    PlaneOf(u16),
}

impl Kind {
    /// All constructions that take any number of sites, in the order of the catalogue.
    pub fn all() -> &'static [Kind] {
        &[
            Self::Majority,
            Self::Weighted,
            Self::Grid,
            Self::Cover,
            Self::Plane,
            Self::Cyclic,
            Self::Tree,
            Self::Hqc,
            Self::GridSet,
            Self::Rst,
            Self::Triangle,
            Self::CwLog,
            Self::Wheel,
        ]
    }

    /// The name in text, before any colon.
    pub fn name(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Weighted | Self::Votes(_) => "weighted",
            Self::Grid => "grid",
            Self::Cover => "cover",
            Self::Plane | Self::PlaneOf(_) => "plane",
            Self::Cyclic => "cyclic",
            Self::Tree => "tree",
            Self::Hqc => "hqc",
            Self::GridSet => "grid-set",
            Self::Rst => "rst",
            Self::Triangle => "triangle",
            Self::CwLog => "cwlog",
            Self::Wheel => "wheel",
            Self::Wall(_) => "wall",
        }
    }

    /// What its quorums are, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Majority => "any more than half of the sites: survives the most failures",
            Self::Weighted => {
                "more than half of the votes: as majority, but without ties for even N"
            }
            Self::Grid => "a row and a column of a square: about 2 sqrt(N) sites",
            Self::Cover => "a row and a site of each other row: as a grid, with more choice",
            Self::Plane => "a line of a projective plane: about sqrt(N) sites, evenly loaded",
            Self::Cyclic => "rotations of a difference cover: small and alike for every N",
            Self::Tree => "a path from the root to a leaf: about log2(N) sites while all are up",
            Self::Hqc => "most of three groups, in each most of three, and so on: N^0.63 sites",
            Self::GridSet => "most of three groups, and a row and a column of each",
            Self::Rst => "groups of three in a grid: most of each group of a row and a column",
            Self::Triangle => "a row of a triangle and a site of each row below: sqrt(2 N) sites",
            Self::CwLog => "a row of a tall wall and a site of each row below: from log2(N) sites",
            Self::Wheel => "the first site and any other, or all others: for a privileged site",
            Self::Wall(_) => "a row of a wall and a site of each row below",
            Self::Votes(_) => "more than half of the votes",
            Self::PlaneOf(_) => "a line of a projective plane of this order",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wall(numbers) | Self::Votes(numbers) => {
                f.pad(&format!("{}:{numbers}", self.name()))
            }
            Self::PlaneOf(order) => f.pad(&format!("{}:{order}", self.name())),
            _ => f.pad(self.name()),
        }
    }
}

impl FromStr for Kind {
    type Err = QuorumError;

    fn from_str(text: &str) -> Result<Self, QuorumError> {
        let unknown = || QuorumError::UnknownKind(text.to_owned());
        match text.split_once(':') {
            None => {
                Self::all().iter().find(|kind| kind.name() == text).copied().ok_or_else(unknown)
            }
            Some(("wall", widths)) => Ok(Self::Wall(widths.parse()?)),
            Some(("weighted", votes)) => Ok(Self::Votes(votes.parse()?)),
            Some(("plane", order)) => order.parse().map(Self::PlaneOf).map_err(|_| unknown()),
            Some(_) => Err(unknown()),
        }
    }
}

/// The quorum system of this kind over `n` sites.
///
/// # Errors
///
/// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX); every other number fits every kind of
/// [`Kind::all`]. A kind with numbers of its own takes only as many sites as they say, and may be
/// refused for them.
pub fn build(kind: Kind, n: usize) -> Result<Arc<dyn QuorumSystem>, QuorumError> {
    let system: Arc<dyn QuorumSystem> = match kind {
        Kind::Majority => Arc::new(Threshold::majority(n)?),
        Kind::Weighted => Arc::new(Weighted::without_ties(n)?),
        Kind::Grid => Arc::new(Grid::new(n)?),
        Kind::Cover => Arc::new(Cover::new(n)?),
        Kind::Plane => Arc::new(Plane::new(n)?),
        Kind::Cyclic => Arc::new(Cyclic::new(n)?),
        Kind::Tree => Arc::new(Tree::new(n)?),
        Kind::Hqc => Arc::new(Composed::hierarchy(n)?),
        Kind::GridSet => Arc::new(Composed::grid_set(n, if n < 3 { 1 } else { 3 })?),
        Kind::Rst => Arc::new(Composed::grid_of_groups(n, n.min(3))?),
        Kind::Triangle => Arc::new(Wall::triangle(n)?),
        Kind::CwLog => Arc::new(Wall::logarithmic(n)?),
        Kind::Wheel => Arc::new(Wall::wheel(n)?),
        Kind::Wall(widths) => Arc::new(Wall::new(&widths.iter().collect::<Vec<_>>())?),
        Kind::Votes(votes) => {
            let votes = votes.iter().map(|votes| u32::try_from(votes).unwrap_or(u32::MAX));
            Arc::new(Weighted::new(&votes.collect::<Vec<_>>())?)
        }
        Kind::PlaneOf(order) => Arc::new(Plane::of_order(usize::from(order))?),
    };
    if system.n() != n {
        let (kind, needs) = (kind.to_string(), system.n());
        return Err(QuorumError::OtherSize { kind, needs, n });
    }
    Ok(system)
}

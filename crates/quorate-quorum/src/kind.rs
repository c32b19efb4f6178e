//! The constructions by name.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Cyclic, Grid, Plane, QuorumError, QuorumSystem, Threshold, Tree, Weighted};

/// A construction that gives a quorum system for every number of sites.
///
/// ```
/// use quorate_quorum::{Kind, QuorumSystem, build};
/// let kind: Kind = "plane".parse()?;
/// assert_eq!(build(kind, 13)?.max_size(), 4);
/// for kind in Kind::all() {
///     println!("{kind}: {}", kind.description());
/// }
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
    /// [`Plane`].
    Plane,
    /// [`Cyclic`].
    Cyclic,
    /// [`Tree`].
    Tree,
}

impl Kind {
    /// All constructions, in the order of the catalogue.
    pub fn all() -> &'static [Kind] {
        &[Self::Majority, Self::Weighted, Self::Grid, Self::Plane, Self::Cyclic, Self::Tree]
    }

    /// The name that people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Weighted => "weighted",
            Self::Grid => "grid",
            Self::Plane => "plane",
            Self::Cyclic => "cyclic",
            Self::Tree => "tree",
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
            Self::Plane => "a line of a projective plane: about sqrt(N) sites, evenly loaded",
            Self::Cyclic => "rotations of a difference cover: small and alike for every N",
            Self::Tree => "a path from the root to a leaf: about log2(N) sites while all are up",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = QuorumError;

    fn from_str(name: &str) -> Result<Self, QuorumError> {
        let found = Self::all().iter().find(|kind| kind.name() == name);
        found.copied().ok_or_else(|| QuorumError::UnknownKind(name.to_owned()))
    }
}

/// The quorum system of this kind over `n` sites.
///
/// # Errors
///
/// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX); every other number fits every kind.
pub fn build(kind: Kind, n: usize) -> Result<Arc<dyn QuorumSystem>, QuorumError> {
    Ok(match kind {
        Kind::Majority => Arc::new(Threshold::majority(n)?),
        Kind::Weighted => Arc::new(Weighted::without_ties(n)?),
        Kind::Grid => Arc::new(Grid::new(n)?),
        Kind::Plane => Arc::new(Plane::new(n)?),
        Kind::Cyclic => Arc::new(Cyclic::new(n)?),
        Kind::Tree => Arc::new(Tree::new(n)?),
    })
}

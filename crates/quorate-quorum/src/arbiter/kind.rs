//! The families by name.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::Arbiters;
use crate::{PoolError, QuorumError};

/// A construction that gives [`Arbiters`] for numbers of sites and units.
///
/// ```
/// use quorate_quorum::ArbiterKind;
/// let kind: ArbiterKind = "space".parse()?;
/// let pool = kind.build(15, 2)?;
/// assert_eq!((pool.of(1)?.max_size(), pool.of(2)?.max_size()), (7, 7));
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
#[strum(parse_err_ty = QuorumError, parse_err_fn = unknown)]
#[non_exhaustive]
pub enum ArbiterKind {
    /// [`Arbiters::uniform`].
    Uniform,
    /// [`Arbiters::improved`].
    Improved,
    /// [`Arbiters::plain`].
    Plain,
    /// [`Arbiters::cube`].
    Cube,
    /// [`Arbiters::improved_cube`].
    ImprovedCube,
    /// [`Arbiters::full_cube`].
    FullCube,
    /// [`Arbiters::plain_cube`].
    PlainCube,
    /// [`Arbiters::space`].
    Space,
    /// [`Arbiters::cyclic`].
    Cyclic,
}

impl ArbiterKind {
    /// All families, those that take any number of sites and units first.
    pub fn all() -> &'static [ArbiterKind] {
        Self::VARIANTS
    }

    /// The name in text.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// What its quorums are, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Uniform => "any k n/(k+h) + 1 sites for h of k units",
            Self::Improved => "any so many sites, as few as can be: uniform made smaller",
            Self::Plain => "any k n/(k+1) + 1 sites, however many units are asked for",
            Self::Cube => "tuples that agree with one on some coordinates in a row, folded",
            Self::ImprovedCube => "the cube with as many coordinates in a row as can be",
            Self::FullCube => "the largest improved cube that needs no folding; the rest rests",
            Self::PlainCube => "the cube for one unit, however many units are asked for",
            Self::Space => "subspaces of a projective space, folded: small and evenly loaded",
            Self::Cyclic => "rotations of blocks found by search: smallest, for few sites",
        }
    }

    /// The family of this kind for `n` sites and `k` units.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, too many of either for the kind, or no blocks are known.
    pub fn build(self, n: usize, k: usize) -> Result<Arbiters, QuorumError> {
        match self {
            Self::Uniform => Arbiters::uniform(n, k),
            Self::Improved => Arbiters::improved(n, k),
            Self::Plain => Arbiters::plain(n, k),
            Self::Cube => Arbiters::cube(n, k),
            Self::ImprovedCube => Arbiters::improved_cube(n, k),
            Self::FullCube => Arbiters::full_cube(n, k),
            Self::PlainCube => Arbiters::plain_cube(n, k),
            Self::Space => Arbiters::space(n, k),
            Self::Cyclic => Arbiters::cyclic(n, k),
        }
    }
}

fn unknown(name: &str) -> QuorumError {
    PoolError::UnknownKind(name.to_owned()).into()
}

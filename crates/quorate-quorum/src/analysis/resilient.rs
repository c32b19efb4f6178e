//! Sets that still contain a quorum after some losses.

use super::sets::minimal_form;
use crate::{QuorumError, QuorumSystem, SiteId, SiteSet};

const SITES_MAX: usize = 16;

/// The minimal sets that contain a quorum whichever `losses` of their sites fail.
///
/// A caller that asks all of such a set need not ask again when sites are lost. Empty if not even
/// all sites are enough.
///
/// # Errors
///
/// [`QuorumError::TooLarge`]: there are more than 16 sites.
///
/// ```
/// use quorate_quorum::{Kind, analysis::resilient_sets, build};
/// let sets = resilient_sets(&*build(Kind::Majority, 5)?, 1)?;
/// assert_eq!((sets.len(), sets[0].to_string().as_str()), (5, "{1 2 3 4}"));
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
pub fn resilient_sets(
    system: &dyn QuorumSystem,
    losses: usize,
) -> Result<Vec<SiteSet>, QuorumError> {
    let n = system.n();
    if n > SITES_MAX {
        let limit = format!("up to {SITES_MAX} sites");
        return Err(QuorumError::TooLarge { what: "sets that stand losses", limit });
    }
    let set = |mask: usize| -> SiteSet {
        SiteId::all(n).filter(|site| mask >> site.index() & 1 == 1).collect()
    };
    // A set stands one more loss if without any one site it stands the losses so far.
    let mut stands: Vec<bool> = (0..1 << n).map(|mask| system.is_quorum(&set(mask))).collect();
    for _ in 0..losses.min(n + 1) {
        let without_any = |mask: usize| {
            mask != 0 && (0..n).filter(|at| mask >> at & 1 == 1).all(|at| stands[mask ^ 1 << at])
        };
        stands = (0..1 << n).map(without_any).collect();
    }
    let smaller = |mask: usize| (0..n).any(|at| mask >> at & 1 == 1 && stands[mask ^ 1 << at]);
    let minimal = (0..1 << n).filter(|mask| stands[*mask] && !smaller(*mask));
    Ok(minimal_form(minimal.map(set)))
}

//! Whether a site is the one that it was.

use std::fmt;

use quorate_session::session::{Incarnation, Rule, Terms};
use serde::{Deserialize, Serialize};

use super::{Known, Presentation};
use crate::disk::WRITES_MAX;

/// Why a site refuses another one. The order of the variants is part of the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IdentityRefusal {
    /// Its folder has another birth than the one that is known.
    OtherBirth,
    /// A later life of it is known, or another life of the same incarnation.
    OtherLife {
        /// The incarnation that is known.
        known: Incarnation,
        /// The one that was presented.
        presented: Incarnation,
    },
    /// The life that is known is not one of its earlier ones.
    OtherLineage(Incarnation),
    /// A later write of it is known.
    OlderWrites {
        /// The number of the write that is known.
        known: u64,
        /// The one that was presented.
        presented: u64,
    },
    /// Its folder has moved, and a lease of its former life still runs.
    StillThere,
    /// It cannot be read, or a number in it cannot be true.
    Malformed,
}

impl fmt::Display for IdentityRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdentityRefusal::OtherBirth => {
                f.write_str("its folder is another one than before: it was wiped or replaced")
            }
            IdentityRefusal::OtherLife { known, presented } => write!(
                f,
                "another process runs, or ran, as this site: start {} is known, and this is \
                 another start {}; its folder is a copy, or older than before",
                known.0, presented.0
            ),
            IdentityRefusal::OtherLineage(known) => write!(
                f,
                "its folder does not know start {} of this site: it is a copy, or older than \
                 before",
                known.0
            ),
            IdentityRefusal::OlderWrites { known, presented } => write!(
                f,
                "its folder is older than before, as if restored from a backup: its last write \
                 is {presented}, and write {known} is known"
            ),
            IdentityRefusal::StillThere => f.write_str(
                "its folder was moved or copied, and the process that ran with it before still \
                 has a lease",
            ),
            IdentityRefusal::Malformed => {
                f.write_str("it does not say who it is, or says what cannot be true")
            }
        }
    }
}

/// Checks how a site presents itself against what is known of it, if anything is. `has_session`
/// says whether a lease of an earlier life of it still runs here.
pub(super) fn check(
    terms: &Terms,
    known: Option<&Known>,
    presented: &Presentation,
    has_session: bool,
) -> Result<(), IdentityRefusal> {
    let Some(life) = presented.lineage.latest().filter(|_| presented.lineage.is_valid()) else {
        return Err(IdentityRefusal::Malformed);
    };
    let told = presented.known.iter().all(|(_, known)| known.is_plausible());
    if presented.writes > WRITES_MAX || !told {
        return Err(IdentityRefusal::Malformed);
    }
    let Some(known) = known else { return Ok(()) };
    if known.birth != presented.birth {
        // Without the rule, it is a site of which nothing is known.
        let checked = terms.keep(Rule::BirthIsChecked);
        return if checked { Err(IdentityRefusal::OtherBirth) } else { Ok(()) };
    }
    if known.life == life {
        return check_writes(terms, known, presented);
    }
    let (before, now) = (known.life.incarnation, life.incarnation);
    if before >= now {
        let unique = terms.keep(Rule::LifeIsUnique);
        let refusal = IdentityRefusal::OtherLife { known: before, presented: now };
        return if unique { Err(refusal) } else { Ok(()) };
    }
    let is_recent = presented.lineage.begun.is_none_or(|begun| before >= begun.incarnation);
    if is_recent && !presented.lineage.contains(known.life) && terms.keep(Rule::LineageIsChecked) {
        return Err(IdentityRefusal::OtherLineage(before));
    }
    if presented.moved && has_session {
        return Err(IdentityRefusal::StillThere);
    }
    check_writes(terms, known, presented)
}

fn check_writes(
    terms: &Terms,
    known: &Known,
    presented: &Presentation,
) -> Result<(), IdentityRefusal> {
    if known.writes > presented.writes && terms.keep(Rule::WritesAreChecked) {
        let (known, presented) = (known.writes, presented.writes);
        return Err(IdentityRefusal::OlderWrites { known, presented });
    }
    Ok(())
}

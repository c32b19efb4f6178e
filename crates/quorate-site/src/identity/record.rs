//! What a site keeps on disk about who it is, and about who the others are.

use std::collections::BTreeMap;
use std::fmt;

use quorate_quorum::SiteId;
use quorate_session::session::Incarnation;
use serde::{Deserialize, Serialize};

use crate::disk::{INCARNATION_MAX, WRITES_MAX};

/// A folder's own number, drawn when it was empty.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Birth(pub u128);

/// One start of a site: its incarnation, and a random number that no other start has.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Life {
    /// The incarnation.
    pub incarnation: Incarnation,
    /// The random number.
    pub nonce: u64,
}

/// The lives of a site that another site may know as its latest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lineage {
    /// The last life that began.
    pub begun: Option<Life>,
    /// All starts after it, in order.
    pub since: Vec<Life>,
}

impl Lineage {
    /// The most starts in a row without a life that begins.
    pub const STARTS_MAX: usize = 1024;

    /// The latest life.
    pub fn latest(&self) -> Option<Life> {
        self.since.last().copied().or(self.begun)
    }

    /// Whether `life` is one of these.
    pub fn contains(&self, life: Life) -> bool {
        self.begun == Some(life) || self.since.contains(&life)
    }

    /// Whether it has a life, not too many, and their incarnations grow and are plausible.
    pub(super) fn is_valid(&self) -> bool {
        let lives: Vec<Life> = self.begun.iter().chain(&self.since).copied().collect();
        let grows = lives.windows(2).all(|pair| pair[0].incarnation < pair[1].incarnation);
        let plausible = lives.iter().all(|life| life.incarnation.0 <= INCARNATION_MAX);
        !lives.is_empty() && self.since.len() <= Self::STARTS_MAX && grows && plausible
    }
}

/// The site and cluster that a folder belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// The name of the cluster.
    pub cluster: String,
    /// The site.
    pub site: SiteId,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "site {} of cluster {}", self.site, self.cluster)
    }
}

/// What a site knows of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Known {
    /// The birth of its folder.
    pub birth: Birth,
    /// Its latest life.
    pub life: Life,
    /// Whether that life has begun.
    pub begun: bool,
    /// The number of its latest write.
    pub writes: u64,
}

/// What a site keeps on disk about identities; the default on an empty disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IdentityRecord {
    /// Whose folder it is; `None` if it is empty.
    pub owner: Option<Owner>,
    /// The birth of the folder.
    pub birth: Birth,
    /// The lives of the site.
    pub lineage: Lineage,
    /// Where the folder lay when the last life began.
    pub place: u64,
    /// The number of the latest write.
    pub writes: u64,
    /// What is known of the other sites.
    pub known: BTreeMap<SiteId, Known>,
}

/// What the driver contributes to a start: randomness, and where the folder lies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Start {
    /// The name of the cluster.
    pub cluster: String,
    /// A random number, which becomes the birth of an empty folder.
    pub birth: u128,
    /// A random number for this life.
    pub nonce: u64,
    /// Where the folder lay when its last life began, as far as can be seen: the value of
    /// [`Start::new_place`] then, or anything else if it was moved, copied or restored.
    pub place: u64,
    /// Where the folder lies now.
    pub new_place: u64,
}

/// Why a site cannot start with a folder. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The folder belongs to another site or another cluster.
    OtherOwner {
        /// Whose folder it is.
        folder: Owner,
        /// Who wanted to start with it.
        site: Owner,
    },
    /// The site has started too often without joining its cluster.
    TooManyStarts,
    /// A number in the folder is higher than any site can have written.
    Implausible {
        /// What it counts.
        field: &'static str,
        /// The number.
        number: u64,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::OtherOwner { folder, site } => {
                write!(f, "it belongs to {folder}, and this is {site}: use the folder of this site")
            }
            StartError::TooManyStarts => write!(
                f,
                "the site has started {} times without joining its cluster; see its log for the \
                 sites that refuse it or do not answer",
                Lineage::STARTS_MAX
            ),
            StartError::Implausible { field, number } => write!(
                f,
                "its {field} is {number}, which no site can have written: the folder is damaged; \
                 use a backup of it, or run the cluster without this site"
            ),
        }
    }
}

impl std::error::Error for StartError {}

/// How many sites must have registered a life before it begins, this one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Needed {
    /// All: no life of this folder ever began, or the folder lies in another place than before.
    All,
    /// A majority.
    Majority,
}

impl Known {
    /// Whether a site can have reached these numbers.
    pub(super) fn is_plausible(&self) -> bool {
        self.life.incarnation.0 <= INCARNATION_MAX && self.writes <= WRITES_MAX
    }
}

impl IdentityRecord {
    /// Adds a start to the record.
    ///
    /// # Errors
    ///
    /// The folder is another site's, or has too many starts.
    pub(super) fn add_start(
        &mut self,
        site: SiteId,
        incarnation: Incarnation,
        start: &Start,
    ) -> Result<Needed, StartError> {
        let me = Owner { cluster: start.cluster.clone(), site };
        match &self.owner {
            Some(folder) if *folder != me => {
                return Err(StartError::OtherOwner { folder: folder.clone(), site: me });
            }
            Some(_) => {}
            None => (self.owner, self.birth) = (Some(me), Birth(start.birth)),
        }
        if self.lineage.since.len() >= Lineage::STARTS_MAX {
            return Err(StartError::TooManyStarts);
        }
        self.lineage.since.push(Life { incarnation, nonce: start.nonce });
        let stayed = self.lineage.begun.is_some() && self.place == start.place;
        Ok(if stayed { Needed::Majority } else { Needed::All })
    }

    /// The present life begins, in this place.
    pub(super) fn begin(&mut self, place: u64) {
        let latest = self.lineage.latest();
        self.lineage = Lineage { begun: latest, since: Vec::new() };
        self.place = place;
    }
}

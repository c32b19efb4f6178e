//! Leaders: one at a time, each with a value that others can read.

use std::ops::Deref;
use std::time::Duration;

use quorate_session::{Card, Denial, Fence, Name, SiteId, Want};

use crate::guard::claim;
use crate::{Cluster, Error, Guard, Holder};

/// An election: candidates wait for their turn, and one of them leads at a time.
///
/// It is a [mutex](Cluster::mutex) whose holder is the leader, and whose purpose is the leader's
/// value: where it can be reached, for example.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// let sites = quorate::Cluster::in_memory(3)?;
/// let leadership = sites[0].election("scheduler")?.campaign("10.0.0.7:9000").await?;
///
/// let election = sites[1].election("scheduler")?;
/// let leader = election.leader().await?.expect("somebody leads");
/// assert_eq!((leader.value(), leader.fence), ("10.0.0.7:9000", leadership.fence()));
///
/// leadership.resign().await?;
/// assert!(election.leader().await?.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Election {
    cluster: Cluster,
    name: Name,
}

/// For how long the sites have time to say who leads.
const PATIENCE: Duration = Duration::from_secs(2);

impl Election {
    /// The most bytes a leader's value has.
    pub const VALUE_MAX: usize = 1024;

    pub(crate) fn new(cluster: Cluster, name: Name) -> Self {
        Self { cluster, name }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Waits until we lead, and lets others read `value` then. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// The value is too long, the cluster said no, or the way to it is gone for good.
    pub async fn campaign(&self, value: &str) -> Result<Leadership, Error> {
        self.campaign_in(value, None).await
    }

    /// Waits so long at most.
    ///
    /// # Errors
    ///
    /// As [`Election::campaign`], and when the time is over.
    pub async fn campaign_within(
        &self,
        value: &str,
        patience: Duration,
    ) -> Result<Leadership, Error> {
        self.campaign_in(value, Some(patience)).await
    }

    async fn campaign_in(
        &self,
        value: &str,
        patience: Option<Duration>,
    ) -> Result<Leadership, Error> {
        if value.len() > Self::VALUE_MAX {
            return Err(Error::Value(value.len()));
        }
        let card = Card { purpose: value.into(), ..self.cluster.card.clone() };
        let cluster = self.cluster.clone().with_card(card);
        let (guard, _) = claim(&cluster, (self.name.clone(), Want::Mutex), patience, false).await?;
        Ok(Leadership { guard })
    }

    /// Who leads now; `None` if nobody does.
    ///
    /// # Errors
    ///
    /// Nobody is known to lead, and so few sites answer that somebody may.
    pub async fn leader(&self) -> Result<Option<Leader>, Error> {
        let (holders, answering) = self.cluster.ask_for_holders(&self.name, PATIENCE).await;
        let sites = self.cluster.sites().count();
        let needed = sites / 2 + 1;
        let leaders = holders.into_iter();
        let leaders = leaders.map(|Holder { site, fence, card, .. }| Leader { site, fence, card });
        // There may be two for a moment: the sites do not answer at the same time.
        match leaders.max_by_key(|leader| leader.fence) {
            None if answering < needed => {
                Err(Error::Denied(Denial::NoQuorum { answering, sites, needed }))
            }
            leader => Ok(leader),
        }
    }

    /// Follows who leads, from now on.
    pub fn observe(&self) -> Observer {
        Observer { election: self.clone(), told: false, last: None }
    }
}

/// Somebody who leads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leader {
    /// Its site.
    pub site: SiteId,
    /// Above that of every leader before.
    pub fence: Fence,
    /// Who it is; its purpose is the value.
    pub card: Card,
}

impl Leader {
    /// What it wants others to know.
    pub fn value(&self) -> &str {
        &self.card.purpose
    }
}

/// The lead, for as long as it is held. Dropping it resigns; the rest is as with any [`Guard`].
#[derive(Debug)]
#[must_use = "whoever drops it resigns"]
pub struct Leadership {
    guard: Guard,
}

impl Leadership {
    /// Resigns, as [`Guard::release`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if we did not lead to the end.
    pub async fn resign(self) -> Result<(), Error> {
        self.guard.release().await
    }
}

impl Deref for Leadership {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.guard
    }
}

impl AsRef<Guard> for Leadership {
    fn as_ref(&self) -> &Guard {
        &self.guard
    }
}

impl From<Leadership> for Guard {
    fn from(leadership: Leadership) -> Self {
        leadership.guard
    }
}

/// Follows who leads. The sites are asked six times in a lease.
#[derive(Debug)]
pub struct Observer {
    election: Election,
    /// Whether something was told, and what it was.
    told: bool,
    last: Option<Leader>,
}

impl Observer {
    /// The present leader at first, then waits until another one leads, or nobody does. Nothing is
    /// told while too few sites answer.
    pub async fn next(&mut self) -> Option<Leader> {
        let period = self.election.cluster.lease() / 6;
        loop {
            if let Ok(leader) = self.election.leader().await
                && (!self.told || self.last != leader)
            {
                (self.told, self.last) = (true, leader.clone());
                return leader;
            }
            tokio::time::sleep(period).await;
        }
    }
}

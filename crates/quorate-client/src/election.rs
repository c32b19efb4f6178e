//! Leader elections: one leader at a time, with a value that others can read.

use std::ops::Deref;
use std::time::Duration;

use quorate_session::{Claimant, Fence, LockSpec, Name, PurposeText, SiteId, limits};

use crate::guard::claim;
use crate::{Cluster, Error, Guard, Holder};

/// An election: candidates wait, and one of them leads at a time.
///
/// It is a [mutex](Cluster::mutex) whose holder is the leader. The leader publishes a value, for
/// example its address.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// let sites = quorate::Cluster::in_memory(3)?;
/// let leadership = sites[0].election("scheduler")?.campaign("10.0.0.7:9000").await?;
///
/// let election = sites[1].election("scheduler")?;
/// let leader = election.leader().await?.expect("there is a leader");
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

/// How long the sites have to answer who leads.
const LEADER_TIMEOUT: Duration = Duration::from_secs(2);

impl Election {
    /// The most bytes in a leader's value.
    pub const VALUE_MAX: usize = limits::PURPOSE_BYTES;

    pub(crate) fn new(cluster: Cluster, name: Name) -> Self {
        Self { cluster, name }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Waits for the leadership, and publishes `value` with it. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// The value is too long, the cluster denies the claim, or the client has stopped.
    pub async fn campaign(&self, value: &str) -> Result<Leadership, Error> {
        self.campaign_in(value, None).await
    }

    /// As [`Election::campaign`], with a timeout: it ends then, whether or not any site answers.
    ///
    /// # Errors
    ///
    /// As [`Election::campaign`], and when the timeout runs out.
    pub async fn campaign_within(
        &self,
        value: &str,
        timeout: Duration,
    ) -> Result<Leadership, Error> {
        self.campaign_in(value, Some(timeout)).await
    }

    async fn campaign_in(
        &self,
        value: &str,
        timeout: Option<Duration>,
    ) -> Result<Leadership, Error> {
        let purpose = PurposeText::new("value", value).map_err(Error::Text)?;
        let claimant = Claimant { purpose, ..self.cluster.claimant.clone() };
        let cluster = self.cluster.clone().with_claimant(claimant);
        let (guard, _) = claim(&cluster, &self.name, LockSpec::Mutex, timeout, false).await?;
        Ok(Leadership { guard })
    }

    /// The present leader; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::NotKnown`]: no site that answered knows a leader, and there may be one.
    pub async fn leader(&self) -> Result<Option<Leader>, Error> {
        let timeout = LEADER_TIMEOUT.min(self.cluster.lease());
        let (holders, doubt) = self.cluster.ask_for_holders(&self.name, timeout).await;
        let leaders = holders.into_iter();
        let leaders =
            leaders.map(|Holder { site, fence, claimant, .. }| Leader { site, fence, claimant });
        // There may be two, because the sites do not answer at the same time.
        match (leaders.max_by_key(|leader| leader.fence), doubt) {
            (None, Some(doubt)) => Err(Error::NotKnown(doubt)),
            (leader, _) => Ok(leader),
        }
    }

    /// Follows the changes of the leader.
    pub fn observe(&self) -> Observer {
        Observer { election: self.clone(), has_returned: false, last: None }
    }
}

/// A leader, as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leader {
    /// Its site.
    pub site: SiteId,
    /// Higher than that of every leader before.
    pub fence: Fence,
    /// Who it is; its purpose is its value.
    pub claimant: Claimant,
}

impl Leader {
    /// The value that it published.
    pub fn value(&self) -> &str {
        &self.claimant.purpose
    }
}

/// The leadership, while it is held. Dropping it resigns. It dereferences to a [`Guard`].
#[derive(Debug)]
#[must_use = "dropping it resigns"]
pub struct Leadership {
    guard: Guard,
}

impl Leadership {
    /// Resigns, as [`Guard::release`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if the leadership was lost before.
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

/// Follows the changes of the leader. It asks the sites six times in a lease.
#[derive(Debug)]
pub struct Observer {
    election: Election,
    /// Whether [`Observer::next`] has returned before.
    has_returned: bool,
    /// What it returned last.
    last: Option<Leader>,
}

impl Observer {
    /// Returns the present leader at first, and then waits for the next change: another leader, or
    /// none. Waits on while too few sites answer.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), quorate::Error> {
    /// let sites = quorate::Cluster::in_memory(3)?;
    /// let mut observer = sites[1].election("scheduler")?.observe();
    /// assert!(observer.next().await.is_none());
    /// let leadership = sites[0].election("scheduler")?.campaign("10.0.0.7:9000").await?;
    /// assert_eq!(observer.next().await.expect("there is a leader").value(), "10.0.0.7:9000");
    /// # drop(leadership);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next(&mut self) -> Option<Leader> {
        let period = self.election.cluster.lease() / 6;
        loop {
            if let Ok(leader) = self.election.leader().await
                && (!self.has_returned || self.last != leader)
            {
                (self.has_returned, self.last) = (true, leader.clone());
                return leader;
            }
            tokio::time::sleep(period).await;
        }
    }
}

//! Guards: locks that are held.

use std::sync::Arc;
use std::time::Duration;

use quorate_net::clock::{self, Alarm};
use quorate_session::client::CallerLoss;
use quorate_session::{ClaimRequest, Denial, Fence, Granted, LockSpec, Name};
use tokio::time::Instant;

use crate::call::{Call, Progress};
use crate::client::Client;
use crate::{Cluster, Error};

/// A call that is given up or released when it is dropped.
#[derive(Debug)]
struct OwnedCall {
    client: Client,
    call: Arc<Call>,
    /// Whether the release was sent already.
    left: bool,
}

impl OwnedCall {
    fn new(client: Client, request: ClaimRequest) -> Self {
        let call = client.claim(request);
        Self { client, call, left: false }
    }
}

impl Drop for OwnedCall {
    /// Writes the release at once: at the end of a program no task may run after this.
    fn drop(&mut self) {
        if !self.left {
            self.client.leave_now(&self.call);
        }
    }
}

/// Claims a lock, and waits until the timeout, whether or not any site answers. A claim that does
/// not wait for other callers takes a lease at most. Dropping the future gives up.
pub(crate) async fn claim(
    cluster: &Cluster,
    name: &Name,
    spec: LockSpec,
    timeout: Option<Duration>,
    no_wait: bool,
) -> Result<(Guard, Granted), Error> {
    spec.check().map_err(Error::Denied)?; // a site would close the connection
    let timeout = if no_wait { Some(cluster.lease) } else { timeout };
    let end = timeout.map(|timeout| Instant::now() + timeout);
    loop {
        let left = || end.map(|end| end.saturating_duration_since(Instant::now()));
        let timeout = left();
        let (name, spec, claimant) = (name.clone(), spec.clone(), cluster.claimant.clone());
        let request =
            ClaimRequest { name: name.clone(), spec, claimant, timeout, no_wait, since: None };
        let owned = OwnedCall::new(cluster.client.clone(), request);
        let answer = |progress: &Progress| match progress {
            Progress::Waiting => None,
            progress => Some(progress.clone()),
        };
        return match owned.call.wait_for(answer).await {
            Progress::Granted(fence, granted) => Ok((Guard { owned, name, fence }, granted)),
            Progress::Denied(Denial::Busy) => {
                Err(cluster.busy(&name, left().unwrap_or(cluster.lease)).await)
            }
            Progress::Denied(denial) => Err(cluster.denied(denial)),
            // The grant was in transit for too long to be of use.
            Progress::Lost(_) if end.is_none_or(|end| Instant::now() < end) => continue,
            Progress::Lost(_) => Err(Error::LostAtOnce),
            Progress::Waiting | Progress::Left | Progress::Stopped => {
                Err(Error::Stopped("the connection to it is closed for good".into()))
            }
        };
    }
}

/// A lock that is held. Dropping it releases the lock, and needs no runtime for that.
///
/// It owns everything it needs: it can be kept in a struct, sent to another task, and outlive the
/// [`Cluster`] that it came from.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// # let cluster = quorate::Cluster::in_memory(1)?.remove(0);
/// struct Deployment {
///     lock: quorate::Guard,
/// }
/// let lock = cluster.mutex("deploy")?.lock().await?;
/// drop(cluster); // the guard keeps the connection
/// let deployment = Deployment { lock };
/// assert!(deployment.lock.is_valid());
/// assert_eq!(deployment.lock.name().as_str(), "deploy");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub struct Guard {
    owned: OwnedCall,
    name: Name,
    fence: Fence,
}

impl Guard {
    /// The name of the lock.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The fencing token: higher than that of every conflicting grant before. Send it with every
    /// write, so that the storage can refuse a holder that has lost the lock.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), quorate::Error> {
    /// # let cluster = quorate::Cluster::in_memory(1)?.remove(0);
    /// let first = cluster.mutex("deploy")?.lock().await?;
    /// let fence = first.fence();
    /// first.release().await?;
    /// assert!(cluster.mutex("deploy")?.lock().await?.fence() > fence);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// How long the lock is certainly held, even if the site becomes unreachable now. The site
    /// extends it; zero if the lock is lost.
    pub fn valid_for(&self) -> Duration {
        let until = self.owned.client.valid_until(&self.owned.call);
        until.map_or(Duration::ZERO, |until| until.since(clock::now()))
    }

    /// Whether the lock is certainly held at this moment.
    pub fn is_valid(&self) -> bool {
        !self.valid_for().is_zero()
    }

    /// Sets how long before the end of its validity an unreachable site counts as the loss of the
    /// lock: the time that the holder has to stop. A sixtieth of a lease unless set, and at most a
    /// quarter. If less than that is left now, the lock is lost at once.
    pub fn set_margin(&self, margin: Duration) {
        self.owned.client.set_margin(&self.owned.call, margin);
    }

    /// Waits until the lock is lost: it was broken, or its site did not extend it in time.
    /// Completes a [margin](Self::set_margin) before another caller can be granted the lock.
    ///
    /// Any number of tasks may wait, and all get the same reason. A lost lock stays lost, even
    /// while there is [time left](Self::valid_for) to stop.
    pub async fn lost(&self) -> CallerLoss {
        let lost = |progress: &Progress| match progress {
            Progress::Lost(loss) => Some(loss.clone()),
            Progress::Stopped => Some(CallerLoss::Expired),
            _ => None,
        };
        self.owned.call.wait_for(lost).await
    }

    /// Waits until [`Guard::valid_for`] is at most `left`. The time counts while the machine
    /// sleeps.
    pub async fn nears_end(&self, left: Duration) {
        let Ok(mut alarm) = Alarm::new() else { return };
        loop {
            let wait = self.valid_for().saturating_sub(left);
            if wait.is_zero() || alarm.set(clock::now() + wait).is_err() {
                return;
            }
            if alarm.ring().await.is_err() {
                return;
            }
        }
    }

    /// Releases the lock, and waits until its site has handled the release. If the site does not
    /// answer, it waits a lease at most, and the lock is free when the site's leases are over.
    /// Dropping the guard releases the lock too, without waiting.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if the lock was lost before: another caller may have held it meanwhile.
    pub async fn release(mut self) -> Result<(), Error> {
        if !self.is_valid() {
            return Err(Error::Lost(self.owned.call.loss().unwrap_or(CallerLoss::Expired)));
        }
        self.owned.client.leave(&self.owned.call);
        self.owned.left = true;
        let left = |progress: &Progress| {
            matches!(progress, Progress::Left | Progress::Stopped).then_some(())
        };
        self.owned.call.wait_for(left).await;
        Ok(())
    }
}

impl AsRef<Guard> for Guard {
    fn as_ref(&self) -> &Guard {
        self
    }
}

//! A grant, as its holder has it.

use std::sync::Arc;
use std::time::Duration;

use quorate_net::clock::{self, Alarm};
use quorate_session::client::CallerLoss;
use quorate_session::{ClaimRequest, Denial, Fence, Got, Name, Want};
use tokio::time::Instant;

use crate::call::{Call, Progress};
use crate::client::Client;
use crate::{Cluster, Error};

/// A call that is given up or released when it is dropped.
#[derive(Debug)]
struct Held {
    client: Client,
    call: Arc<Call>,
    /// Whether the site was told already.
    left: bool,
}

impl Held {
    fn new(client: Client, request: ClaimRequest) -> Self {
        let call = client.claim(request);
        Self { client, call, left: false }
    }
}

impl Drop for Held {
    /// It is written at once: nothing may run after this, as at the end of a program.
    fn drop(&mut self) {
        if !self.left {
            self.client.leave_now(&self.call);
        }
    }
}

/// How long a claim takes at most that waits for nobody.
pub(crate) const HASTE: Duration = Duration::from_secs(2);

/// Claims something, and waits so long at most. Dropping the future gives up.
pub(crate) async fn claim(
    cluster: &Cluster,
    (name, want): (Name, Want),
    patience: Option<Duration>,
    hasty: bool,
) -> Result<(Guard, Got), Error> {
    let end = patience.map(|patience| Instant::now() + patience);
    loop {
        let patience = end.map(|end| end.saturating_duration_since(Instant::now()));
        let (name, want, card) = (name.clone(), want.clone(), cluster.card.clone());
        let request = ClaimRequest { name: name.clone(), want, card, patience, hasty };
        let held = Held::new(cluster.client.clone(), request);
        let answer = |progress: &Progress| match progress {
            Progress::Waiting => None,
            progress => Some(progress.clone()),
        };
        return match held.call.until(answer).await {
            Progress::Inside(fence, got) => Ok((Guard { held, name, fence }, got)),
            Progress::Denied(Denial::Busy) => Err(cluster.busy(&name).await),
            Progress::Denied(denial) => Err(Error::Denied(denial)),
            // The grant was under way for too long to be of use.
            Progress::Lost(_) if end.is_none_or(|end| Instant::now() < end) => continue,
            Progress::Lost(_) => Err(Error::LostAtOnce),
            Progress::Waiting | Progress::Left | Progress::Stopped => {
                Err(Error::Stopped("it does not answer any more".into()))
            }
        };
    }
}

/// A lock that is held. Dropping it releases the lock, and needs no runtime for that.
///
/// It owns all it needs, its cluster too: it can be kept in a struct, sent to another task, and
/// outlive the [`Cluster`] that it was had of.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// # let cluster = quorate::Cluster::in_memory(1)?.remove(0);
/// struct Deployment {
///     lock: quorate::Guard,
/// }
/// let lock = cluster.mutex("deploy")?.lock().await?;
/// drop(cluster); // the guard keeps what it needs
/// let deployment = Deployment { lock };
/// assert!(deployment.lock.is_valid());
/// assert_eq!(deployment.lock.name().as_str(), "deploy");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub struct Guard {
    held: Held,
    name: Name,
    fence: Fence,
}

impl Guard {
    /// The name of the lock.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Above the fence of every holder before. Give it along with every write.
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// For how long the lock is certainly ours, if nothing is heard of its site any more. It moves
    /// on by itself; none is left if the lock is lost.
    pub fn valid_for(&self) -> Duration {
        let until = self.held.client.valid_until(&self.held.call);
        until.map_or(Duration::ZERO, |until| until.since(clock::now()))
    }

    /// Whether it is certainly ours at this moment.
    pub fn is_valid(&self) -> bool {
        !self.valid_for().is_zero()
    }

    /// Signals the loss by so much before the lock may be another's, if nothing is heard of its
    /// site; a sixtieth of a lease unless this says more. A quarter of a lease is the most. If less
    /// than that is left now, the lock is lost at once.
    pub fn set_margin(&self, margin: Duration) {
        self.held.client.set_margin(&self.held.call, margin);
    }

    /// Waits until the lock is lost: it was broken, or its site was not heard of in time. It fires
    /// by the [margin](Self::set_margin) before the lock may be another's.
    ///
    /// Any number of tasks may wait, and all hear the same reason. Once a lock is lost it stays so,
    /// even if [some time](Self::valid_for) is left to stop in.
    pub async fn lost(&self) -> CallerLoss {
        let lost = |progress: &Progress| match progress {
            Progress::Lost(loss) => Some(loss.clone()),
            Progress::Stopped => Some(CallerLoss::Unheard),
            _ => None,
        };
        self.held.call.until(lost).await
    }

    /// Waits until the lock is ours for no longer than `left`, also if the machine sleeps
    /// meanwhile.
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

    /// Releases the lock, and waits until its site has taken that in, or has ended the grant by
    /// itself. Dropping the guard releases the lock too, without waiting.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if the lock was not ours to the end: another may have held it meanwhile.
    pub async fn release(mut self) -> Result<(), Error> {
        if !self.is_valid() {
            return Err(Error::Lost(self.held.call.loss().unwrap_or(CallerLoss::Unheard)));
        }
        self.held.client.leave(&self.held.call);
        self.held.left = true;
        let left = |progress: &Progress| {
            matches!(progress, Progress::Left | Progress::Stopped).then_some(())
        };
        self.held.call.until(left).await;
        Ok(())
    }
}

impl AsRef<Guard> for Guard {
    fn as_ref(&self) -> &Guard {
        self
    }
}

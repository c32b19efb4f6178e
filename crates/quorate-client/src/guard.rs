//! A grant, as its holder has it.

use std::sync::{Mutex as Lock, MutexGuard};
use std::time::Duration;

use quorate_net::clock::{self, Alarm};
use quorate_session::client::{CallerLoss, Told, Wish};
use quorate_session::{CallId, Fence, Got, Loss, Name, Tick, Want};
use tokio::sync::Mutex as AsyncLock;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use crate::backend::Backend;
use crate::{Cluster, Error};

/// A claim that is given up or released when it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    backend: Backend,
    call: CallId,
    told: UnboundedReceiver<Told>,
    over: bool,
}

impl Claim {
    pub(crate) fn new(backend: Backend, wish: Wish) -> Self {
        let (call, told) = backend.claim(wish);
        Self { backend, call, told, over: false }
    }

    /// What it is told next; `None` if there is no way to its site any more.
    pub(crate) async fn told(&mut self) -> Option<Told> {
        let told = self.told.recv().await;
        self.over |= matches!(told, None | Some(Told::Lost(_) | Told::Denied(_)));
        told
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.over {
            self.backend.leave(self.call);
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
        let wish = Wish { name, want, card, patience, hasty };
        let mut claim = Claim::new(cluster.backend.clone(), wish);
        return match claim.told().await {
            Some(Told::Granted(fence, got, until)) => {
                Ok((Guard::new(claim, (fence, until), cluster.lease()), got))
            }
            Some(Told::Denied(denial)) => Err(Error::Denied(denial)),
            // The grant was under way for too long to be of use.
            Some(_) if end.is_none_or(|end| Instant::now() < end) => continue,
            Some(_) => Err(Error::LostAtOnce),
            None => Err(Error::Stopped("it does not answer any more".into())),
        };
    }
}

/// A lock that is held. Dropping it releases the lock.
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub struct Guard {
    claim: AsyncLock<Claim>,
    fence: Fence,
    standing: Lock<Standing>,
    /// By how much before its end the loss is signalled.
    margin: Duration,
}

/// What is known of a grant.
#[derive(Debug)]
struct Standing {
    until: Tick,
    /// Why it is over, if somebody said so.
    loss: Option<CallerLoss>,
}

impl Guard {
    pub(crate) fn new(claim: Claim, (fence, until): (Fence, Tick), lease: Duration) -> Self {
        let standing = Lock::new(Standing { until, loss: None });
        Self { claim: AsyncLock::new(claim), fence, standing, margin: lease / 60 }
    }

    /// Above the fence of every holder before. Give it along with every write.
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// For how long the lock is certainly ours, if nothing is heard of its site any more. It moves
    /// on by itself; none is left if the lock is lost.
    pub fn valid_for(&self) -> Duration {
        self.take_news();
        Duration::from_nanos(self.standing().until.0.saturating_sub(clock::now().0))
    }

    /// Whether it is certainly ours at this moment.
    pub fn is_valid(&self) -> bool {
        !self.valid_for().is_zero()
    }

    /// Waits until the lock is lost, or will be in a sixtieth of a lease because nothing is heard
    /// of its site. It may be called again and again, and dropped at any time.
    pub async fn lost(&self) -> CallerLoss {
        let mut claim = self.claim.lock().await;
        let Ok(mut alarm) = Alarm::new() else { return CallerLoss::Unheard };
        loop {
            let until = self.standing().until.0;
            let margin = u64::try_from(self.margin.as_nanos()).unwrap_or(u64::MAX);
            let signal = Tick(until.saturating_sub(margin));
            if claim.over || alarm.set(signal).is_err() || signal <= clock::now() {
                return CallerLoss::Unheard;
            }
            tokio::select! {
                told = claim.told() => if let Some(loss) = self.note(told) { return loss },
                _ = alarm.ring() => {}
            }
        }
    }

    /// Releases the lock, and waits until its site has taken that in, or would have ended the grant
    /// by itself: the process may end then. Dropping the guard releases the lock too, without
    /// waiting.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if the lock was not ours to the end: another may have held it meanwhile.
    pub async fn release(self) -> Result<(), Error> {
        let left = self.valid_for();
        if left.is_zero() {
            let loss = self.standing().loss.take();
            return Err(Error::Lost(loss.unwrap_or(CallerLoss::Unheard)));
        }
        let claim = self.claim.into_inner();
        let backend = claim.backend.clone();
        drop(claim);
        backend.heard(left).await;
        Ok(())
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().expect("nobody panics with it")
    }

    /// Takes in what has been told meanwhile, without waiting.
    fn take_news(&self) {
        if let Ok(mut claim) = self.claim.try_lock() {
            while let Ok(told) = claim.told.try_recv() {
                claim.over |= matches!(told, Told::Lost(_) | Told::Denied(_));
                self.note(Some(told));
            }
        }
    }

    /// Notes what was told; the loss, if it was one.
    fn note(&self, told: Option<Told>) -> Option<CallerLoss> {
        let mut standing = self.standing();
        match told {
            Some(Told::Extended(later)) => {
                standing.until = later.max(standing.until);
                None
            }
            Some(Told::Broken(_, reason)) => Some(CallerLoss::Told(Loss::Broken(reason))),
            Some(Told::Lost(loss)) => {
                *standing = Standing { until: Tick::ZERO, loss: Some(loss.clone()) };
                Some(loss)
            }
            Some(Told::Granted(..) | Told::Denied(_)) => None,
            None => Some(CallerLoss::Unheard),
        }
    }
}

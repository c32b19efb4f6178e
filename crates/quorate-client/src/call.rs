//! One call: what its caller waits to hear, and what has been heard.

use std::sync::{Mutex, MutexGuard, PoisonError};

use quorate_session::client::CallerLoss;
use quorate_session::{Denial, Fence, Got};
use tokio::sync::Notify;

/// One call, shared by its caller and by what drives the client.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) number: u64,
    progress: Mutex<Progress>,
    changed: Notify,
}

/// How far a call has come.
#[derive(Clone, Debug)]
pub(crate) enum Progress {
    Waiting,
    Inside(Fence, Got),
    Denied(Denial),
    /// The grant is lost, or was over before it arrived.
    Lost(CallerLoss),
    /// Its caller has left, and the site knows it.
    Left,
    /// There is no way to the site any more.
    Stopped,
}

impl Call {
    pub(crate) fn new(number: u64) -> Self {
        Self { number, progress: Mutex::new(Progress::Waiting), changed: Notify::new() }
    }

    /// Why its grant is lost; `None` if it is not.
    pub(crate) fn loss(&self) -> Option<CallerLoss> {
        match &*self.lock() {
            Progress::Lost(loss) => Some(loss.clone()),
            Progress::Stopped => Some(CallerLoss::Unheard),
            _ => None,
        }
    }

    /// It has come farther: all who wait for that hear of it.
    pub(crate) fn set(&self, progress: Progress) {
        *self.lock() = progress;
        self.changed.notify_waiters();
    }

    /// Waits until `look` finds what it looks for. Any number of tasks may.
    pub(crate) async fn until<T>(&self, look: impl Fn(&Progress) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = look(&self.lock()) {
                return found;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

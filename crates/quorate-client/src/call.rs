//! One call, and its progress.

use std::sync::{Mutex, MutexGuard, PoisonError};

use quorate_session::client::CallerLoss;
use quorate_session::{Denial, Fence, Granted};
use tokio::sync::Notify;

/// One call, shared by its caller and the client's tasks.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) number: u64,
    progress: Mutex<Progress>,
    changed: Notify,
}

/// The progress of a call.
#[derive(Clone, Debug)]
pub(crate) enum Progress {
    Waiting,
    Granted(Fence, Granted),
    Denied(Denial),
    /// The grant is lost, or expired before it arrived.
    Lost(CallerLoss),
    /// Its caller released it, and the site has handled that.
    Left,
    /// The client has stopped, or its site.
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
            Progress::Stopped => Some(CallerLoss::Expired),
            _ => None,
        }
    }

    /// Sets the progress, and wakes all waiters.
    pub(crate) fn set(&self, progress: Progress) {
        *self.lock() = progress;
        self.changed.notify_waiters();
    }

    /// Waits until `find` returns something. Any number of tasks may wait.
    pub(crate) async fn wait_for<T>(&self, find: impl Fn(&Progress) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = find(&self.lock()) {
                return found;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

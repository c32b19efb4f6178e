//! This process as a client of its site: the machine, the link to the site, and the calls.
//!
//! Callers step the machine in their own tasks, and so does the task that reads from the site.
//! Another task keeps the time, and writes the frames that the site did not take at once.

use std::convert::Infallible;
use std::fmt;
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use quorate_net::clock::Alarm;
use quorate_session::client::{ClientInput, ClientMachine, ClientMessage, ClientRequest};
use quorate_session::session::Packet;
use quorate_session::{BreakRequest, ClaimRequest, Question, Tick};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::call::{Call, Progress};
use crate::state::{Link, Reply, State, Wanted};

/// How long a client that ends waits for its site to read its last frames.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A handle of the client. Dropping the last clone ends the client.
#[derive(Clone)]
pub(crate) struct Client(Arc<Owner>);

/// Ends the client when it is dropped.
struct Owner {
    shared: Arc<Shared>,
    /// The site in this process, if there is one: it runs as long as the client.
    #[cfg(feature = "embedded")]
    server: Option<Arc<quorate_server::Server>>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.end();
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

impl Client {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(Arc::new(Owner {
            shared,
            #[cfg(feature = "embedded")]
            server: None,
        }))
    }

    /// A client of the site in this process.
    #[cfg(feature = "embedded")]
    pub(crate) fn of_server(shared: Arc<Shared>, server: quorate_server::Server) -> Self {
        Self(Arc::new(Owner { shared, server: Some(Arc::new(server)) }))
    }

    /// The site in this process, if there is one.
    #[cfg(feature = "embedded")]
    pub(crate) fn server(&self) -> Option<&quorate_server::Server> {
        self.0.server.as_deref()
    }

    /// Claims a lock.
    pub(crate) fn claim(&self, request: ClaimRequest) -> Arc<Call> {
        let shared = &self.0.shared;
        let call = Arc::new(Call::new(shared.next_number.fetch_add(1, Ordering::Relaxed)));
        let mut state = shared.state();
        if state.is_ended() {
            call.set(Progress::Stopped);
        } else {
            state.calls.insert(call.number, Arc::clone(&call));
            state.request(ClientRequest::Claim(call.number, request));
            shared.wake_for(&state);
        }
        drop(state);
        call
    }

    /// Releases a call or gives it up. The request is written when the client's task runs next.
    pub(crate) fn leave(&self, call: &Call) {
        let mut state = self.0.shared.state();
        state.request(ClientRequest::Leave(call.number));
        self.0.shared.wake_for(&state);
    }

    /// Releases a call or gives it up, and writes the request at once: the process may end before
    /// any task runs again.
    pub(crate) fn leave_now(&self, call: &Call) {
        let mut state = self.0.shared.state();
        state.request(ClientRequest::Leave(call.number));
        self.0.shared.write_now(&mut state);
    }

    /// Asks all sites.
    pub(crate) fn ask(&self, question: Question) -> UnboundedReceiver<Reply> {
        let shared = &self.0.shared;
        let ask = shared.next_number.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = unbounded_channel();
        let mut state = shared.state();
        state.asks.retain(|_, reply| !reply.is_closed());
        state.asks.insert(ask, sender);
        state.request(ClientRequest::Ask(ask, question));
        shared.wake_for(&state);
        receiver
    }

    /// Asks the sites to break a grant.
    pub(crate) fn break_grant(&self, request: BreakRequest) {
        let mut state = self.0.shared.state();
        state.request(ClientRequest::Break(request));
        self.0.shared.wake_for(&state);
    }

    /// When the site stops, once it is about to.
    pub(crate) async fn site_stops(&self) -> Tick {
        let mut stops_at = self.0.shared.state().stops_at.subscribe();
        match stops_at.wait_for(Option::is_some).await {
            Ok(when) => (*when).expect("it was waited for"),
            Err(_) => pending().await, // the client has ended
        }
    }

    /// Until when a grant is valid; `None` if it is over.
    pub(crate) fn valid_until(&self, call: &Call) -> Option<Tick> {
        self.0.shared.state().machine.valid_until(call.number)
    }

    /// Signals the loss of a grant this much before its end.
    pub(crate) fn set_margin(&self, call: &Call, margin: Duration) {
        let mut state = self.0.shared.state();
        state.step(ClientInput::Margin(call.number, margin));
        self.0.shared.wake_for(&state);
    }
}

/// What the handles of a client and its tasks share.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Wakes the client's task: there are frames to write, or an earlier deadline.
    wake: Notify,
    /// The number of the next call or question.
    next_number: AtomicU64,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

impl Shared {
    pub(crate) fn new(machine: ClientMachine) -> Self {
        Self {
            state: Mutex::new(State::new(machine)),
            wake: Notify::new(),
            next_number: AtomicU64::new(1),
        }
    }

    /// The connection that the client wants, and its changes.
    pub(crate) fn watch_wanted(&self) -> watch::Receiver<Wanted> {
        self.state().wanted.subscribe()
    }

    /// The connection of this attempt is up; false if the client does not want it any more.
    pub(crate) fn on_up(&self, attempt: u64, link: Link) -> bool {
        let mut state = self.state();
        if !state.wants(attempt) {
            return false;
        }
        state.link = Some(link);
        state.step(ClientInput::Up);
        self.write_now(&mut state);
        true
    }

    /// The connection of this attempt is gone.
    pub(crate) fn on_down(&self, attempt: u64) {
        let mut state = self.state();
        if state.wants(attempt) {
            state.link = None;
            state.step(ClientInput::Down);
            self.wake_for(&state);
        }
    }

    /// The site at this place could not be reached in this attempt.
    pub(crate) fn on_dial_failed(&self, attempt: u64, site: usize) {
        let mut state = self.state();
        if state.wants(attempt) {
            state.step(ClientInput::DialFailed(site));
            self.wake_for(&state);
        }
    }

    /// Packets of the site arrive; false if the client does not want them any more.
    pub(crate) fn on_packets(
        &self,
        attempt: u64,
        packets: impl IntoIterator<Item = Packet<ClientMessage>>,
    ) -> bool {
        let mut state = self.state();
        for packet in packets {
            if !state.wants(attempt) {
                break;
            }
            state.step(ClientInput::Packet(packet));
        }
        self.write_now(&mut state);
        state.wants(attempt)
    }

    /// The site in this process stops: all grants are given back.
    #[cfg(feature = "embedded")]
    pub(crate) fn on_stop(&self) {
        let mut state = self.state();
        if !state.is_ended() {
            state.step(ClientInput::Stop);
            state.end();
        }
        self.wake.notify_one();
    }

    /// Whether the client has ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.state().is_ended()
    }

    /// Ends the client: queued frames are written, and the connection is closed.
    fn end(&self) {
        let mut state = self.state();
        state.end();
        if state.poll_write(&mut Context::from_waker(Waker::noop())).is_ready() {
            state.link = None;
        }
        self.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the client's task if it has frames to write, or would wake too late by itself.
    fn wake_for(&self, state: &State) {
        if matches!(state.link, Some(Link::Socket(_))) || state.is_due_before_waking() {
            self.wake.notify_one();
        }
    }

    /// Writes queued frames as far as the site takes them; the client's task writes the rest.
    fn write_now(&self, state: &mut State) {
        let pending = state.poll_write(&mut Context::from_waker(Waker::noop())).is_pending();
        if pending || state.is_due_before_waking() {
            self.wake.notify_one();
        }
    }

    /// When the client's task must wake by itself.
    fn next_waking(&self) -> Tick {
        let mut state = self.state();
        state.wakes_at = state.machine.deadline().unwrap_or(Tick(u64::MAX));
        state.wakes_at
    }

    /// The client's task: handles deadlines, and writes the frames that the site did not take at
    /// once, until the client ends.
    pub(crate) async fn run(self: Arc<Self>, mut alarm: Alarm) {
        let _stop = StopCallsOnDrop(&self);
        let mut set = None;
        while !self.is_ended() {
            let deadline = self.next_waking();
            // An alarm that rings too early does no harm; setting it costs a system call.
            if set.is_none_or(|set| deadline < set) {
                alarm.set(deadline).expect("a timer can be set");
                set = Some(deadline);
            }
            tokio::select! {
                biased;
                () = self.wake.notified() => {}
                _ = alarm.ring() => {
                    set = None;
                    self.state().step(ClientInput::Time);
                }
                never = poll_fn(|cx| self.write_for_ever(cx)) => match never {},
            }
            poll_fn(|cx| self.write(cx)).await;
        }
        self.finish().await;
    }

    /// Writes queued frames; if some are left, the task is woken when the site takes more.
    fn write(&self, cx: &mut Context<'_>) -> Poll<()> {
        let _ = self.state().poll_write(cx);
        Poll::Ready(())
    }

    fn write_for_ever(&self, cx: &mut Context<'_>) -> Poll<Infallible> {
        let _ = self.state().poll_write(cx);
        Poll::Pending
    }

    /// Writes the last frames, if the site takes them soon.
    async fn finish(&self) {
        let link = self.state().link.take();
        if let Some(Link::Socket(writer)) = link {
            drop(timeout(CLOSE_TIMEOUT, writer.finish()).await); // the site may not read any more
        }
    }
}

/// Stops all calls when the client's task is dropped with its runtime.
struct StopCallsOnDrop<'a>(&'a Shared);

impl Drop for StopCallsOnDrop<'_> {
    fn drop(&mut self) {
        self.0.state().end();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use quorate_net::clock;
    use quorate_session::client::SiteReply;
    use quorate_session::session::{
        ClusterId, Drift, Frame, Incarnation, Lease, RelativeDeadline, Renewal, Seq, Terms, Welcome,
    };
    use quorate_session::{Claimant, Fence, Granted, LockSpec, SessionNo};

    use super::*;

    fn is_woken(shared: &Shared) -> bool {
        let notified = pin!(shared.wake.notified());
        notified.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    /// The task sleeps until the next renewal; a grant that ends before that must wake it.
    #[test]
    fn a_grant_that_ends_before_the_task_wakes_by_itself_wakes_it() {
        let lease = Lease::new(Lease::MAX).unwrap(); // so that nothing here is slow
        let terms = Terms::new(ClusterId::default(), lease, Drift::default());
        let shared = Arc::new(Shared::new(ClientMachine::new(clock::now(), terms)));
        let client = Client::new(Arc::clone(&shared));
        let (number, renewal) = (SessionNo(1), Renewal(0));
        shared.state().step(ClientInput::Up);
        let welcome = Welcome {
            incarnation: Incarnation(1),
            number,
            lease,
            quarantine: Duration::ZERO,
            received: Seq(0),
        };
        shared.on_packets(0, [Packet::Welcome(welcome)]);
        shared.next_waking();
        let (name, spec, claimant) =
            ("deploy".parse().unwrap(), LockSpec::Mutex, Claimant::default());
        let call = client.claim(ClaimRequest {
            name,
            spec,
            claimant,
            timeout: None,
            no_wait: false,
            since: None,
        });
        is_woken(&shared); // for what came before
        let end = |seconds| RelativeDeadline { renewal, after: Duration::from_secs(seconds) };
        let granted = SiteReply::Granted(call.number, Fence(1), Granted::Mutex, end(15));
        let payload = ClientMessage::Reply(granted);
        let frame = Frame { seq: Seq(1), received: Seq(0), payload };
        shared.on_packets(0, [Packet::Down(number, frame)]);
        assert!(client.valid_until(&call).is_some(), "it is granted");
        assert!(is_woken(&shared));
    }
}

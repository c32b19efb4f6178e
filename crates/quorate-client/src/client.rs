//! This process as a client of its site: the machine, the link to the site, and the calls.
//!
//! Callers step the machine in their own tasks, and so does the task that reads from the site.
//! Another task keeps the time, and writes the frames that the site did not take at once.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use quorate_net::clock::{self, Alarm};
use quorate_net::connection::FrameWriter;
use quorate_session::client::{
    ClientEffect, ClientInput, ClientMachine, ClientMessage, ClientRequest,
};
use quorate_session::session::{Packet, Terms};
use quorate_session::{BreakRequest, ClaimRequest, Question, SiteAnswer, SiteId, Tick};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::call::{Call, Progress};

/// How long a client that ends waits for its site to read its last frames.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A reply to a question.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// The question was sent to these sites.
    Asked(Vec<SiteId>),
    /// The answer of one of them.
    Answer(SiteId, SiteAnswer),
}

/// Where packets go.
pub(crate) enum Link {
    Socket(FrameWriter),
    #[cfg(feature = "embedded")]
    Local(quorate_server::LocalLink),
}

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
        if state.ended {
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
    /// How long the connection may be silent: renewals come three times as often.
    timeout: Duration,
}

struct State {
    machine: ClientMachine,
    /// When the client's task wakes by itself.
    wakes_at: Tick,
    link: Option<Link>,
    calls: HashMap<u64, Arc<Call>>,
    asks: HashMap<u64, UnboundedSender<Reply>>,
    ended: bool,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

impl Shared {
    pub(crate) fn new(terms: Terms) -> Self {
        let state = State {
            machine: ClientMachine::new(clock::now(), terms),
            wakes_at: Tick::ZERO,
            link: None,
            calls: HashMap::new(),
            asks: HashMap::new(),
            ended: false,
        };
        Self {
            state: Mutex::new(state),
            wake: Notify::new(),
            next_number: AtomicU64::new(1),
            timeout: terms.lease.length(),
        }
    }

    /// A connection is up; false if the client has ended.
    pub(crate) fn on_up(&self, link: Link) -> bool {
        let mut state = self.state();
        if state.ended {
            return false;
        }
        state.link = Some(link);
        state.step(ClientInput::Up);
        self.write_now(&mut state);
        true
    }

    /// The connection is gone; false if the client has ended.
    pub(crate) fn on_down(&self) -> bool {
        let mut state = self.state();
        state.link = None;
        state.step(ClientInput::Down);
        !state.ended
    }

    /// Packets of the site arrive; false if the client has ended.
    pub(crate) fn on_packets(
        &self,
        packets: impl IntoIterator<Item = Packet<ClientMessage>>,
    ) -> bool {
        let mut state = self.state();
        if let Some(Link::Socket(writer)) = &mut state.link {
            writer.note_received(clock::now());
        }
        for packet in packets {
            state.step(ClientInput::Packet(packet));
        }
        self.write_now(&mut state);
        !state.ended
    }

    /// The site in this process stops: all grants are given back.
    #[cfg(feature = "embedded")]
    pub(crate) fn on_stop(&self) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.ended, true) {
            state.step(ClientInput::Stop);
            state.stop_calls();
        }
        self.wake.notify_one();
    }

    /// Whether the client has ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.state().ended
    }

    /// Ends the client: queued frames are written, and the connection is closed.
    fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        state.stop_calls();
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
    fn next_waking(&self, sweep: Tick) -> Tick {
        let mut state = self.state();
        let deadline = state.machine.deadline().map_or(sweep, |when| when.min(sweep));
        state.wakes_at = deadline;
        deadline
    }

    /// The client's task: handles deadlines, and writes the frames that the site did not take at
    /// once, until the client ends.
    pub(crate) async fn run(self: Arc<Self>, mut alarm: Alarm) {
        let _stop = StopCallsOnDrop(&self);
        let mut sweep = clock::now() + self.timeout;
        let mut set = None;
        while !self.is_ended() {
            let deadline = self.next_waking(sweep);
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
                    self.on_alarm(&mut sweep);
                }
                never = poll_fn(|cx| self.write_for_ever(cx)) => match never {},
            }
            poll_fn(|cx| self.write(cx)).await;
        }
        self.finish().await;
    }

    fn on_alarm(&self, sweep: &mut Tick) {
        let (now, mut state) = (clock::now(), self.state());
        if *sweep <= now {
            *sweep = now + self.timeout;
            state.close_if_silent(now, self.timeout);
        }
        state.step(ClientInput::Time);
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
        let mut state = self.0.state();
        state.ended = true;
        state.stop_calls();
    }
}

impl State {
    fn request(&mut self, request: ClientRequest) {
        self.step(ClientInput::Request(request));
    }

    fn step(&mut self, input: ClientInput) {
        for effect in self.machine.step(clock::now(), input) {
            match effect {
                ClientEffect::Packet(packet) => self.send(packet),
                ClientEffect::Granted(call, fence, granted) => {
                    self.set_progress(call, Progress::Granted(fence, granted));
                }
                ClientEffect::Lost(call, loss) => self.set_progress(call, Progress::Lost(loss)),
                ClientEffect::Denied(call, denial) => {
                    self.set_progress(call, Progress::Denied(denial));
                    self.calls.remove(&call);
                }
                ClientEffect::Left(call) => {
                    self.set_progress(call, Progress::Left);
                    self.calls.remove(&call);
                }
                ClientEffect::Asked(ask, sites) => self.reply(ask, Reply::Asked(sites)),
                ClientEffect::Answer(ask, site, answer) => {
                    self.reply(ask, Reply::Answer(site, answer));
                }
            }
        }
    }

    #[cfg_attr(
        not(feature = "embedded"),
        expect(clippy::needless_pass_by_value, reason = "a site in this process takes it")
    )]
    fn send(&mut self, packet: Packet<ClientMessage>) {
        match &mut self.link {
            Some(Link::Socket(writer)) => {
                if let Err(error) = writer.queue(&packet) {
                    tracing::error!(%error, "a message was not sent");
                }
            }
            #[cfg(feature = "embedded")]
            Some(Link::Local(link)) => link.send(packet),
            None => {}
        }
    }

    fn set_progress(&self, call: u64, progress: Progress) {
        if let Some(call) = self.calls.get(&call) {
            call.set(progress);
        }
    }

    fn reply(&self, ask: u64, reply: Reply) {
        if let Some(sender) = self.asks.get(&ask) {
            drop(sender.send(reply)); // the caller may not wait any more
        }
    }

    /// Whether something is due before the client's task wakes by itself.
    fn is_due_before_waking(&self) -> bool {
        self.machine.deadline().is_some_and(|when| when < self.wakes_at)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.link {
            Some(Link::Socket(writer)) => writer.poll_write(cx),
            _ => Poll::Ready(()),
        }
    }

    fn close_if_silent(&mut self, now: Tick, timeout: Duration) {
        if let Some(Link::Socket(writer)) = &mut self.link {
            writer.close_if_silent(now, timeout);
        }
    }

    /// Ends all calls and questions.
    fn stop_calls(&mut self) {
        for (_, call) in self.calls.drain() {
            if call.loss().is_none() {
                call.set(Progress::Stopped);
            }
        }
        self.asks.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use quorate_session::client::SiteReply;
    use quorate_session::session::{
        ClusterId, Drift, Frame, Incarnation, Lease, RelativeDeadline, Renewal, Seq, Welcome,
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
        let shared = Arc::new(Shared::new(terms));
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
        shared.on_packets([Packet::Welcome(welcome)]);
        shared.next_waking(Tick(u64::MAX));
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
        shared.on_packets([Packet::Down(number, frame)]);
        assert!(client.valid_until(&call).is_some(), "it is granted");
        assert!(is_woken(&shared));
    }
}

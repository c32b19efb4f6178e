//! This process as a client of its site: the machine, the link to the site, and who waits for what.
//!
//! Whoever has something to say steps the machine itself, and so does whoever hears the site. A
//! task of its own keeps the time, and writes what the site did not take at once.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use quorate_net::clock::{self, Alarm};
use quorate_net::link::Line;
use quorate_session::client::{
    ClientEffect, ClientInput, ClientMachine, ClientMessage, ClientRequest,
};
use quorate_session::session::{Packet, Terms};
use quorate_session::{Answer, Break, ClaimRequest, Question, SiteId, Tick};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use tokio::time::timeout;

use crate::call::{Call, Progress};

/// For how long a client that ends waits for its site to take what it said last.
const FAREWELL: Duration = Duration::from_secs(1);

/// What comes of a question.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// It went to these sites.
    Asked(Vec<SiteId>),
    /// One of them says this.
    Answer(SiteId, Answer),
}

/// Where packets go.
pub(crate) enum Link {
    Socket(Line),
    #[cfg(feature = "embedded")]
    Local(quorate_server::LocalLink),
}

/// A handle of the client; cheap to copy. The last one that is dropped ends it.
#[derive(Clone)]
pub(crate) struct Client(Arc<Owner>);

/// Ends the client when it is dropped.
struct Owner {
    shared: Arc<Shared>,
    /// What must live as long as the client: the site in this process, if it is here.
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

    /// The site in this process, if it is here.
    #[cfg(feature = "embedded")]
    pub(crate) fn server(&self) -> Option<&quorate_server::Server> {
        self.0.server.as_deref()
    }

    /// Claims something.
    pub(crate) fn claim(&self, request: ClaimRequest) -> Arc<Call> {
        let shared = &self.0.shared;
        let call = Arc::new(Call::new(shared.made.fetch_add(1, Ordering::Relaxed)));
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

    /// Leaves, or does not wait any longer. It is written when the client's task runs next.
    pub(crate) fn leave(&self, call: &Call) {
        let mut state = self.0.shared.state();
        state.request(ClientRequest::Leave(call.number));
        self.0.shared.wake_for(&state);
    }

    /// Leaves, and writes that at once: the process may end before any task runs again.
    pub(crate) fn leave_now(&self, call: &Call) {
        let mut state = self.0.shared.state();
        state.request(ClientRequest::Leave(call.number));
        self.0.shared.write_now(&mut state);
    }

    /// Asks all sites something.
    pub(crate) fn ask(&self, question: Question) -> UnboundedReceiver<Reply> {
        let shared = &self.0.shared;
        let ask = shared.made.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = unbounded_channel();
        let mut state = shared.state();
        state.asks.retain(|_, reply| !reply.is_closed());
        state.asks.insert(ask, sender);
        state.request(ClientRequest::Ask(ask, question));
        shared.wake_for(&state);
        receiver
    }

    /// Wants a grant to end.
    pub(crate) fn break_grant(&self, wish: Break) {
        let mut state = self.0.shared.state();
        state.request(ClientRequest::Break(wish));
        self.0.shared.wake_for(&state);
    }

    /// Until when a grant is good; `None` if it is over.
    pub(crate) fn valid_until(&self, call: &Call) -> Option<Tick> {
        self.0.shared.state().machine.valid_until(call.number)
    }

    /// Signals the loss of a grant by so much before its end.
    pub(crate) fn set_margin(&self, call: &Call, margin: Duration) {
        let mut state = self.0.shared.state();
        state.step(ClientInput::Margin(call.number, margin));
        self.0.shared.wake_for(&state);
    }
}

/// What the handles of a client and the tasks that drive it share.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Wakes the client's task: there is something to write, or the time to wake has changed.
    wake: Notify,
    made: AtomicU64,
    /// How long the connection may be silent: renewals come three times as often.
    patience: Duration,
}

struct State {
    machine: ClientMachine,
    /// When the client's task wakes by itself.
    wakes: Tick,
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
            wakes: Tick::ZERO,
            link: None,
            calls: HashMap::new(),
            asks: HashMap::new(),
            ended: false,
        };
        Self {
            state: Mutex::new(state),
            wake: Notify::new(),
            made: AtomicU64::new(1),
            patience: terms.lease.length(),
        }
    }

    /// A connection is there; false if nobody needs it any more.
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

    /// The connection is gone; false if nobody needs another one.
    pub(crate) fn on_down(&self) -> bool {
        let mut state = self.state();
        state.link = None;
        state.step(ClientInput::Down);
        !state.ended
    }

    /// The site says this; false if nobody listens any more.
    pub(crate) fn on_packets(
        &self,
        packets: impl IntoIterator<Item = Packet<ClientMessage>>,
    ) -> bool {
        let mut state = self.state();
        if let Some(Link::Socket(line)) = &mut state.link {
            line.note_heard(clock::now());
        }
        for packet in packets {
            state.step(ClientInput::Packet(packet));
        }
        self.write_now(&mut state);
        !state.ended
    }

    /// The site in this process stops: what is held is given back.
    #[cfg(feature = "embedded")]
    pub(crate) fn on_stop(&self) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.ended, true) {
            state.step(ClientInput::Stop);
            state.dismiss();
        }
        self.wake.notify_one();
    }

    /// Whether nobody needs the client any more.
    pub(crate) fn is_ended(&self) -> bool {
        self.state().ended
    }

    /// Nobody needs the client any more: what was said is written, and the connection closed.
    fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        state.dismiss();
        if state.poll_write(&mut Context::from_waker(Waker::noop())).is_ready() {
            state.link = None;
        }
        self.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the client's task if it has something to write, or wakes too late by itself.
    fn wake_for(&self, state: &State) {
        if matches!(state.link, Some(Link::Socket(_))) || state.is_due_before_waking() {
            self.wake.notify_one();
        }
    }

    /// Writes what was said, as far as the site takes it; the client's task writes the rest.
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
        state.wakes = deadline;
        deadline
    }

    /// Keeps the time, and writes what the site did not take at once, until the client ends.
    pub(crate) async fn keep_time(self: Arc<Self>, mut alarm: Alarm) {
        let _abandoned = Abandoned(&self);
        let mut sweep = clock::now() + self.patience;
        let mut set = None;
        while !self.is_ended() {
            let deadline = self.next_waking(sweep);
            // An alarm that rings too early does no harm; to set it costs a call of the system.
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
            *sweep = now + self.patience;
            state.end_silence(now, self.patience);
        }
        state.step(ClientInput::Time);
    }

    /// Writes what was said; what is left wakes the task.
    fn write(&self, cx: &mut Context<'_>) -> Poll<()> {
        let _ = self.state().poll_write(cx);
        Poll::Ready(())
    }

    fn write_for_ever(&self, cx: &mut Context<'_>) -> Poll<Infallible> {
        let _ = self.state().poll_write(cx);
        Poll::Pending
    }

    /// Writes what is left, if the site takes it soon.
    async fn finish(&self) {
        let link = self.state().link.take();
        if let Some(Link::Socket(line)) = link {
            drop(timeout(FAREWELL, line.finish()).await); // who does not listen is left alone
        }
    }
}

/// Tells all callers if the task that keeps the time is dropped, with its runtime.
struct Abandoned<'a>(&'a Shared);

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.ended = true;
        state.dismiss();
    }
}

impl State {
    fn request(&mut self, request: ClientRequest) {
        self.step(ClientInput::Request(request));
    }

    fn step(&mut self, input: ClientInput) {
        for effect in self.machine.step(clock::now(), input) {
            match effect {
                ClientEffect::Packet(packet) => self.say(packet),
                ClientEffect::Granted(call, fence, got) => {
                    self.tell(call, Progress::Inside(fence, got));
                }
                ClientEffect::Lost(call, loss) => self.tell(call, Progress::Lost(loss)),
                ClientEffect::Denied(call, denial) => {
                    self.tell(call, Progress::Denied(denial));
                    self.calls.remove(&call);
                }
                ClientEffect::Left(call) => {
                    self.tell(call, Progress::Left);
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
    fn say(&mut self, packet: Packet<ClientMessage>) {
        match &mut self.link {
            Some(Link::Socket(line)) => {
                if let Err(error) = line.say(&packet) {
                    tracing::error!(%error, "something is too long to be said");
                }
            }
            #[cfg(feature = "embedded")]
            Some(Link::Local(link)) => link.send(packet),
            None => {}
        }
    }

    fn tell(&self, call: u64, progress: Progress) {
        if let Some(call) = self.calls.get(&call) {
            call.set(progress);
        }
    }

    fn reply(&self, ask: u64, reply: Reply) {
        if let Some(sender) = self.asks.get(&ask) {
            drop(sender.send(reply)); // who asked may have gone
        }
    }

    /// Whether something is due before the client's task wakes by itself.
    fn is_due_before_waking(&self) -> bool {
        self.machine.deadline().is_some_and(|when| when < self.wakes)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.link {
            Some(Link::Socket(line)) => line.poll_write(cx),
            _ => Poll::Ready(()),
        }
    }

    fn end_silence(&mut self, now: Tick, patience: Duration) {
        if let Some(Link::Socket(line)) = &mut self.link {
            line.end_silence(now, patience);
        }
    }

    /// Nobody is told anything any more.
    fn dismiss(&mut self) {
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
        Frame, Incarnation, Lease, RelativeDeadline, Renewal, Seq, Welcome,
    };
    use quorate_session::{Card, Fence, Got, SessionNo, Want};

    use super::*;

    fn is_woken(shared: &Shared) -> bool {
        let notified = pin!(shared.wake.notified());
        notified.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    /// The task sleeps until the next renewal; a grant that ends before that must wake it.
    #[test]
    fn a_grant_that_ends_before_the_task_wakes_by_itself_wakes_it() {
        let lease = Lease::new(Lease::MAX).unwrap(); // so that nothing here is slow
        let terms = Terms { lease, ..Terms::default() };
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
        let (name, want, card) = ("deploy".parse().unwrap(), Want::Mutex, Card::default());
        let call = client.claim(ClaimRequest { name, want, card, patience: None, hasty: false });
        is_woken(&shared); // for whatever came before
        let end = |seconds| RelativeDeadline { renewal, after: Duration::from_secs(seconds) };
        let granted = SiteReply::Granted(call.number, Fence(1), Got::Mutex, end(15));
        let payload = ClientMessage::Reply(granted);
        let frame = Frame { seq: Seq(1), received: Seq(0), payload };
        shared.on_packets([Packet::Down(number, frame)]);
        assert!(client.valid_until(&call).is_some(), "it is inside");
        assert!(is_woken(&shared));
    }
}

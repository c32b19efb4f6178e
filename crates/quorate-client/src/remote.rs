//! A site over a socket: connects, and connects again.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use quorate_net::clock::{self, Alarm};
use quorate_net::link::{BoxedStream, Line, part, read_one, write_one};
use quorate_net::tls::Tls;
use quorate_server::Reply;
use quorate_session::client::{Caller, CallerEffect, CallerInput, ClientId, Told, Wish};
use quorate_session::session::{Drift, Lease, Terms};
use quorate_session::{Break, CallId, Question, Tick};
use quorate_wire::{Answer, ClientWord, Decoder, Greeting, Who};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep, timeout};

use crate::{Error, Options};

/// How long a site has to answer a greeting.
const GREETING: Duration = Duration::from_secs(5);

/// How long a site has to let us in, if there are others to try.
const TURN: Duration = Duration::from_secs(2);

/// How many events are handled before what they led to is written.
const BATCH: usize = 256;

/// A way to a site over a socket.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    events: UnboundedSender<Event>,
    made: Arc<AtomicU64>,
    /// The length of a lease, and the number of sites, as the first of them said.
    pub(crate) lease: Duration,
    pub(crate) sites: usize,
}

/// What can happen to the way to a site.
#[derive(Debug)]
enum Event {
    Up(Line),
    Down,
    Said(Vec<ClientWord>),
    Claim(CallId, Wish, UnboundedSender<Told>),
    Leave(CallId),
    Ask(u64, Question, UnboundedSender<Reply>),
    Break(Break),
}

impl Remote {
    pub(crate) async fn connect(options: Options) -> Result<Self, Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| Error::Unreachable(error.to_string()))?;
        let dialer = Dialer {
            me: ClientId(u128::from_le_bytes(bytes)),
            tls: match &options.tls {
                None => None,
                Some(tls) => {
                    Some(Tls::read(tls).map_err(|error| Error::Refused(error.to_string()))?)
                }
            },
            addresses: options.addresses,
        };
        let end = Instant::now() + options.patience;
        let first = loop {
            match dialer.dial_any().await {
                Ok(first) => break first,
                Err(error) if Instant::now() >= end => {
                    return Err(Error::Unreachable(error.to_string()));
                }
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        };
        let (lease, sites) = (first.terms.lease.length(), first.sites);
        let alarm = Alarm::new().map_err(|error| Error::Unreachable(error.to_string()))?;
        let (events, inbox) = unbounded_channel();
        let desk = Desk {
            caller: Caller::new(clock::now(), first.terms),
            line: None,
            patience: lease,
            sweep: clock::now() + lease,
            calls: BTreeMap::new(),
            asks: BTreeMap::new(),
        };
        tokio::spawn(desk.run(inbox, alarm));
        tokio::spawn(dialer.keep(first, events.clone()));
        Ok(Self { events, made: Arc::default(), lease, sites })
    }

    pub(crate) fn claim(&self, wish: Wish) -> (CallId, UnboundedReceiver<Told>) {
        let call = CallId(self.made.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = unbounded_channel();
        self.send(Event::Claim(call, wish, sender));
        (call, receiver)
    }

    pub(crate) fn leave(&self, call: CallId) {
        self.send(Event::Leave(call));
    }

    pub(crate) fn ask(&self, question: Question) -> UnboundedReceiver<Reply> {
        let ask = self.made.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = unbounded_channel();
        self.send(Event::Ask(ask, question, sender));
        receiver
    }

    pub(crate) fn break_grant(&self, wish: Break) {
        self.send(Event::Break(wish));
    }

    fn send(&self, event: Event) {
        // When the runtime ends so does the task; receivers end with it.
        drop(self.events.send(event));
    }
}

/// Opens connections.
#[derive(Debug)]
struct Dialer {
    me: ClientId,
    addresses: Vec<String>,
    tls: Option<Tls>,
}

/// A connection on which we are welcome.
struct Dialed {
    stream: BoxedStream,
    decoder: Decoder,
    terms: Terms,
    sites: usize,
    /// Which of the addresses it is.
    place: usize,
}

impl Dialer {
    /// The first site that can be reached and wants us.
    async fn dial_any(&self) -> io::Result<Dialed> {
        let mut problem = io::Error::new(io::ErrorKind::InvalidInput, "no address is given");
        for place in 0..self.addresses.len() {
            match self.dial(place).await {
                Ok(dialed) => return Ok(dialed),
                Err(error) => {
                    let what = format!("{}: {error}", self.addresses[place]);
                    problem = io::Error::new(error.kind(), what);
                }
            }
        }
        Err(problem)
    }

    /// One site, if it lets us in soon: a machine that hangs must not keep us from the next.
    async fn dial(&self, place: usize) -> io::Result<Dialed> {
        let limit = if self.addresses.len() > 1 { TURN } else { GREETING };
        let late = || io::Error::new(io::ErrorKind::TimedOut, "it does not answer");
        timeout(limit, self.greet(place)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn greet(&self, place: usize) -> io::Result<Dialed> {
        let address = &self.addresses[place];
        let mut stream: BoxedStream = if address.starts_with('/') {
            Box::new(UnixStream::connect(address).await?)
        } else {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            match &self.tls {
                None => Box::new(stream),
                Some(tls) => Box::new(tls.connect(None, stream).await?),
            }
        };
        write_one(&mut stream, &Greeting::new(Who::Client(self.me))).await?;
        let mut decoder = Decoder::default();
        let refused = |why: String| io::Error::new(io::ErrorKind::PermissionDenied, why);
        match read_one(&mut stream, &mut decoder, GREETING).await? {
            Answer::Refused(why) => Err(refused(why.to_string())),
            Answer::Welcome { badge, lease, drift, sites, .. } => {
                let lease = Lease::new(lease).map_err(|error| refused(error.to_string()))?;
                let drift = Drift::new(drift).map_err(|error| refused(error.to_string()))?;
                let terms = Terms::new(badge, lease, drift);
                let sites = usize::try_from(sites).unwrap_or(usize::MAX);
                Ok(Dialed { stream, decoder, terms, sites, place })
            }
        }
    }

    /// Carries what is said, on one connection after another: the same site first, then any.
    async fn keep(self, first: Dialed, events: UnboundedSender<Event>) {
        let mut dialed = first;
        loop {
            let (place, lease) = (dialed.place, dialed.terms.lease);
            let (line, ear) = part(dialed.stream);
            if events.send(Event::Up(line)).is_err() {
                return;
            }
            let said = |words| events.send(Event::Said(words)).is_ok();
            if let Err(error) = ear.hear(dialed.decoder, said).await {
                tracing::debug!(%error, "the connection ended");
            }
            if events.send(Event::Down).is_err() {
                return;
            }
            let mut wait = Duration::ZERO;
            dialed = loop {
                sleep(wait).await;
                let again = self.dial(place).await;
                match if again.is_ok() { again } else { self.dial_any().await } {
                    Ok(dialed) => break dialed,
                    Err(_) => {
                        wait = (wait * 2).clamp(Duration::from_millis(50), lease.length() / 6);
                    }
                }
                if events.is_closed() {
                    return;
                }
            };
        }
    }
}

/// The one task that owns the process's end of its session.
struct Desk {
    caller: Caller,
    line: Option<Line>,
    /// How long the connection may be silent: renewals come three times as often.
    patience: Duration,
    /// When to look whether it is.
    sweep: Tick,
    calls: BTreeMap<u64, UnboundedSender<Told>>,
    asks: BTreeMap<u64, UnboundedSender<Reply>>,
}

impl Desk {
    async fn run(mut self, mut inbox: UnboundedReceiver<Event>, mut alarm: Alarm) {
        let (mut batch, mut wake) = (Vec::new(), None);
        loop {
            let deadline = self.caller.deadline().map_or(self.sweep, |when| when.min(self.sweep));
            if wake != Some(deadline) {
                alarm.set(deadline).expect("a timer can be set");
                wake = Some(deadline);
            }
            tokio::select! {
                biased;
                count = inbox.recv_many(&mut batch, BATCH) => if count == 0 { return },
                _ = alarm.ring() => {
                    wake = None;
                    self.on_alarm();
                }
                _ = poll_fn(|cx| -> Poll<Infallible> { self.write(cx); Poll::Pending }) => {}
            }
            for event in batch.drain(..) {
                self.on_event(event);
            }
            poll_fn(|cx| {
                self.write(cx);
                Poll::Ready(())
            })
            .await;
        }
    }

    /// Writes what was said, as far as the site takes it.
    fn write(&mut self, cx: &mut Context<'_>) {
        if let Some(line) = &mut self.line {
            let _ = line.poll_write(cx); // what is left wakes the task
        }
    }

    fn on_alarm(&mut self) {
        let now = clock::now();
        if self.sweep <= now {
            self.sweep = now + self.patience;
            if let Some(line) = &mut self.line {
                line.end_silence(now, self.patience);
            }
        }
        self.step(CallerInput::Time);
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Up(line) => {
                self.line = Some(line);
                self.step(CallerInput::Up);
            }
            Event::Down => {
                self.line = None;
                self.step(CallerInput::Down);
            }
            Event::Said(words) => {
                if let Some(line) = &mut self.line {
                    line.note_heard(clock::now());
                }
                for word in words {
                    self.step(CallerInput::Packet(word));
                }
            }
            Event::Claim(call, wish, told) => {
                self.calls.insert(call.0, told);
                self.step(CallerInput::Claim(call.0, wish));
            }
            Event::Leave(call) => {
                self.calls.remove(&call.0);
                self.step(CallerInput::Leave(call.0));
            }
            Event::Ask(ask, question, reply) => {
                self.asks.retain(|_, reply| !reply.is_closed());
                self.asks.insert(ask, reply);
                self.step(CallerInput::Ask(ask, question));
            }
            Event::Break(wish) => self.step(CallerInput::Break(wish)),
        }
    }

    fn step(&mut self, input: CallerInput) {
        for effect in self.caller.step(clock::now(), input) {
            match effect {
                CallerEffect::Packet(packet) => self.say(&packet),
                CallerEffect::Granted(call, fence, got, until) => {
                    self.tell(call, Told::Granted(fence, got, until));
                }
                CallerEffect::Extended(call, until) => self.tell(call, Told::Extended(until)),
                CallerEffect::Broken(call, until, why) => self.tell(call, Told::Broken(until, why)),
                CallerEffect::Lost(call, loss) => self.end(call, Told::Lost(loss)),
                CallerEffect::Denied(call, denial) => self.end(call, Told::Denied(denial)),
                CallerEffect::Asked(ask, sites) => self.reply(ask, Reply::Asked(sites)),
                CallerEffect::Answer(ask, site, answer) => {
                    self.reply(ask, Reply::Answer(site, answer));
                }
                CallerEffect::Open | CallerEffect::Closed | CallerEffect::Wake(_) => {}
            }
        }
    }

    fn say(&mut self, packet: &ClientWord) {
        if let Some(Err(error)) = self.line.as_mut().map(|line| line.say(packet)) {
            tracing::error!(%error, "something is too long to be said");
        }
    }

    fn tell(&self, call: u64, told: Told) {
        if let Some(sender) = self.calls.get(&call) {
            drop(sender.send(told));
        }
    }

    fn end(&mut self, call: u64, told: Told) {
        if let Some(sender) = self.calls.remove(&call) {
            drop(sender.send(told));
        }
    }

    fn reply(&self, ask: u64, reply: Reply) {
        if let Some(sender) = self.asks.get(&ask) {
            drop(sender.send(reply));
        }
    }
}

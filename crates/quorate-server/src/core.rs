//! The one task that owns a site: what happens goes in, what is to be done comes out.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::task::Poll;
use std::time::Duration;

use quorate_net::clock::{self, Alarm};
use quorate_net::link::Line;
use quorate_session::client::ClientId;
use quorate_session::session::Packet;
use quorate_session::{Name, SiteId, Tick};
use quorate_site::client_gateway::{GatewayEffect, GatewayInput, SiteWithClients};
use quorate_site::token::Regeneration;
use quorate_site::{Audit, Effect, Input, Said};
use quorate_wire::ClientWord;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::disk::{Write, Written};
use crate::lines::{Far, Lines};
use crate::local::{LocalClient, LocalClients};

/// What sites say to each other on a connection, one after another.
pub(crate) type SiteWord = Packet<Said>;

/// What can happen to a site, from outside. Connections are numbered, so that what an old one
/// leaves behind is not taken for a word of the new one.
#[derive(Debug)]
pub(crate) enum Event {
    PeerUp(SiteId, u64, Line),
    PeerSaid(SiteId, u64, Vec<SiteWord>),
    PeerDown(SiteId, u64),
    ClientUp(ClientId, u64, Line),
    LocalUp(ClientId, u64, Arc<dyn LocalClient>),
    ClientSaid(ClientId, u64, Vec<ClientWord>),
    ClientDown(ClientId, u64),
    Saved(Result<Written, String>),
    Stop(oneshot::Sender<()>),
}

/// Something that waits for the disk, and the connection on which it was to be said. It must not
/// slip onto the next one: sessions count on what is said on each.
#[derive(Debug)]
struct Held {
    effect: GatewayEffect,
    line: Option<u64>,
}

/// A site and everything it has to do with.
#[derive(Debug)]
pub(crate) struct Core {
    site: SiteWithClients,
    events: UnboundedReceiver<Event>,
    lines: Lines,
    locals: LocalClients,
    disk: Sender<Write>,
    /// How much the disk was given to write, and how much of that is written.
    to_write: u64,
    written: u64,
    /// How much must be written before anything that is held back is done.
    barrier: Option<u64>,
    held: VecDeque<Held>,
    alarm: Alarm,
    wake: Option<Tick>,
    /// When to look for connections that are silent.
    sweep: Tick,
    /// How many messages of protocols the site has sent, for whoever wants to know.
    sent: Arc<AtomicU64>,
    /// What opens and accepts connections; it ends with the site.
    _doors: JoinSet<()>,
}

/// How many events are handled before what they led to is written.
const BATCH: usize = 256;

/// For how long a site that stops waits for others to take what it said last.
const FAREWELL: Duration = Duration::from_secs(1);

impl Core {
    pub(crate) fn new(
        site: SiteWithClients,
        events: UnboundedReceiver<Event>,
        disk: Sender<Write>,
        alarm: Alarm,
        (doors, patience): (JoinSet<()>, Duration),
        sent: Arc<AtomicU64>,
    ) -> Self {
        Self {
            site,
            events,
            lines: Lines::new(patience),
            locals: LocalClients::default(),
            disk,
            to_write: 0,
            written: 0,
            barrier: None,
            held: VecDeque::new(),
            alarm,
            wake: None,
            sweep: clock::now() + patience,
            sent,
            _doors: doors,
        }
    }

    /// Runs until it is stopped.
    pub(crate) async fn run(mut self) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut stop = None;
        while stop.is_none() {
            self.set_alarm();
            tokio::select! {
                biased;
                count = self.events.recv_many(&mut batch, BATCH) => if count == 0 { return },
                rang = self.alarm.ring() => {
                    if let Err(error) = rang {
                        tracing::error!(%error, "the timer failed; the site stops");
                        return;
                    }
                    self.on_alarm();
                }
                _ = poll_fn(|cx| -> Poll<Infallible> { self.lines.write(cx); Poll::Pending }) => {}
            }
            for event in batch.drain(..) {
                if let Event::Stop(done) = event {
                    stop = Some(done);
                } else if !self.on_event(event) {
                    return;
                }
            }
            self.sent.store(self.site.site().messages_sent(), Ordering::Relaxed);
            self.write().await;
        }
        self.dismiss_locals();
        self.lines.finish(FAREWELL).await;
        if let Some(done) = stop {
            let _ = done.send(()); // whoever asked may be gone
        }
    }

    /// Writes what others take at once; the rest is written when they take it.
    async fn write(&mut self) {
        poll_fn(|cx| {
            self.lines.write(cx);
            Poll::Ready(())
        })
        .await;
    }

    fn on_alarm(&mut self) {
        self.wake = None;
        let now = clock::now();
        if self.sweep <= now {
            self.sweep = self.lines.end_silences(now);
        }
        self.step(GatewayInput::Site(Input::Time));
    }

    /// Handles one event; false if the site cannot go on.
    fn on_event(&mut self, event: Event) -> bool {
        match event {
            Event::PeerUp(site, number, line) => {
                self.lines.open(Far::Site(site), number, line);
                self.step(GatewayInput::Site(Input::Up(site)));
            }
            Event::PeerSaid(site, number, words) => {
                if self.lines.hear(Far::Site(site), number, clock::now()) {
                    for word in words {
                        self.step(GatewayInput::Site(Input::Packet(site, word)));
                    }
                }
            }
            Event::PeerDown(site, number) => {
                if self.lines.close(Far::Site(site), number) {
                    self.step(GatewayInput::Site(Input::Down(site)));
                }
            }
            Event::ClientUp(id, number, line) => self.lines.open(Far::Client(id), number, line),
            Event::LocalUp(id, number, client) => self.locals.open(id, number, client),
            Event::ClientSaid(id, number, words) => {
                let is_local = self.locals.number(id) == Some(number);
                if is_local || self.lines.hear(Far::Client(id), number, clock::now()) {
                    for word in words {
                        self.step(GatewayInput::Client(id, word));
                    }
                }
            }
            Event::ClientDown(id, number) => {
                if self.locals.close(id, number) || self.lines.close(Far::Client(id), number) {
                    self.step(GatewayInput::Down(id));
                }
            }
            Event::Saved(Ok(written)) => self.on_saved(written),
            Event::Saved(Err(error)) => {
                tracing::error!(%error, "the disk cannot be written; the site stops");
                return false;
            }
            Event::Stop(_) => {}
        }
        true
    }

    fn step(&mut self, input: GatewayInput) {
        let effects = self.site.step(clock::now(), input);
        for effect in effects {
            self.do_in_turn(effect);
        }
    }

    /// Does what is asked for now, or when the disk is done with what stands before it.
    fn do_in_turn(&mut self, effect: GatewayEffect) {
        if self.barrier.is_some() {
            let line = self.line_of(&effect);
            self.held.push_back(Held { effect, line });
        } else {
            self.carry_out(effect);
        }
    }

    fn on_saved(&mut self, (count, disk): Written) {
        self.written += count;
        if self.barrier.is_some_and(|barrier| barrier <= self.written) {
            self.barrier = None;
            while self.barrier.is_none()
                && let Some(Held { effect, line }) = self.held.pop_front()
            {
                if self.line_of(&effect) == line {
                    self.carry_out(effect);
                }
            }
        }
        if let Some(disk) = disk {
            self.step(GatewayInput::Site(Input::Saved(disk)));
        }
    }

    /// The connection on which something is to be said.
    fn line_of(&self, effect: &GatewayEffect) -> Option<u64> {
        match effect {
            GatewayEffect::Client(id, _) => {
                self.locals.number(*id).or_else(|| self.lines.number(Far::Client(*id)))
            }
            GatewayEffect::Site(Effect::Packet(to, _)) => self.lines.number(Far::Site(*to)),
            GatewayEffect::Site(_) => None,
        }
    }

    fn carry_out(&mut self, effect: GatewayEffect) {
        match effect {
            GatewayEffect::Client(id, packet) => {
                if let Some(packet) = self.locals.say(id, packet) {
                    self.lines.say(Far::Client(id), &packet);
                }
            }
            GatewayEffect::Site(Effect::Packet(to, packet)) => {
                self.lines.say(Far::Site(to), &packet);
            }
            GatewayEffect::Site(Effect::Persist(disk)) => {
                self.write_disk(Write::Site(disk));
                self.barrier = Some(self.to_write);
            }
            GatewayEffect::Site(Effect::Keep(name, durable)) => {
                self.write_disk(Write::Token(name, durable));
                self.barrier = Some(self.to_write);
            }
            GatewayEffect::Site(Effect::Save(disk)) => self.write_disk(Write::Site(disk)),
            GatewayEffect::Site(Effect::Audit(audit)) => log_audit(&audit),
            GatewayEffect::Site(Effect::Regenerated(name, what)) => log_token(&name, &what),
            GatewayEffect::Site(Effect::Note(about, what)) => {
                tracing::debug!(site = %about, "{what}");
            }
            // When to wake is asked for before each wait; the rest is told through clients.
            GatewayEffect::Site(_) => {}
        }
    }

    /// Lets the clients in this process give back what they hold, before the site stops.
    fn dismiss_locals(&mut self) {
        self.locals.stop();
        while let Ok(event) = self.events.try_recv() {
            self.on_event(event);
        }
    }

    fn write_disk(&mut self, write: Write) {
        self.to_write += 1;
        self.disk.send(write).expect("the thread of the disk lives as long as the site");
    }

    fn set_alarm(&mut self) {
        let deadline = self.site.deadline().map_or(self.sweep, |when| when.min(self.sweep));
        if self.wake != Some(deadline) {
            self.alarm.set(deadline).expect("a timer can be set");
            self.wake = Some(deadline);
        }
    }
}

fn log_audit(audit: &Audit) {
    let (what, wish) = match audit {
        Audit::Asked(wish) => ("asked to break a grant", wish),
        Audit::Ending(wish, ..) => ("a grant is broken here", wish),
        Audit::Heard(wish, _) => ("the holder's site ends the grant", wish),
    };
    let (name, fence, by, reason) = (&wish.name, wish.fence, &wish.by, &wish.reason);
    tracing::warn!(%name, %fence, %by, %reason, "{what}");
}

/// Says who promised a new token, what it replaces, and why that is dead.
fn log_token(name: &Name, what: &Regeneration) {
    let promised: Vec<String> = what.promised.iter().map(|site| site.to_string()).collect();
    let (epoch, before, promised) = (what.epoch, what.before, promised.join(" "));
    if before.0 == 0 {
        tracing::info!(%name, %epoch, %promised, "made the first token of this lock");
    } else {
        tracing::info!(
            %name, %epoch, %before, %promised,
            "made a new token: the leases of the one before are over at all who promised"
        );
    }
}

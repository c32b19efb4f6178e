//! The task that owns a site: it feeds events to the site, and carries out the effects.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::task::Poll;
use std::time::Duration;

use quorate_net::clock::{self, Alarm};
use quorate_net::connection::FrameWriter;
use quorate_session::client::ClientId;
use quorate_session::{Name, Printable, SiteId, Tick};
use quorate_site::client_gateway::{GatewayEffect, GatewayInput, SiteWithClients};
use quorate_site::identity::IdentityRefusal;
use quorate_site::token::Regeneration;
use quorate_site::{Audit, Effect, Input, SitePacket};
use quorate_wire::ClientPacket;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::connections::{Connections, Remote};
use crate::disk::Write;
use crate::disk_writer::{DiskReport, Written};
use crate::inbox::Inbox;
use crate::local::{LocalClient, LocalClients};
use crate::log_limit::LogLimit;

/// An event of a site. Connections are numbered, so that packets of an old one are not taken for
/// packets of the present one.
#[derive(Debug)]
pub(crate) enum Event {
    PeerUp(SiteId, u64, FrameWriter),
    PeerPackets(SiteId, u64, Vec<SitePacket>),
    PeerDown(SiteId, u64),
    ClientUp(ClientId, u64, FrameWriter),
    LocalUp(ClientId, u64, Arc<dyn LocalClient>),
    ClientPackets(ClientId, u64, Vec<ClientPacket>),
    ClientDown(ClientId, u64),
    Disk(DiskReport),
    /// Say when the site and all others have sessions with each other.
    AwaitPeers(std::sync::mpsc::Sender<()>),
    /// Stop within this time, without harm to callers as far as possible.
    Drain(Duration, oneshot::Sender<()>),
    Stop(oneshot::Sender<()>),
}

/// An effect that waits for the disk, and the connection of its packet. The packet must not go out
/// on a later connection: sessions rely on which packets were sent on which.
#[derive(Debug)]
struct DeferredEffect {
    effect: GatewayEffect,
    connection: Option<u64>,
}

/// A site with its connections, its disk and its timer.
#[derive(Debug)]
pub(crate) struct Core {
    site: SiteWithClients,
    inbox: Inbox,
    connections: Connections,
    locals: LocalClients,
    disk: Sender<Write>,
    /// How many writes the disk was given, and how many of them are done.
    to_write: u64,
    written: u64,
    /// How many writes must be done before the deferred effects.
    barrier: Option<u64>,
    deferred: VecDeque<DeferredEffect>,
    /// How many there may be before outdated ones are forgotten.
    defer_limit: usize,
    /// The last refusal of each peer, and the last by each peer, so that each is logged once.
    refusals: BTreeMap<SiteId, [Option<IdentityRefusal>; 2]>,
    /// Limits how often violations are logged.
    violations: LogLimit,
    alarm: Alarm,
    wake: Option<Tick>,
    /// When to look for silent connections.
    sweep: Tick,
    /// How many protocol messages the site has sent; [`Server`](crate::Server) reads it.
    sent: Arc<AtomicU64>,
    /// To be told when there are sessions with all other sites.
    awaits_peers: Option<std::sync::mpsc::Sender<()>>,
    /// To be told when the site has stopped.
    stopped: Vec<oneshot::Sender<()>>,
    /// Whether the site is to stop now.
    stopping: bool,
    /// The tasks that open and accept connections; they end with the site.
    _transport: JoinSet<()>,
}

/// How many effects may wait for the disk before outdated ones are forgotten, and clients have to
/// wait.
const DEFER_LIMIT: usize = 4096;

/// How long a site that stops waits for the others to read its last frames.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

impl Core {
    pub(crate) fn new(
        site: SiteWithClients,
        inbox: Inbox,
        disk: Sender<Write>,
        alarm: Alarm,
        transport: JoinSet<()>,
        silence_timeout: Duration,
        sent: Arc<AtomicU64>,
    ) -> Self {
        Self {
            site,
            inbox,
            connections: Connections::new(silence_timeout),
            locals: LocalClients::default(),
            disk,
            to_write: 0,
            written: 0,
            barrier: None,
            deferred: VecDeque::new(),
            defer_limit: DEFER_LIMIT,
            refusals: BTreeMap::new(),
            violations: LogLimit::default(),
            alarm,
            wake: None,
            sweep: clock::now() + silence_timeout,
            sent,
            awaits_peers: None,
            stopped: Vec::new(),
            stopping: false,
            _transport: transport,
        }
    }

    /// Runs until it is stopped.
    pub(crate) async fn run(mut self) {
        let mut batch = Vec::new();
        while !self.stopping {
            self.set_alarm();
            let with_clients = self.deferred.len() < DEFER_LIMIT;
            tokio::select! {
                biased;
                open = self.inbox.receive(&mut batch, with_clients) => if !open { return },
                rang = self.alarm.ring() => {
                    if let Err(error) = rang {
                        tracing::error!(%error, "the timer failed; the site stops");
                        return;
                    }
                    self.on_alarm();
                }
                _ = poll_fn(|cx| -> Poll<Infallible> {
                    self.connections.write(cx);
                    Poll::Pending
                }) => {}
            }
            for event in batch.drain(..) {
                if !self.on_event(event) {
                    return;
                }
            }
            if self.site.deadline().is_some_and(|when| when <= clock::now()) {
                self.step(GatewayInput::Site(Input::Time)); // what a step leaves for the next one
            }
            self.sent.store(self.site.site().messages_sent(), Ordering::Relaxed);
            self.report_peers();
            self.write().await;
        }
        self.stop_local_clients();
        self.connections.finish(CLOSE_TIMEOUT).await;
        for done in self.stopped {
            let _ = done.send(()); // the caller of `stop` may be gone
        }
    }

    /// Says that there are sessions with all other sites, if somebody waits for that.
    fn report_peers(&mut self) {
        let is_connected = |_: &mut _| self.site.site().is_connected_to_all();
        if let Some(connected) = self.awaits_peers.take_if(is_connected) {
            let _ = connected.send(()); // nobody may wait any more
        }
    }

    /// Writes the frames that the other ends take now; the rest is written when they take it.
    async fn write(&mut self) {
        poll_fn(|cx| {
            self.connections.write(cx);
            Poll::Ready(())
        })
        .await;
    }

    fn on_alarm(&mut self) {
        self.wake = None;
        let now = clock::now();
        if self.sweep <= now {
            self.sweep = self.connections.close_silent(now);
        }
        self.step(GatewayInput::Site(Input::Time));
    }

    /// Handles one event; false if the site cannot go on.
    fn on_event(&mut self, event: Event) -> bool {
        match event {
            Event::PeerUp(site, number, writer) => {
                self.connections.open(Remote::Site(site), number, writer);
                self.step(GatewayInput::Site(Input::Up(site)));
            }
            Event::PeerPackets(site, number, packets) => {
                let remote = Remote::Site(site);
                if self.connections.note_received(remote, number, clock::now()) {
                    for packet in packets {
                        self.step(GatewayInput::Site(Input::Packet(site, packet)));
                    }
                }
            }
            Event::PeerDown(site, number) => {
                if self.connections.close(Remote::Site(site), number) {
                    self.step(GatewayInput::Site(Input::Down(site)));
                }
            }
            Event::ClientUp(id, number, writer) => {
                self.connections.open(Remote::Client(id), number, writer);
                self.step(GatewayInput::Up(id));
            }
            Event::LocalUp(id, number, client) => {
                self.locals.open(id, number, client);
                self.step(GatewayInput::Up(id));
            }
            Event::ClientPackets(id, number, packets) => {
                let (is_local, remote) =
                    (self.locals.number(id) == Some(number), Remote::Client(id));
                if is_local || self.connections.note_received(remote, number, clock::now()) {
                    for packet in packets {
                        self.step(GatewayInput::Client(id, packet));
                    }
                }
            }
            Event::ClientDown(id, number) => {
                if self.locals.close(id, number)
                    || self.connections.close(Remote::Client(id), number)
                {
                    self.step(GatewayInput::Down(id));
                }
            }
            Event::Disk(DiskReport::Written(written)) => self.on_saved(written),
            Event::Disk(DiskReport::Failed(error)) => {
                tracing::error!(%error, "the disk cannot be written; the site tries again");
            }
            Event::Disk(DiskReport::Recovered) => tracing::info!("the disk can be written again"),
            Event::AwaitPeers(connected) => self.awaits_peers = Some(connected),
            Event::Drain(time, done) => {
                self.stopped.push(done);
                self.step(GatewayInput::Site(Input::Drain(time)));
            }
            Event::Stop(done) => {
                self.stopped.push(done);
                self.stopping = true;
            }
        }
        true
    }

    fn step(&mut self, input: GatewayInput) {
        let effects = self.site.step(clock::now(), input);
        for effect in effects {
            self.carry_out_or_defer(effect);
        }
    }

    /// Carries out an effect now, or after the writes that must come before it.
    fn carry_out_or_defer(&mut self, effect: GatewayEffect) {
        if self.barrier.is_some() {
            self.defer(effect);
        } else {
            self.carry_out(effect);
        }
    }

    /// Keeps an effect until the disk is done. While the disk fails, packets of connections that
    /// are gone are forgotten now and then: the others are closed when their ends hear nothing.
    fn defer(&mut self, effect: GatewayEffect) {
        if self.deferred.len() >= self.defer_limit {
            let deferred = std::mem::take(&mut self.deferred);
            let waits = |one: &DeferredEffect| self.connection_of(&one.effect) == one.connection;
            self.deferred = deferred.into_iter().filter(waits).collect();
            self.defer_limit = DEFER_LIMIT.max(2 * self.deferred.len());
        }
        let connection = self.connection_of(&effect);
        self.deferred.push_back(DeferredEffect { effect, connection });
    }

    fn on_saved(&mut self, Written { count, disk }: Written) {
        self.written += count;
        if self.barrier.is_some_and(|barrier| barrier <= self.written) {
            self.barrier = None;
            while self.barrier.is_none()
                && let Some(DeferredEffect { effect, connection }) = self.deferred.pop_front()
            {
                if self.connection_of(&effect) == connection {
                    self.carry_out(effect);
                }
            }
        }
        if let Some(disk) = disk {
            self.step(GatewayInput::Site(Input::Saved(*disk)));
        }
    }

    /// The present connection for the packet of an effect.
    fn connection_of(&self, effect: &GatewayEffect) -> Option<u64> {
        match effect {
            GatewayEffect::Client(id, _) => {
                self.locals.number(*id).or_else(|| self.connections.number(Remote::Client(*id)))
            }
            GatewayEffect::Site(Effect::Packet(to, _) | Effect::Refuse(to, _)) => {
                self.connections.number(Remote::Site(*to))
            }
            GatewayEffect::Site(_) => None,
        }
    }

    fn carry_out(&mut self, effect: GatewayEffect) {
        match effect {
            GatewayEffect::Client(id, packet) => {
                if let Some(packet) = self.locals.send(id, packet) {
                    self.connections.send(Remote::Client(id), &packet);
                }
            }
            GatewayEffect::Site(Effect::Packet(to, packet)) => {
                self.connections.send(Remote::Site(to), &packet);
            }
            GatewayEffect::Site(Effect::Refuse(peer, why)) => self.refuse(peer, why),
            GatewayEffect::Site(Effect::RefusedBy(peer, why)) => {
                if self.refusals.entry(peer).or_default()[1].replace(why) != Some(why) {
                    tracing::warn!(site = %peer, %why, "this site is refused");
                }
            }
            GatewayEffect::Site(Effect::Joined) => tracing::info!("joined the cluster"),
            GatewayEffect::Site(Effect::Persist(disk)) => {
                self.write_disk(Write::Site(Box::new(disk)));
                self.barrier = Some(self.to_write);
            }
            GatewayEffect::Site(Effect::Keep(name, durable)) => {
                self.write_disk(Write::Token(name, durable));
                self.barrier = Some(self.to_write);
            }
            GatewayEffect::Site(Effect::Fold(folded, names)) => {
                self.write_disk(Write::Fold(folded, names));
                self.barrier = Some(self.to_write);
            }
            GatewayEffect::Site(Effect::Save(disk)) => self.write_disk(Write::Site(Box::new(disk))),
            GatewayEffect::Site(Effect::Drained) => self.stopping = true,
            GatewayEffect::Site(Effect::Audit(audit)) => log_audit(&audit),
            GatewayEffect::Site(Effect::Regenerated(name, what)) => log_token(&name, &what),
            GatewayEffect::Site(Effect::Violation(site, why)) => {
                if let Some(count) = self.violations.pass(&format!("{site}: {why}"), clock::now()) {
                    let suppressed = (count > 0).then_some(count);
                    tracing::warn!(%site, %why, suppressed, "a site sent what cannot be true");
                }
            }
            GatewayEffect::Site(Effect::Note(about, what)) => {
                tracing::debug!(site = %about, "{what}");
            }
            // Deadlines are read before each wait; callers get the rest through their clients.
            GatewayEffect::Site(_) => {}
        }
    }

    /// Closes the connection with a peer that is not what it was, after the frame that says so. The
    /// peer may try again.
    fn refuse(&mut self, peer: SiteId, why: IdentityRefusal) {
        if self.refusals.entry(peer).or_default()[0].replace(why) != Some(why) {
            tracing::warn!(site = %peer, %why, "a site was refused");
        }
        if let Some(writer) = self.connections.take(Remote::Site(peer)) {
            tokio::spawn(tokio::time::timeout(CLOSE_TIMEOUT, writer.finish()));
            self.step(GatewayInput::Site(Input::Down(peer)));
        }
    }

    /// Lets the clients in this process give back their grants before the site stops.
    fn stop_local_clients(&mut self) {
        self.locals.stop();
        while let Some(event) = self.inbox.try_own() {
            self.on_event(event);
        }
    }

    fn write_disk(&mut self, write: Write) {
        self.to_write += 1;
        self.disk.send(write).expect("the disk thread runs as long as the site");
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
    let (Audit::Asked(request) | Audit::Ending(request, ..) | Audit::Acknowledged(request, _)) =
        audit;
    let (name, fence, by, reason) = (&request.name, request.fence, &request.by, &request.reason);
    let reason = Printable(reason);
    match audit {
        Audit::Asked(..) => {
            tracing::warn!(%name, %fence, %by, %reason, "asked to break a grant");
        }
        Audit::Ending(..) => {
            tracing::warn!(%name, %fence, %by, %reason, "a grant is broken here");
        }
        Audit::Acknowledged(..) => {
            tracing::warn!(%name, %fence, %by, %reason, "the holder's site ends the grant");
        }
    }
}

/// Logs a new token: the sites that promised it, and the token that it replaces.
fn log_token(name: &Name, what: &Regeneration) {
    let promised: Vec<String> = what.promised.iter().map(|site| site.to_string()).collect();
    let (epoch, before, promised) = (what.epoch, what.before, promised.join(" "));
    if before.0 == 0 {
        tracing::info!(%name, %epoch, %promised, "made the first token of this lock");
    } else {
        tracing::info!(
            %name, %epoch, %before, %promised,
            "made a new token: the leases of any before are over at all sites that promised"
        );
    }
}

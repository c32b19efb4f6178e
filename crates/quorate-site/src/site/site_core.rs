//! What all locks of a site share: sessions, callers, deadlines, and the effects of a step.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use quorate_protocol::{Clock, Fence, OutboundSession, Shared, Tick};
use quorate_quorum::SiteId;
use quorate_session::session::{self, Event, Half, Packet, Roles, Sessions};
use quorate_session::{CallId, Claimant, Denial, Granted, Loss, Name, ReasonText};

use super::admission::Admission;
use super::call::{Call, Place};
use super::delegations::Delegations;
use super::disk::DiskState;
use super::drain::Drain;
use super::held::Held;
use super::quorum::QuorumReport;
use super::telling::Telling;
use super::unused::UnusedNames;
use super::validity::Review;
use crate::Config;
use crate::disk::{Disk, Kept, Past};
use crate::effect::{Effect, Grant, Input};
use crate::identity::{Identity, IdentityEffect, SitePacket, Start, StartError};
use crate::kinds::LockFactory;
use crate::lock::{LockEffect, LockInstance, StepContext};
use crate::site_message::{Addressed, SiteMessage};

/// A step that handles a packet, a claim or a caller that leaves visits fewer locks beside it, by
/// this factor, than one that is made for that. There may be thousands of them before the site can
/// write what it sends.
const LESS_BESIDE_INPUTS: usize = 16;

/// Everything of a site but its table of locks.
#[derive(Clone, Debug)]
pub(super) struct SiteCore {
    pub(super) config: Config,
    /// The time of the latest step.
    pub(super) now: Tick,
    pub(super) identity: Identity,
    pub(super) sessions: Sessions<SiteMessage>,
    pub(super) shared: Shared,
    pub(super) factory: LockFactory,
    /// Boxed, because the nodes of a map have unused slots.
    pub(super) calls: BTreeMap<CallId, Box<Call>>,
    /// When the site must act on which call.
    pub(super) due: BTreeSet<(Tick, CallId)>,
    /// When the next timer of which lock expires.
    pub(super) timers: BTreeSet<(Tick, Name)>,
    /// The locks whose timers wait until the streams have room.
    pub(super) put_off: BTreeSet<Name>,
    /// The waiting calls with `no_wait`, without those that are not placed.
    pub(super) no_wait: BTreeSet<(Name, CallId)>,
    /// The locks that have acted since these calls were looked at, if there are any.
    pub(super) acted: BTreeSet<Name>,
    /// The calls whose claims were made again in this step.
    pub(super) claimed_again: BTreeSet<CallId>,
    /// The calls that are not placed in the table of locks.
    pub(super) admission: Admission,
    /// The degraded grants, and the deadline of each that was announced last.
    pub(super) degraded: BTreeMap<CallId, Tick>,
    /// The common deadline that was announced last.
    pub(super) common_deadline: Tick,
    /// Whether deadlines may have moved since validity was reviewed.
    pub(super) leases_renewed: bool,
    /// The review of the degraded grants.
    pub(super) review: Review,
    /// What happened to all locks, and which of them know.
    pub(super) telling: Telling,
    pub(super) quorum: QuorumReport,
    /// The locks of which a message came since, while a grant was degraded.
    pub(super) answered: BTreeSet<Name>,
    pub(super) delegations: Delegations,
    /// Set when the site is about to stop.
    pub(super) drain: Option<Drain>,
    /// The calls that were granted by a delegation that had expired by then.
    pub(super) expired_grants: Vec<CallId>,
    pub(super) disk: DiskState,
    /// The records of locks, as they are on disk.
    pub(super) tokens: BTreeMap<Name, Kept>,
    /// The record of all locks that have none of their own.
    pub(super) folded: Kept,
    pub(super) unused: UnusedNames,
    pub(super) out: Vec<Effect>,
    pub(super) held: Held,
    /// Messages of the site to itself.
    pub(super) to_self: VecDeque<OwnMessage>,
    /// Effects of the sessions that are not the driver's.
    pub(super) pending: VecDeque<session::Effect<SiteMessage>>,
    /// How many messages of protocols were sent to other sites.
    pub(super) sent: u64,
    /// How many messages of other sites could not be true.
    pub(super) violations: u64,
    effects: Vec<LockEffect>,
    /// How many locks, grants, calls or timers each walk through them may visit in this step.
    pub(super) locks_in_step: usize,
    pub(super) wake: Option<Tick>,
}

/// A message of the site to one of its own halves.
#[derive(Clone, Debug)]
pub(super) struct OwnMessage {
    pub(super) half: Half,
    pub(super) message: SiteMessage,
}

impl SiteCore {
    /// Starts or restarts: the ceilings read from disk are raised and synced before the first byte
    /// is sent, and the Lamport clock and the fences continue above them. The site takes part when
    /// its life begins.
    pub(super) fn start(
        now: Tick,
        config: Config,
        past: Past,
        start: &Start,
    ) -> Result<Self, StartError> {
        past.check()?;
        let writes = past.writes();
        let Past { mut disk, tokens, folded } = past;
        disk.identity.writes = writes;
        let (me, n) = (config.site, config.quorums.n());
        let peers = SiteId::all(n).filter(|&peer| peer != me).map(|peer| (peer, Roles::Both));
        let (sessions, _) = Sessions::start(now, me, peers, config.terms, disk.sessions);
        let incarnation = u32::try_from(sessions.incarnation().0);
        let incarnation = incarnation.expect("the record on disk was checked");
        let shared = start_shared(&config, incarnation, &disk);
        let identity = std::mem::take(&mut disk.identity);
        let identity =
            Identity::start(me, n, config.terms, sessions.incarnation(), identity, start)?;
        let factory = LockFactory::new(&config);
        let quorum = QuorumReport::new(now, &config);
        let mut core = Self {
            config,
            now,
            identity,
            sessions,
            shared,
            factory,
            calls: BTreeMap::new(),
            due: BTreeSet::new(),
            timers: BTreeSet::new(),
            put_off: BTreeSet::new(),
            no_wait: BTreeSet::new(),
            acted: BTreeSet::new(),
            claimed_again: BTreeSet::new(),
            admission: Admission::default(),
            degraded: BTreeMap::new(),
            common_deadline: Tick::ZERO,
            leases_renewed: false,
            review: Review::default(),
            telling: Telling::default(),
            quorum,
            answered: BTreeSet::new(),
            delegations: Delegations::default(),
            drain: None,
            expired_grants: Vec::new(),
            disk: DiskState::new(&disk),
            unused: UnusedNames::new(tokens.keys()),
            tokens,
            folded,
            out: Vec::new(),
            held: Held::default(),
            to_self: VecDeque::new(),
            pending: VecDeque::new(),
            sent: 0,
            violations: 0,
            effects: Vec::new(),
            locks_in_step: 1,
            wake: None,
        };
        let mut begins = Vec::new();
        core.identity.on_start(&mut begins);
        core.persist_start(); // if the life begins at once, this includes it
        begins.retain(|effect| *effect != IdentityEffect::Persist);
        core.apply_identity(begins);
        Ok(core)
    }

    pub(super) fn me(&self) -> SiteId {
        self.config.site
    }

    pub(super) fn context(&mut self) -> StepContext<'_> {
        StepContext {
            now: self.now,
            shared: &mut self.shared,
            local_turns: self.config.local_turns,
            effects: &mut self.effects,
        }
    }

    pub(super) fn begin_step(&mut self, input: &Input) {
        self.claimed_again.clear();
        let most = self.config.locks_per_step;
        let is_frequent = matches!(input, Input::Packet(..) | Input::Claim(..) | Input::Leave(_));
        let most = if is_frequent { most / LESS_BESIDE_INPUTS } else { most };
        self.locks_in_step = most.max(1);
        self.telling.begin_step(self.locks_in_step);
        self.review.begin_step(self.locks_in_step);
    }

    pub(super) fn note(&mut self, about: SiteId, what: &'static str) {
        self.out.push(Effect::Note(about, what));
    }

    /// Passes an input to the sessions. Effects for the driver go out in order; the others wait
    /// until the current action has ended.
    pub(super) fn drive_sessions(&mut self, input: session::Input<SiteMessage>) {
        let frame = |packet: &Packet<SiteMessage>| {
            matches!(
                packet,
                Packet::Up(..) | Packet::Down(..) | Packet::UpAck(..) | Packet::DownAck(..)
            )
        };
        // Frames of a stream renew no lease, and there are many of them.
        self.leases_renewed |=
            !matches!(&input, session::Input::Packet(_, packet) if frame(packet));
        let effects = self.sessions.step(self.now, input);
        self.absorb(effects);
    }

    pub(super) fn absorb(&mut self, effects: Vec<session::Effect<SiteMessage>>) {
        for effect in effects {
            match effect {
                session::Effect::Packet(to, packet) => {
                    self.out.push(Effect::Packet(to, SitePacket::Session(packet)));
                }
                session::Effect::Persist(durable) => self.persist_sessions(durable),
                session::Effect::Note(about, what) => self.note(about, what),
                session::Effect::Wake(_) => {}
                effect => {
                    // Several sessions may be lost at once. None of them counts from now on, though
                    // the protocols learn of one after the other.
                    if let session::Effect::Notify(Event::Lost(peer)) = effect {
                        self.shared.sessions.set_outbound(peer, OutboundSession::default());
                    }
                    self.pending.push_back(effect);
                }
            }
        }
    }

    /// Sends a message to a half of a site, which may be this one.
    pub(super) fn send(&mut self, to: SiteId, half: Half, message: SiteMessage) {
        if to == self.me() {
            return self.to_self.push_back(OwnMessage { half, message });
        }
        let mut effects = Vec::new();
        self.sessions.send(to, half, message, &mut effects);
        self.absorb(effects);
    }

    /// Updates what the protocols read of our session at `peer`.
    pub(super) fn refresh_session(&mut self, peer: SiteId) {
        let Some(view) = self.sessions.at(peer) else { return };
        if self.shared.sessions.outbound(peer).number == Some(view.number) {
            let quarantined = view.quarantined_until > self.now;
            let ours =
                OutboundSession { number: Some(view.number), silent: view.silent, quarantined };
            self.quorum.peers_changed |= self.shared.sessions.outbound(peer) != ours;
            self.shared.sessions.set_outbound(peer, ours);
            if !view.silent {
                self.telling.note_answering(peer);
            }
        }
    }

    /// Notes that a lease was renewed: a peer's here, or ours there.
    pub(super) fn note_renewal(&mut self, peer: SiteId, packet: &Packet<SiteMessage>) {
        match packet {
            Packet::Renew(..) => {
                self.delegations.renewed.insert(peer);
            }
            Packet::Renewed(..) => self.delegations.deadlines_moved = true,
            _ => {}
        }
    }

    /// Records an event of a session, before the protocols learn of it.
    pub(super) fn note_session(&mut self, event: Event) {
        self.quorum.peers_changed = true;
        let sessions = &mut self.shared.sessions;
        match event {
            Event::Open(peer, number) => {
                self.telling.note_answering(peer);
                sessions.set_outbound(
                    peer,
                    OutboundSession { number: Some(number), ..OutboundSession::default() },
                );
                self.refresh_session(peer);
            }
            Event::Silent(peer) => self.refresh_session(peer),
            Event::Lost(peer) => {
                self.delegations.support_lost = true;
                sessions.set_outbound(peer, OutboundSession::default());
            }
            Event::Opened(peer, number) => sessions.set_inbound(peer, Some(number)),
            Event::Closed(peer) => {
                self.telling.note_closed(peer, sessions.inbound(peer));
                self.shared.close_session_of(peer);
            }
        }
    }

    /// Ends the quarantine if its time is over; true if it did.
    pub(super) fn end_quarantine(&mut self) -> bool {
        let over = self.shared.quarantined
            && self.identity.has_begun()
            && self.sessions.quarantined_until() <= self.now;
        self.shared.quarantined &= !over;
        over
    }

    /// Why a call was not served by its deadline.
    pub(super) fn timeout_denial(&self, id: CallId, lock: Option<&dyn LockInstance>) -> Denial {
        let Some(lock) = lock.filter(|_| !self.admission.contains(id)) else {
            return self.quorum_status().denial().unwrap_or(Denial::TimedOut);
        };
        let quorums = lock.quorums(&self.shared, id);
        if self.shared.can_ask(quorums, self.calls[&id].name.hash64()) {
            return Denial::TimedOut;
        }
        let (sites, needed) = (quorums.n(), quorums.min_size());
        Denial::NoQuorum { answering: self.shared.reachable().len(), sites, needed }
    }

    /// One of the callers that use a lock here.
    pub(super) fn owner(&self, lock: &dyn LockInstance) -> Option<Claimant> {
        lock.first_callers(1).first().map(|call| self.calls[call].claimant.clone())
    }

    /// Runs `action` on a lock, and applies the effects; false if the lock is vacant afterwards.
    pub(super) fn run_on_lock(
        &mut self,
        name: &Name,
        lock: &mut dyn LockInstance,
        action: impl FnOnce(&mut dyn LockInstance, &mut StepContext<'_>),
    ) -> bool {
        if !self.no_wait.is_empty() {
            self.acted.insert(name.clone());
        }
        self.shared.rotate_quorums(name.hash64());
        let timer = lock.next_timer();
        action(lock, &mut self.context());
        self.set_timer(name, timer, lock.next_timer());
        self.apply_effects(name, lock);
        let vacant = lock.is_vacant(self.now);
        if vacant {
            lock.retire(&mut self.shared);
            self.set_timer(name, lock.next_timer(), None);
            if self.tokens.contains_key(name) {
                self.unused.insert(name);
            }
        }
        !vacant
    }

    fn apply_effects(&mut self, name: &Name, lock: &dyn LockInstance) {
        self.raise_clock_ceiling();
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            self.apply_effect(name, lock, effect);
        }
        self.effects = effects;
        assert!(
            self.shared.ceil() <= self.disk.safe.ceil,
            "I4: the ceiling on disk is the highest"
        );
    }

    fn apply_effect(&mut self, name: &Name, lock: &dyn LockInstance, effect: LockEffect) {
        match effect {
            LockEffect::Send(to, message) => {
                let counts = to != self.me() && !message.as_message().is_renewal();
                let addressed = Addressed { name: name.clone(), kind: lock.kind(), message };
                let half = addressed.half();
                if let Some(message) = self.site_message(to, lock, addressed) {
                    self.sent += u64::from(counts);
                    self.send(to, half, message);
                }
            }
            LockEffect::Grant { call, .. } if self.valid_until(call, lock).is_none() => {
                self.expired_grants.push(call);
            }
            LockEffect::Grant { call, fence, granted } => self.grant(call, lock, fence, granted),
            LockEffect::Lose(id, why) => {
                self.remove_call(id);
                self.out.push(Effect::Lost(id, Loss::Lapsed(why)));
            }
            LockEffect::Stop(id, why) => {
                let until = self.valid_until(id, lock);
                let why = ReasonText::fitted(&why.to_string());
                self.stop(id, until.unwrap_or(self.now), why);
            }
            LockEffect::Deny(id, denial) => {
                self.remove_call(id);
                self.out.push(Effect::Denied(id, denial));
            }
            LockEffect::Persist(record) => self.persist(name, record),
            LockEffect::ValidityChanged => self.leases_renewed = true,
            LockEffect::Contradiction => {
                self.violations += 1;
                self.note(self.me(), "others contradict each other: one broke the contract");
            }
            LockEffect::Regenerated(what) => self.out.push(Effect::Regenerated(name.clone(), what)),
        }
    }

    /// A protocol's message, with its delegation or deadline; `None` if the receiver could not read
    /// the deadline.
    fn site_message(
        &mut self,
        to: SiteId,
        lock: &dyn LockInstance,
        addressed: Addressed,
    ) -> Option<SiteMessage> {
        if to == self.me() {
            return Some(SiteMessage::Protocol(addressed));
        }
        let message = addressed.message.as_message();
        if message.is_timed() {
            return self.write_timed(to, addressed);
        }
        let about = message.delegation();
        Some(match about.and_then(|about| self.delegate(to, &addressed.name, lock, about)) {
            Some(delegation) => SiteMessage::Delegated(addressed, delegation),
            None => SiteMessage::Protocol(addressed),
        })
    }

    /// A call is inside.
    fn grant(&mut self, id: CallId, lock: &dyn LockInstance, fence: Fence, granted: Granted) {
        self.set_place(id, Place::Inside(fence));
        let call = self.calls.get_mut(&id).expect("its place was set just now");
        (call.since, call.granted) = (self.now, Some(granted.clone()));
        let until = self.valid_until(id, lock).expect("a caller that enters is valid");
        self.out.push(Effect::Grant(id, Grant { fence, granted, until }));
        if !self.follows_common_deadline(id, lock, until) {
            self.degraded.insert(id, until);
            self.out.push(Effect::Degraded(id, until));
        }
    }
}

/// What the protocols share when a site starts: no sessions, and numbers above those on disk.
fn start_shared(config: &Config, incarnation: u32, disk: &Disk) -> Shared {
    let (me, n) = (config.site, config.quorums.n());
    let mut shared = Shared::new(me, Arc::clone(&config.quorums))
        .with_fence_block(config.fence_block)
        .with_past(incarnation, Clock::at(disk.clock), disk.ceil);
    #[cfg(feature = "mutations")]
    shared.check_numbers(config.terms.keep(session::Rule::NumbersAreChecked));
    for peer in SiteId::all(n).filter(|&peer| peer != me) {
        shared.sessions.set_outbound(peer, OutboundSession::default());
        shared.sessions.set_inbound(peer, None);
    }
    shared.delegated = Some(BTreeSet::new());
    shared.quarantined = true; // until the life begins, and a lease longer
    shared
}

//! What all resources of a site share: sessions, callers, deadlines, and what is to be done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use quorate_protocol::{Clock, Fence, Ours, Shared, Tick, token};
use quorate_quorum::SiteId;
use quorate_session::session::{self, Event, Half, Packet, Roles, Sessions};
use quorate_session::{CallId, Card, ClaimRequest, Denial, Got, Kind, Loss, Name};

use super::Resource;
use super::call::{Call, Place};
use super::words::Words;
use crate::disk::{Disk, Past};
use crate::effect::{Effect, Grant};
use crate::registry::{Engine, Factory, Speech};
use crate::resource::{Act, Bench};
use crate::said::Said;
use crate::{Config, TOKENS_MAX};

/// Everything of a site but its table.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    pub(super) config: Config,
    /// The time of the latest step.
    pub(super) now: Tick,
    pub(super) sessions: Sessions<Said>,
    pub(super) shared: Shared,
    pub(super) factory: Factory,
    /// Boxed, because the nodes of a map have room to spare.
    pub(super) calls: BTreeMap<CallId, Box<Call>>,
    /// When the site must do something about which call.
    due: BTreeSet<(Tick, CallId)>,
    /// When a timer of which resource runs out, the first of each.
    pub(super) timers: BTreeSet<(Tick, Name)>,
    /// The waiting calls that wait for nobody.
    pub(super) hasty: BTreeSet<CallId>,
    /// The calls inside of which a voucher is silent, and until when they were told to be good.
    pub(super) waning: BTreeMap<CallId, Tick>,
    /// The last horizon told.
    pub(super) horizon: Tick,
    /// Whether leases have moved since validity was reviewed, and whether one was lost or silent.
    pub(super) moved: bool,
    pub(super) shaken: bool,
    /// The resources of which a message came since, while a grant was waning.
    pub(super) answered: BTreeSet<Name>,
    pub(super) words: Words,
    /// Those who were let in on a word that had run out when it came.
    pub(super) void: Vec<CallId>,
    /// What is on disk, or will be before anything that is said from now on.
    pub(super) safe: Disk,
    /// The latest record the driver was asked to write.
    pub(super) asked: Disk,
    /// What was promised of each token, as it is on disk too.
    pub(super) tokens: BTreeMap<Name, token::Durable>,
    pub(super) out: Vec<Effect>,
    pub(super) own: VecDeque<(Half, Said)>,
    pub(super) pending: VecDeque<session::Effect<Said>>,
    /// How many messages of protocols went to other sites.
    pub(super) sent: u64,
    acts: Vec<Act>,
    wake: Option<Tick>,
}

impl Desk {
    /// The order of a restart: what was read is raised and synced before the first byte, the
    /// Lamport clock and the fences go on above their ceilings, and the quarantine runs from now.
    pub(super) fn start(now: Tick, config: Config, past: Past) -> Self {
        let Past { disk, tokens } = past;
        let (me, n) = (config.site, config.quorums.n());
        let peers = || SiteId::all(n).filter(|&peer| peer != me);
        let (sessions, _) = Sessions::start(
            now,
            me,
            peers().map(|peer| (peer, Roles::Both)),
            config.terms,
            disk.sessions,
        );
        let incarnation = u32::try_from(sessions.incarnation().0);
        let incarnation = incarnation.expect("2^32 restarts outlast any disk");
        let mut shared = Shared::new(me, Arc::clone(&config.quorums))
            .with_fence_block(config.fence_block)
            .with_past(incarnation, Clock::at(disk.clock), disk.ceil);
        for peer in peers() {
            shared.sessions.set_ours(peer, Ours::default());
            shared.sessions.set_theirs(peer, None);
        }
        shared.assured = Some(BTreeSet::new());
        shared.quarantined = sessions.quarantined_until() > now;
        let factory = Factory::new(&config);
        let mut desk = Self {
            config,
            now,
            sessions,
            shared,
            factory,
            calls: BTreeMap::new(),
            due: BTreeSet::new(),
            timers: BTreeSet::new(),
            hasty: BTreeSet::new(),
            waning: BTreeMap::new(),
            horizon: Tick::ZERO,
            moved: false,
            shaken: false,
            answered: BTreeSet::new(),
            words: Words::default(),
            void: Vec::new(),
            safe: disk,
            asked: disk,
            tokens,
            out: Vec::new(),
            own: VecDeque::new(),
            pending: VecDeque::new(),
            sent: 0,
            acts: Vec::new(),
            wake: None,
        };
        desk.persist_birth();
        desk
    }

    pub(super) fn me(&self) -> SiteId {
        self.config.site
    }

    pub(super) fn bench(&mut self) -> Bench<'_> {
        Bench {
            now: self.now,
            shared: &mut self.shared,
            local_turns: self.config.local_turns,
            acts: &mut self.acts,
        }
    }

    pub(super) fn note(&mut self, about: SiteId, what: &'static str) {
        self.out.push(Effect::Note(about, what));
    }

    /// Lets the sessions handle something. What is the driver's goes out in its order; the rest
    /// waits for the action at hand to end.
    pub(super) fn drive_sessions(&mut self, input: session::Input<Said>) {
        let frame = |packet: &Packet<Said>| {
            matches!(
                packet,
                Packet::Up(..) | Packet::Down(..) | Packet::UpTo(..) | Packet::DownTo(..)
            )
        };
        // Frames of a stream move no lease, and there are many of them.
        self.moved |= !matches!(&input, session::Input::Packet(_, packet) if frame(packet));
        let effects = self.sessions.step(self.now, input);
        self.absorb(effects);
    }

    fn absorb(&mut self, effects: Vec<session::Effect<Said>>) {
        for effect in effects {
            match effect {
                session::Effect::Packet(to, packet) => self.out.push(Effect::Packet(to, packet)),
                session::Effect::Persist(durable) => self.persist_sessions(durable),
                session::Effect::Note(about, what) => self.note(about, what),
                session::Effect::Wake(_) => {}
                effect => {
                    // Several may be over at once: none of them counts from now on, though the
                    // protocols are told of one after the other.
                    if let session::Effect::Tell(Event::Lost(peer)) = effect {
                        self.shared.sessions.set_ours(peer, Ours::default());
                    }
                    self.pending.push_back(effect);
                }
            }
        }
    }

    /// Says something to a half of a site, which may be this one.
    pub(super) fn say(&mut self, to: SiteId, half: Half, said: Said) {
        if to == self.me() {
            return self.own.push_back((half, said));
        }
        let bytes = said.bytes();
        let mut effects = Vec::new();
        self.sessions.send((to, half), said, bytes, &mut effects);
        self.absorb(effects);
    }

    /// Brings what the protocols read of our session at `peer` up to date.
    pub(super) fn refresh(&mut self, peer: SiteId) {
        let Some(view) = self.sessions.at(peer) else { return };
        if self.shared.sessions.ours(peer).number == Some(view.number) {
            let quarantined = view.quarantined_until > self.now;
            let ours = Ours { number: Some(view.number), silent: view.silent, quarantined };
            self.shared.sessions.set_ours(peer, ours);
        }
    }

    /// Notes that leases move: a peer's here, or ours there.
    pub(super) fn note_renewal(&mut self, peer: SiteId, packet: &Packet<Said>) {
        match packet {
            Packet::Renew(..) => {
                self.words.renewed.insert(peer);
            }
            Packet::Renewed(..) => self.words.moved = true,
            _ => {}
        }
    }

    /// Notes what became of a session, before the protocols are told.
    pub(super) fn note_session(&mut self, event: Event) {
        let sessions = &mut self.shared.sessions;
        match event {
            Event::Open(peer, number) => {
                sessions.set_ours(peer, Ours { number: Some(number), ..Ours::default() });
                self.refresh(peer);
            }
            Event::Silent(peer) => {
                self.shaken = true;
                self.refresh(peer);
            }
            Event::Lost(peer) => {
                self.shaken = true;
                self.words.shaken = true;
                sessions.set_ours(peer, Ours::default());
            }
            Event::Opened(peer, number) => sessions.set_theirs(peer, Some(number)),
            Event::Closed(peer) => sessions.set_theirs(peer, None),
        }
    }

    /// Whether the quarantine has just ended.
    pub(super) fn quarantine_is_over(&mut self) -> bool {
        let over = self.shared.quarantined && self.sessions.quarantined_until() <= self.now;
        self.shared.quarantined &= !over;
        over
    }

    /// Takes a call in.
    pub(super) fn enrol(&mut self, id: CallId, request: ClaimRequest) {
        let ClaimRequest { name, want, card, patience, hasty } = request;
        let deadline = patience.map(|patience| self.now + patience);
        if hasty {
            self.hasty.insert(id);
        }
        let place = Place::Waiting(deadline);
        let call = Call { name, want, card, since: self.now, place, got: None };
        self.due.extend(call.due().map(|when| (when, id)));
        self.calls.insert(id, Box::new(call));
    }

    /// Moves a call to another place.
    pub(super) fn place(&mut self, id: CallId, place: Place) {
        let call = self.calls.get_mut(&id).expect("a call that is not over");
        if let Some(when) = call.due() {
            self.due.remove(&(when, id));
        }
        call.place = place;
        self.hasty.remove(&id);
        self.due.extend(call.due().map(|when| (when, id)));
    }

    /// Forgets a call; `None` if it is over already.
    pub(super) fn dismiss(&mut self, id: CallId) -> Option<Call> {
        let call = self.calls.remove(&id)?;
        if let Some(when) = call.due() {
            self.due.remove(&(when, id));
        }
        self.waning.remove(&id);
        self.hasty.remove(&id);
        Some(*call)
    }

    /// The call that is due first, if it is due.
    pub(super) fn next_due(&self) -> Option<CallId> {
        let (when, call) = self.due.first()?;
        (*when <= self.now).then_some(*call)
    }

    /// Why a call that waited too long was not served.
    pub(super) fn why_too_late(&self, id: CallId, resource: &Resource) -> Denial {
        let quorums = resource.engine.part().quorums(&self.shared, id);
        if self.shared.can_ask(quorums, self.calls[&id].name.hash64()) {
            return Denial::TimedOut;
        }
        let (sites, needed) = (quorums.n(), quorums.min_size());
        Denial::NoQuorum { answering: self.shared.reachable().len(), sites, needed }
    }

    /// One of the callers that use a resource here, for people.
    pub(super) fn owner(&self, resource: &Resource) -> Option<Card> {
        let line = resource.engine.part().line();
        line.first().map(|call| self.calls[call].card.clone())
    }

    /// Does what a resource asked for.
    pub(super) fn carry_out(&mut self, name: &Name, resource: &Resource) {
        self.secure_clock();
        let mut acts = std::mem::take(&mut self.acts);
        for act in acts.drain(..) {
            match act {
                Act::Send(to, speech) => {
                    let half =
                        if speech.is_for_arbiter() { Half::Arbiter } else { Half::Requester };
                    let counts = to != self.me() && !speech.is_renewal();
                    if let Some(said) = self.put(to, name, resource, speech) {
                        self.sent += u64::from(counts);
                        self.say(to, half, said);
                    }
                }
                Act::Grant(id, ..) if self.valid_until(id, resource.engine.part()).is_none() => {
                    self.void.push(id);
                }
                Act::Grant(id, fence, got) => {
                    self.place(id, Place::Inside(fence));
                    let call = self.calls.get_mut(&id).expect("it was placed just now");
                    (call.since, call.got) = (self.now, Some(got.clone()));
                    self.tell_of_grant(id, (fence, got), resource);
                }
                Act::Lose(id, why) => {
                    self.dismiss(id);
                    self.out.push(Effect::Lost(id, Loss::Lapsed(why)));
                }
                Act::Stop(id, why) => {
                    let until = self.valid_until(id, resource.engine.part());
                    self.stop(id, until.unwrap_or(self.now), why.to_string().into());
                }
                Act::Deny(id, denial) => {
                    self.dismiss(id);
                    self.out.push(Effect::Denied(id, denial));
                }
                Act::Persist(record) => self.persist(name, record),
                Act::Moved => self.moved = true,
                Act::Regenerated(what) => self.out.push(Effect::Regenerated(name.clone(), what)),
            }
        }
        self.acts = acts;
        assert!(self.shared.ceil() <= self.safe.ceil, "I4: the ceiling on disk is the highest");
    }

    /// A protocol's message, with our word or its deadline where it needs one; `None` if the
    /// receiver could not read that.
    fn put(
        &mut self,
        to: SiteId,
        name: &Name,
        resource: &Resource,
        speech: Speech,
    ) -> Option<Said> {
        if to != self.me() && speech.is_timed() {
            return self.put_timed(to, name, resource, speech);
        }
        let (name, kind, part) = (name.clone(), resource.kind.clone(), resource.engine.part());
        let about = speech.word().filter(|_| to != self.me());
        Some(match about.and_then(|about| self.give_word(to, &name, part, about)) {
            Some(word) => Said::Vouched(name, kind, speech, word),
            None => Said::Of(name, kind, speech),
        })
    }

    fn tell_of_grant(&mut self, id: CallId, (fence, got): (Fence, Got), resource: &Resource) {
        let until = self.valid_until(id, resource.engine.part());
        let until = until.expect("who enters has a quorum of leases");
        self.out.push(Effect::Grant(id, Grant { fence, got, until }));
        if !self.is_steady(id, resource.engine.part(), until) {
            self.waning.insert(id, until);
            self.out.push(Effect::Waning(id, until));
        }
    }

    /// A resource of which nothing is known but what is on disk.
    pub(super) fn make(&mut self, name: &Name, kind: &Kind) -> Option<Engine> {
        if !self.has_room(name, kind) {
            return None;
        }
        let durable = self.tokens.get(name).cloned().unwrap_or_default();
        self.factory.make(kind, durable)
    }

    /// Whether a lock of this kind can be had, or is known already.
    pub(super) fn has_room(&self, name: &Name, kind: &Kind) -> bool {
        *kind != Kind::Token || self.tokens.len() < TOKENS_MAX || self.tokens.contains_key(name)
    }

    /// Whether a resource is in use; one that is not leaves its numbers behind.
    pub(super) fn keeps(&mut self, name: &Name, resource: &Resource) -> bool {
        let part = resource.engine.part();
        let vacant = part.is_vacant(self.now);
        if vacant {
            part.retire(&mut self.shared);
            self.set_timer(name, part.timer(), None);
        }
        !vacant
    }

    /// Notes when a resource wants to be woken, and did before.
    pub(super) fn set_timer(&mut self, name: &Name, before: Option<Tick>, after: Option<Tick>) {
        if before != after {
            before.map(|when| self.timers.remove(&(when, name.clone())));
            self.timers.extend(after.map(|when| (when, name.clone())));
        }
    }

    pub(super) fn deadline(&self) -> Option<Tick> {
        let due = self.due.first().map(|(when, _)| *when);
        let timer = self.timers.first().map(|(when, _)| *when);
        let quarantine = self.sessions.quarantined_until();
        let cleared = self.shared.quarantined.then_some(quarantine);
        let words = self.words.deadline();
        [self.sessions.deadline(), due, timer, cleared, words].into_iter().flatten().min()
    }

    pub(super) fn ask_to_be_woken(&mut self) {
        let deadline = self.deadline();
        if deadline != self.wake {
            self.wake = deadline;
            self.out.extend(deadline.map(Effect::Wake));
        }
    }
}

//! A protocol at every site of a cluster, and the channels between them.

mod delegations;
mod delivery;
mod erased;
mod faults;
mod links;
mod refusal;
mod show;
mod start;
mod uncompared;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use quorate_protocol::{
    ClaimId, Effect, Fence, Input, Out, Record, Shared, Tick, Ticket, Violation, Why,
};
use quorate_quorum::{SiteId, SiteSet};
use strum::{EnumString, IntoStaticStr};

use self::delegations::DelegatedHolder;
use self::faults::CrashedHolder;
use self::links::{LinkState, Links};
use self::uncompared::{Fixed, Scratch};
use crate::channels::{Channels, Lane};
use crate::event::{Caller, Event, Grant, Message, Observer};
use crate::memo::Memo;
use crate::property::{Monitor, WorldCounts};
use crate::{Breach, SimProtocol};

pub use self::erased::{AnyWorld, Channel, TimerView};
pub use self::faults::{Fault, Faults, SessionlessFaults};

/// A protocol at every site of a cluster, and the channels between them.
///
/// It does nothing by itself: scripts, seeds and the checker decide who acts and which channel
/// delivers next. Sites and channels are shared between clones and copied when written, so the
/// checker can afford a clone a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World<P: SimProtocol> {
    nodes: Vec<Memo<Node<P>>>,
    channels: Channels<P::Message>,
    now: Tick,
    waiting: usize,
    inside: usize,
    occupied: usize,
    monitor: Monitor<P>,
    /// The sessions; `None` in the papers' world, where channels never fail.
    contract: Option<Contract>,
    links: Links,
    crashed_holders: Vec<CrashedHolder>,
    delegated_holders: Vec<DelegatedHolder>,
    /// The delegating requests of crashed sites, and the sites that support each.
    crashed_roots: BTreeMap<Ticket, SiteSet>,
    /// The delegating requests that lost their quorums.
    expired_roots: BTreeSet<Ticket>,
    /// The callers of crashed sites whose grants are valid until some time.
    lingering: Vec<(SiteId, ClaimId, Tick)>,
    /// How many timers are armed.
    armed: usize,
    /// How many of them ran out one after the other without an effect.
    futile: u32,
    scratch: Scratch<P>,
    fixed: Fixed<P>,
}

/// One site: its part in the protocol, and its callers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node<P: SimProtocol> {
    protocol: P,
    shared: Shared,
    claims: BTreeMap<ClaimId, ClaimState>,
    claims_made: u32,
    vacant: bool,
    /// The epoch of the token that is here.
    held_token: Option<u64>,
    /// The timers that are armed, and when they run out.
    timers: BTreeMap<P::Timer, Tick>,
    /// The fence ceiling on disk.
    disk_ceil: Fence,
    /// What else is on disk.
    disk: Option<Record>,
    /// Whether it runs.
    up: bool,
}

/// The state of a claim that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ClaimState {
    /// It waits.
    Waiting,
    /// It is inside.
    Inside,
    /// It was inside, and lost the lock before it left.
    Lost,
}

/// Whether lost sessions and crashed sites come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Contract {
    /// Whether a session that was lost is opened again.
    pub reopens: bool,
    /// Whether a site that crashed starts again.
    pub restarts: bool,
    /// The step in which fence ceilings move: small, so that it happens.
    pub fence_block: u64,
}

impl Contract {
    /// Everything comes back, and fence ceilings move in steps of two.
    pub const MENDED: Self = Self { reopens: true, restarts: true, fence_block: 2 };
}

impl<P: SimProtocol> World<P> {
    /// How many sites there are.
    pub(crate) fn n(&self) -> usize {
        self.nodes.len()
    }

    /// The present moment.
    pub(crate) fn now(&self) -> Tick {
        self.now
    }

    /// Moves the present moment; time never runs backwards.
    pub(crate) fn set_now(&mut self, now: Tick) {
        assert!(now >= self.now, "virtual time only moves forward");
        self.now = now;
        self.end_lingering();
    }

    /// Sets a site's Lamport clock, as if it had seen a ticket of that time.
    pub(crate) fn set_clock(&mut self, site: SiteId, time: u64) {
        self.nodes[site.index()].make_mut().shared.clock.observe(time);
    }

    /// The first property that broke.
    pub(crate) fn breach(&self) -> Option<&Breach> {
        self.monitor.breach()
    }

    /// A site's part in the protocol.
    pub(crate) fn protocol(&self, site: SiteId) -> &P {
        &self.nodes[site.index()].protocol
    }

    /// The grant of a claim that is inside.
    pub(crate) fn grant(&self, site: SiteId, claim: ClaimId) -> Option<&P::Grant> {
        self.monitor.grant(site, claim)
    }

    /// How many claims a site's callers have made.
    pub(crate) fn claims_made(&self, site: SiteId) -> u32 {
        self.nodes[site.index()].claims_made
    }

    /// How many claims wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many messages are under way.
    pub(crate) fn in_flight(&self) -> usize {
        self.channels.in_flight()
    }

    /// The channels that can deliver something.
    pub(crate) fn busy_channels(&self) -> impl Iterator<Item = (SiteId, SiteId, Lane)> + '_ {
        // Messages of a new session wait until its client knows that it has one.
        let blocked = move |from, to, lane| lane == Lane::Down && self.is_opening(to, from);
        self.channels.busy().filter(move |&(from, to, lane)| !blocked(from, to, lane))
    }

    /// The messages under way in one lane, the next one first. In the papers' world all are `Up`.
    pub(crate) fn under_way(
        &self,
        from: SiteId,
        to: SiteId,
        lane: Lane,
    ) -> impl Iterator<Item = &P::Message> + '_ {
        self.channels.queue(from, to, lane).into_iter().flatten()
    }

    /// A caller at `site` asks for the lock.
    ///
    /// # Errors
    ///
    /// The site cannot take the claim; nothing has changed.
    pub(crate) fn acquire(
        &mut self,
        site: SiteId,
        claim: P::Claim,
        watch: &mut dyn Observer,
    ) -> Result<ClaimId, Violation> {
        let node = &self.nodes[site.index()];
        let id = ClaimId(node.claims_made + 1);
        watch.see(0, &Event::Acquires(Caller::of::<P>(site, id)));
        let node = self.begin(site);
        node.claims_made += 1;
        node.claims.insert(id, ClaimState::Waiting);
        self.waiting += 1;
        self.monitor.on_wait(&self.fixed.0.options, site, id, &claim);
        let done = self.step(site, 0, Input::Acquire(id, claim), watch);
        if done.is_err() {
            let node = self.begin(site);
            node.claims_made -= 1;
            node.claims.remove(&id);
            self.waiting -= 1;
            self.monitor.on_end(site, id);
        }
        self.finish(site, watch);
        done.map(|()| id)
    }

    /// The caller of `claim` leaves.
    ///
    /// # Errors
    ///
    /// It is not inside; nothing has changed.
    pub(crate) fn release(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        watch: &mut dyn Observer,
    ) -> Result<(), Violation> {
        if self.claim_state(site, claim) != Some(ClaimState::Inside) {
            return Err(Violation::NotInside(claim));
        }
        watch.see(0, &Event::Releases(Caller::of::<P>(site, claim)));
        self.forget(site, claim);
        let done = self.step(site, 0, Input::Release(claim), watch);
        self.finish(site, watch);
        done
    }

    /// The caller of `claim` does not wait any longer.
    ///
    /// # Errors
    ///
    /// It does not wait; nothing has changed.
    pub(crate) fn give_up(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        watch: &mut dyn Observer,
    ) -> Result<(), Violation> {
        if self.claim_state(site, claim) != Some(ClaimState::Waiting) {
            return Err(Violation::NotWaiting(claim));
        }
        watch.see(0, &Event::GivesUp(Caller::of::<P>(site, claim)));
        self.forget(site, claim);
        let done = self.step(site, 0, Input::Abandon(claim), watch);
        self.finish(site, watch);
        done
    }

    /// The state of `claim`, if it is not over.
    pub(crate) fn claim_state(&self, site: SiteId, claim: ClaimId) -> Option<ClaimState> {
        self.nodes[site.index()].claims.get(&claim).copied()
    }

    fn begin(&mut self, site: SiteId) -> &mut Node<P> {
        self.nodes[site.index()].make_mut()
    }

    fn forget(&mut self, site: SiteId, claim: ClaimId) {
        match self.begin(site).claims.remove(&claim) {
            Some(ClaimState::Waiting) => {
                self.waiting -= 1;
                self.monitor.on_end(site, claim);
            }
            Some(ClaimState::Inside) => {
                self.inside -= 1;
                self.monitor.on_leave(site, claim);
                self.remove_delegated_holder(site, claim);
            }
            Some(ClaimState::Lost) | None => {}
        }
    }

    fn receive(&mut self, from: SiteId, to: SiteId, message: P::Message, watch: &mut dyn Observer) {
        watch.see(0, &Event::Receives { from, to, message: Message::of::<P>(&message) });
        if let Err(violation) = self.step(to, 1, Input::Deliver(from, message), watch) {
            self.monitor.on_violation(to, violation);
        }
    }

    /// Handles messages of a site to itself, then checks the properties.
    fn finish(&mut self, site: SiteId, watch: &mut dyn Observer) {
        self.absorb(site, watch);
        self.check_properties();
    }

    fn absorb(&mut self, site: SiteId, watch: &mut dyn Observer) {
        while let Some(message) = self.scratch.own.pop_front() {
            self.receive(site, site, message, watch);
        }
        let node = self.begin(site);
        let (was, is) = (node.vacant, node.protocol.is_vacant());
        node.vacant = is;
        let (before, after) = (node.held_token, node.protocol.held_token());
        node.held_token = after;
        self.monitor.on_token(before, after);
        self.occupied = self.occupied + usize::from(was) - usize::from(is);
    }

    fn check_properties(&mut self) {
        let owed = match self.contract {
            Some(contract) => self.owed(contract.reopens, contract.restarts).len(),
            None if P::LOSSY => self.owed(true, true).len(),
            None => 0,
        };
        let in_flight = self.channels.in_flight() + owed;
        let quiet = in_flight + self.armed + self.inside == 0 && self.waiting > 0;
        let counts = WorldCounts {
            in_flight,
            armed: self.armed,
            futile: self.futile,
            inside: self.inside,
            waiting: self.waiting,
            unservable: if quiet { self.unservable() } else { 0 },
            occupied: self.occupied,
            mended: self.contract.is_none_or(|contract| contract.reopens && contract.restarts),
        };
        self.monitor.on_action_done(&counts, &self.fixed.0.options);
    }

    /// How many claims wait whose site has no sessions at a quorum for them.
    fn unservable(&self) -> usize {
        if self.contract.is_none() {
            return 0;
        }
        let of_node = |node: &Memo<Node<P>>| {
            let (shared, reachable) = (&node.shared, node.shared.reachable());
            let waiting = node.claims.iter().filter(|(_, state)| **state == ClaimState::Waiting);
            let quorums = waiting.map(|(&id, _)| node.protocol.quorums_of(shared, id));
            quorums.filter(|quorums| !shared.is_quorum_of(*quorums, 0, &reachable)).count()
        };
        self.nodes.iter().map(of_node).sum()
    }

    /// Puts a message under way. In a world of sessions it travels in one of them.
    fn send(&mut self, from: SiteId, to: SiteId, message: P::Message) {
        if self.contract.is_none() {
            self.monitor.on_token(None, P::carried_token(&message));
            return self.channels.push(from, to, Lane::Up, message);
        }
        let up = P::is_for_arbiter(&message);
        let (client, server) = if up { (from, to) } else { (to, from) };
        let (sender_open, arrives) = match self.links.get(client, server).state {
            LinkState::Open => (true, true),
            LinkState::Lost => (!up, false),
            LinkState::Orphaned => (up, false),
            LinkState::Closed => (false, false),
            LinkState::Opening => (!up, !up),
        };
        if !sender_open {
            self.monitor.on_panic(from, &format!("it sends to {to} without a session: {message}"));
        }
        if arrives {
            self.monitor.on_token(None, P::carried_token(&message));
            self.channels.push(from, to, if up { Lane::Up } else { Lane::Down }, message);
        }
    }

    /// One step of one site, and its effects.
    fn step(
        &mut self,
        site: SiteId,
        depth: usize,
        input: Input<P>,
        watch: &mut dyn Observer,
    ) -> Result<(), Violation> {
        let estimated = watch.wants_estimates().then(|| self.protocol(site).view().etas);
        let node = self.nodes[site.index()].make_mut();
        let out = &mut self.scratch.out;
        let step = || node.protocol.step(&mut node.shared, self.now, input, out);
        match catch_unwind(AssertUnwindSafe(step)) {
            Ok(done) => done?,
            Err(panic) => {
                *out = Out::new();
                self.monitor.on_panic(site, panic_message(panic.as_ref()));
            }
        }
        while let Some(effect) = self.scratch.out.pop() {
            self.carry_out(site, depth, effect, watch);
        }
        if let Some(before) = estimated {
            let now = self.protocol(site).view().etas;
            for eta in now.into_iter().filter(|eta| !before.contains(eta)) {
                watch.see(depth, &Event::Estimates(site, eta));
            }
        }
        Ok(())
    }

    fn carry_out(
        &mut self,
        site: SiteId,
        depth: usize,
        effect: Effect<P>,
        watch: &mut dyn Observer,
    ) {
        match effect {
            Effect::Send(to, message) => {
                let seen = Message::of::<P>(&message);
                watch.see(depth, &Event::Sends { from: site, to, message: seen });
                if to == site {
                    self.scratch.own.push_back(message);
                } else {
                    self.send(site, to, message);
                }
            }
            Effect::Grant(claim, grant) => {
                let caller = Caller::of::<P>(site, claim);
                watch.see(depth, &Event::Enters(caller, Grant::of::<P>(&grant)));
                self.waiting -= 1;
                if self.is_expired(&grant) {
                    self.monitor.on_end(site, claim);
                    return self.lose_delegated(site, claim, watch);
                }
                self.begin(site).claims.insert(claim, ClaimState::Inside);
                self.inside += 1;
                self.futile = 0;
                self.monitor.on_enter(site, claim, &grant);
                self.add_delegated_holder(site, claim, &grant);
            }
            Effect::Lose(claim, why) => {
                watch.see(depth, &Event::Loses(Caller::of::<P>(site, claim), why));
                self.begin(site).claims.insert(claim, ClaimState::Lost);
                self.inside -= 1;
                self.monitor.on_leave(site, claim);
                self.remove_delegated_holder(site, claim);
                if why == Why::Overdue {
                    self.release_lost(site, claim, watch);
                }
            }
            Effect::Contradiction(what) => self.monitor.on_panic(site, what),
            Effect::Ignore(why) => watch.see(depth, &Event::Ignores(site, why)),
            Effect::Regenerated(_) => {} // the messages say it
            Effect::Arm(timer, after) => self.arm(site, timer, after, watch),
            Effect::Disarm(timer) => self.disarm(site, timer),
            Effect::Persist(record) => self.write(site, record),
        }
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

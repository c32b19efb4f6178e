//! A protocol at every site of a cluster, and the channels between them.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use quorate_protocol::{ClaimId, Effect, Input, Out, Shared, Tick, Violation};
use quorate_quorum::{QuorumSystem, SiteId};

use crate::channels::Channels;
use crate::property::{Judge, Standing};
use crate::{Breach, Event, Observer, Subject};

/// A protocol at every site of a cluster, and the channels between them.
///
/// It moves only when told: scripts, seeds and the checker decide who acts and which channel
/// delivers next. Sites and channels are shared between clones and copied when written, so the
/// checker can afford a clone a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World<P: Subject> {
    nodes: Vec<Arc<Node<P>>>,
    channels: Channels<P::Message>,
    now: Tick,
    waiting: usize,
    inside: usize,
    occupied: usize,
    judge: Judge<P>,
    scratch: Scratch<P>,
}

/// One site: its part in the protocol, and its callers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node<P: Subject> {
    protocol: P,
    shared: Shared,
    claims: BTreeMap<ClaimId, Standpoint>,
    claims_made: u32,
    vacant: bool,
}

/// Where a claim is that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standpoint {
    /// It waits.
    Waiting,
    /// It is inside.
    Inside,
    /// It was inside, and lost the lock before it left.
    Lost,
}

impl<P: Subject> World<P> {
    /// A cluster at which nothing has happened yet.
    pub fn new(quorums: &Arc<dyn QuorumSystem>, options: &P::Options) -> Self {
        let node = |site| {
            Arc::new(Node {
                protocol: P::new_site(options),
                shared: Shared::new(site, Arc::clone(quorums)),
                claims: BTreeMap::new(),
                claims_made: 0,
                vacant: true,
            })
        };
        Self {
            nodes: SiteId::all(quorums.n()).map(node).collect(),
            channels: Channels::new(quorums.n()),
            now: Tick::ZERO,
            waiting: 0,
            inside: 0,
            occupied: 0,
            judge: Judge::new(),
            scratch: Scratch::default(),
        }
    }

    /// How many sites there are.
    pub fn n(&self) -> usize {
        self.nodes.len()
    }

    /// The present moment.
    pub fn now(&self) -> Tick {
        self.now
    }

    /// Moves the present moment; time never runs backwards.
    pub fn set_now(&mut self, now: Tick) {
        assert!(now >= self.now, "virtual time only moves forward");
        self.now = now;
    }

    /// Sets a site's Lamport clock, as if it had seen a ticket of that time.
    pub fn set_clock(&mut self, site: SiteId, time: u64) {
        Arc::make_mut(&mut self.nodes[site.index()]).shared.clock.observe(time);
    }

    /// The first property that broke.
    pub fn breach(&self) -> Option<&Breach> {
        self.judge.breach()
    }

    /// A site's part in the protocol.
    pub fn protocol(&self, site: SiteId) -> &P {
        &self.nodes[site.index()].protocol
    }

    /// The claims of a site's callers that are not over.
    pub fn claims(&self, site: SiteId) -> impl Iterator<Item = (ClaimId, Standpoint)> + '_ {
        self.nodes[site.index()].claims.iter().map(|(&claim, &standpoint)| (claim, standpoint))
    }

    /// How many claims a site's callers have made.
    pub fn claims_made(&self, site: SiteId) -> u32 {
        self.nodes[site.index()].claims_made
    }

    /// How many claims wait.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many messages are under way.
    pub fn in_flight(&self) -> usize {
        self.channels.in_flight()
    }

    /// The channels that carry something.
    pub fn busy_channels(&self) -> impl Iterator<Item = (SiteId, SiteId)> + '_ {
        self.channels.busy()
    }

    /// The next message of a channel.
    pub fn front(&self, from: SiteId, to: SiteId) -> Option<&P::Message> {
        self.channels.front(from, to)
    }

    /// All messages of a channel, the next one first.
    pub fn under_way(&self, from: SiteId, to: SiteId) -> impl Iterator<Item = &P::Message> + '_ {
        self.channels.queue(from, to)
    }

    /// A caller at `site` asks for the lock.
    ///
    /// # Errors
    ///
    /// The site cannot take the claim; nothing has changed.
    pub fn acquire(
        &mut self,
        site: SiteId,
        claim: P::Claim,
        watch: &mut impl Observer<P>,
    ) -> Result<ClaimId, Violation> {
        let node = &self.nodes[site.index()];
        let id = ClaimId(node.claims_made + 1);
        watch.see(0, &Event::Acquires(site, id));
        let node = self.begin(site);
        node.claims_made += 1;
        node.claims.insert(id, Standpoint::Waiting);
        self.waiting += 1;
        let done = self.step(site, 0, Input::Acquire(id, claim), watch);
        if done.is_err() {
            let node = self.begin(site);
            node.claims_made -= 1;
            node.claims.remove(&id);
            self.waiting -= 1;
        }
        self.finish(site, watch);
        done.map(|()| id)
    }

    /// The caller of `claim` leaves.
    ///
    /// # Errors
    ///
    /// It is not inside; nothing has changed.
    pub fn release(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        watch: &mut impl Observer<P>,
    ) -> Result<(), Violation> {
        if self.standpoint(site, claim) != Some(Standpoint::Inside) {
            return Err(Violation::NotInside(claim));
        }
        watch.see(0, &Event::Releases(site, claim));
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
    pub fn give_up(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        watch: &mut impl Observer<P>,
    ) -> Result<(), Violation> {
        if self.standpoint(site, claim) != Some(Standpoint::Waiting) {
            return Err(Violation::NotWaiting(claim));
        }
        watch.see(0, &Event::GivesUp(site, claim));
        self.forget(site, claim);
        let done = self.step(site, 0, Input::Abandon(claim), watch);
        self.finish(site, watch);
        done
    }

    /// The next message of a channel arrives; false if there is none.
    pub fn deliver(&mut self, from: SiteId, to: SiteId, watch: &mut impl Observer<P>) -> bool {
        let Some(message) = self.channels.pop(from, to) else { return false };
        self.receive(from, to, message, watch);
        self.finish(to, watch);
        true
    }

    /// Where `claim` is, if it is not over.
    pub fn standpoint(&self, site: SiteId, claim: ClaimId) -> Option<Standpoint> {
        self.nodes[site.index()].claims.get(&claim).copied()
    }

    fn begin(&mut self, site: SiteId) -> &mut Node<P> {
        Arc::make_mut(&mut self.nodes[site.index()])
    }

    fn forget(&mut self, site: SiteId, claim: ClaimId) {
        match self.begin(site).claims.remove(&claim) {
            Some(Standpoint::Waiting) => self.waiting -= 1,
            Some(Standpoint::Inside) => {
                self.inside -= 1;
                self.judge.on_leave(site, claim);
            }
            Some(Standpoint::Lost) | None => {}
        }
    }

    fn receive(
        &mut self,
        from: SiteId,
        to: SiteId,
        message: P::Message,
        watch: &mut impl Observer<P>,
    ) {
        watch.see(0, &Event::Receives { from, to, message: &message });
        if let Err(violation) = self.step(to, 1, Input::Deliver(from, message), watch) {
            self.judge.on_violation(to, violation);
        }
    }

    /// Handles what a site sent to itself, then judges.
    fn finish(&mut self, site: SiteId, watch: &mut impl Observer<P>) {
        while let Some(message) = self.scratch.own.pop_front() {
            self.receive(site, site, message, watch);
        }
        let node = self.begin(site);
        let (was, is) = (node.vacant, node.protocol.is_vacant());
        node.vacant = is;
        self.occupied = self.occupied + usize::from(was) - usize::from(is);
        self.judge.on_action_done(&Standing {
            in_flight: self.channels.in_flight(),
            inside: self.inside,
            waiting: self.waiting,
            occupied: self.occupied,
        });
    }

    /// One step of one site, and its effects.
    fn step(
        &mut self,
        site: SiteId,
        depth: usize,
        input: Input<P>,
        watch: &mut impl Observer<P>,
    ) -> Result<(), Violation> {
        let node = Arc::make_mut(&mut self.nodes[site.index()]);
        let out = &mut self.scratch.out;
        let step = || node.protocol.step(&mut node.shared, self.now, input, out);
        match catch_unwind(AssertUnwindSafe(step)) {
            Ok(done) => done?,
            Err(panic) => {
                *out = Out::new();
                self.judge.on_panic(site, panic_message(panic.as_ref()));
            }
        }
        while let Some(effect) = self.scratch.out.pop() {
            self.carry_out(site, depth, effect, watch);
        }
        Ok(())
    }

    fn carry_out(
        &mut self,
        site: SiteId,
        depth: usize,
        effect: Effect<P>,
        watch: &mut impl Observer<P>,
    ) {
        match effect {
            Effect::Send(to, message) => {
                watch.see(depth, &Event::Sends { from: site, to, message: &message });
                if to == site {
                    self.scratch.own.push_back(message);
                } else {
                    self.channels.push(site, to, message);
                }
            }
            Effect::Grant(claim, grant) => {
                watch.see(depth, &Event::Enters(site, claim, &grant));
                self.begin(site).claims.insert(claim, Standpoint::Inside);
                self.waiting -= 1;
                self.inside += 1;
                self.judge.on_enter(site, claim, &grant);
            }
            Effect::Lose(claim, why) => {
                watch.see(depth, &Event::Loses(site, claim, why));
                self.begin(site).claims.insert(claim, Standpoint::Lost);
                self.inside -= 1;
                self.judge.on_leave(site, claim);
            }
            Effect::Ignore(why) => watch.see(depth, &Event::Ignores(site, why)),
            Effect::Arm(never, _) | Effect::Disarm(never) => match never {},
            Effect::Persist(record) => match record {},
        }
    }
}

/// Room that is used during a step and empty between steps.
#[derive(Debug)]
struct Scratch<P: Subject> {
    out: Out<P>,
    own: VecDeque<P::Message>,
}

impl<P: Subject> Default for Scratch<P> {
    fn default() -> Self {
        Self { out: Out::new(), own: VecDeque::new() }
    }
}

impl<P: Subject> Clone for Scratch<P> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<P: Subject> PartialEq for Scratch<P> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<P: Subject> Eq for Scratch<P> {}

impl<P: Subject> std::hash::Hash for Scratch<P> {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

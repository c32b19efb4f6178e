//! A world of any protocol, as scripts, random runs and the checker drive it.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use quorate_protocol::group::Group;
use quorate_protocol::{ClaimId, SessionNo, Tick, View, Violation};
use quorate_quorum::SiteId;

use super::{ClaimState, World};
use crate::event::{Grant, Message};
use crate::{Breach, Claim, Fault, Lane, Observer, SimProtocol};

/// A sender, a receiver, and the lane between them.
pub type Channel = (SiteId, SiteId, Lane);

/// A cluster of any protocol: its state at every site, and the channels between them.
///
/// It does nothing by itself: scripts, seeds and the checker decide who acts and which channel
/// delivers next. Worlds are cloned, compared and hashed by value; clones share what neither of
/// them has written to, so the checker can afford a clone a step.
pub trait AnyWorld: Debug + Send + Sync + Any {
    /// The same world once more.
    fn boxed_clone(&self) -> Box<dyn AnyWorld>;

    /// Whether it is the same as a world of the same protocol.
    fn is_same(&self, other: &dyn AnyWorld) -> bool;

    /// Feeds its state to `hasher`.
    fn hash_into(&self, hasher: &mut dyn Hasher);

    /// How many sites there are.
    fn n(&self) -> usize;

    /// The present moment.
    fn now(&self) -> Tick;

    /// Moves the present moment.
    fn set_now(&mut self, now: Tick);

    /// Sets a site's Lamport clock.
    fn set_clock(&mut self, site: SiteId, time: u64);

    /// Makes `host` the preferred host of the stages of `group`, at every site.
    fn prefer_host(&mut self, group: &Group, host: SiteId);

    /// The first property that broke.
    fn breach(&self) -> Option<&Breach>;

    /// The claims of a site's callers that are not over, and their states.
    fn claims(&self, site: SiteId) -> &BTreeMap<ClaimId, ClaimState>;

    /// How many claims a site's callers have made.
    fn claims_made(&self, site: SiteId) -> u32;

    /// How many claims wait.
    fn waiting(&self) -> usize;

    /// How many callers are inside.
    fn inside(&self) -> usize;

    /// Whether nobody waits or is inside, and no site remembers a request.
    fn is_at_rest(&self) -> bool;

    /// How many messages are under way.
    fn in_flight(&self) -> usize;

    /// Visits the channels that can deliver something.
    fn each_busy_channel(&self, visit: &mut dyn FnMut(Channel));

    /// The messages under way in one channel, the next one first.
    fn under_way(&self, channel: Channel) -> Vec<Message<'_>>;

    /// How many messages are under way in one channel.
    fn under_way_count(&self, channel: Channel) -> usize;

    /// The places of a channel's messages, without those that equal the one before.
    fn distinct_places(&self, channel: Channel) -> Vec<usize>;

    /// Whether any timer is armed.
    fn has_timers(&self) -> bool;

    /// The timers of a site that are armed, in their order.
    fn timers(&self, site: SiteId) -> Vec<TimerView>;

    /// The names of these timers.
    fn timer_names(&self, site: SiteId) -> Vec<String>;

    /// When the next timer runs out.
    fn next_due(&self) -> Option<Tick>;

    /// When the next timer runs out on whose time safety rests.
    fn next_deadline(&self) -> Option<Tick>;

    /// Whether a site runs.
    fn is_up(&self, site: SiteId) -> bool;

    /// Whether a session can fall silent, or be lost.
    fn is_open(&self, client: SiteId, server: SiteId) -> bool;

    /// Whether the client has had no reply from the server for half a lease.
    fn is_silent(&self, client: SiteId, server: SiteId) -> bool;

    /// Whether the client has yet to learn that it has a new session at the server.
    fn is_opening(&self, client: SiteId, server: SiteId) -> bool;

    /// The number of the client's session at the server.
    fn session(&self, client: SiteId, server: SiteId) -> SessionNo;

    /// The faults that must follow from those that have happened.
    fn owed(&self, reopens: bool, restarts: bool) -> Vec<Fault>;

    /// Why `fault` is impossible now; `None` if it is possible.
    fn refusal(&self, fault: Fault) -> Option<String>;

    /// Who is inside, who waits, and for how long, as a site shows it.
    fn view(&self, site: SiteId) -> View;

    /// What a site shows of itself under a name.
    ///
    /// # Errors
    ///
    /// A site of this protocol shows nothing of that name; the text lists the names.
    fn show(&self, site: SiteId, name: &str) -> Result<String, String>;

    /// The grant of a claim that is inside.
    fn grant(&self, site: SiteId, claim: ClaimId) -> Option<Grant<'_>>;

    /// Whether the grant of a claim is as the words say; `None` if it is not inside.
    ///
    /// # Errors
    ///
    /// The words do not describe a grant of this protocol; the text says what would.
    fn grant_is(
        &self,
        site: SiteId,
        claim: ClaimId,
        words: &[&str],
    ) -> Result<Option<bool>, String>;

    /// A caller at `site` asks for the lock.
    ///
    /// # Errors
    ///
    /// The site cannot take the claim; nothing has changed.
    fn acquire(
        &mut self,
        site: SiteId,
        claim: &Claim,
        watch: &mut dyn Observer,
    ) -> Result<ClaimId, Violation>;

    /// The caller of `claim` leaves.
    ///
    /// # Errors
    ///
    /// It is not inside; nothing has changed.
    fn release(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        watch: &mut dyn Observer,
    ) -> Result<(), Violation>;

    /// The caller of `claim` does not wait any longer.
    ///
    /// # Errors
    ///
    /// It does not wait; nothing has changed.
    fn give_up(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        watch: &mut dyn Observer,
    ) -> Result<(), Violation>;

    /// The message at some place of a channel arrives; false if there is none.
    fn deliver_at(&mut self, channel: Channel, at: usize, watch: &mut dyn Observer) -> bool;

    /// The message at some place of a channel never arrives; false if there is none.
    fn drop_at(&mut self, channel: Channel, at: usize, watch: &mut dyn Observer) -> bool;

    /// The message at some place of a channel is going to come twice.
    fn duplicate(&mut self, channel: Channel, at: usize) -> bool;

    /// The timer at this place among those of a site runs out; false if there is none.
    fn expire(&mut self, site: SiteId, at: usize, watch: &mut dyn Observer) -> bool;

    /// Applies `fault`.
    fn suffer(&mut self, fault: Fault, watch: &mut dyn Observer);
}

/// A timer that is armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerView {
    /// When it runs out.
    pub due: Tick,
    /// Whether safety rests on that time.
    pub is_deadline: bool,
}

impl dyn AnyWorld {
    /// The state of `claim`, if it is not over.
    pub fn claim_state(&self, site: SiteId, claim: ClaimId) -> Option<ClaimState> {
        self.claims(site).get(&claim).copied()
    }

    /// The channels that can deliver something.
    pub fn busy_channels(&self) -> Vec<Channel> {
        let mut busy = Vec::new();
        self.each_busy_channel(&mut |channel| busy.push(channel));
        busy
    }

    /// The next message of a channel arrives; false if there is none.
    pub fn deliver(&mut self, channel: Channel, watch: &mut dyn Observer) -> bool {
        self.deliver_at(channel, 0, watch)
    }

    /// Delivers until nothing is under way, the channels in the order of senders and receivers.
    pub fn settle(&mut self, watch: &mut dyn Observer) {
        while let Some(&channel) = self.busy_channels().first() {
            self.deliver(channel, watch);
        }
    }

    /// The timer of this name runs out, whatever the time is; false if it is not armed.
    pub fn expire_named(&mut self, site: SiteId, name: &str, watch: &mut dyn Observer) -> bool {
        let at = self.timer_names(site).iter().position(|timer| timer == name);
        at.is_some_and(|at| self.expire(site, at, watch))
    }
}

impl Clone for Box<dyn AnyWorld> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

impl PartialEq for dyn AnyWorld {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl Eq for dyn AnyWorld {}

impl Hash for dyn AnyWorld {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.hash_into(hasher);
    }
}

impl<P: SimProtocol> AnyWorld for World<P> {
    fn boxed_clone(&self) -> Box<dyn AnyWorld> {
        Box::new(self.clone())
    }

    fn is_same(&self, other: &dyn AnyWorld) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }

    fn n(&self) -> usize {
        self.n()
    }

    fn now(&self) -> Tick {
        self.now()
    }

    fn set_now(&mut self, now: Tick) {
        self.set_now(now);
    }

    fn set_clock(&mut self, site: SiteId, time: u64) {
        self.set_clock(site, time);
    }

    fn prefer_host(&mut self, group: &Group, host: SiteId) {
        for node in &mut self.nodes {
            node.make_mut().shared.prefer_host(group.clone(), host);
        }
    }

    fn breach(&self) -> Option<&Breach> {
        self.breach()
    }

    fn claims(&self, site: SiteId) -> &BTreeMap<ClaimId, ClaimState> {
        &self.nodes[site.index()].claims
    }

    fn claims_made(&self, site: SiteId) -> u32 {
        self.claims_made(site)
    }

    fn waiting(&self) -> usize {
        self.waiting()
    }

    fn inside(&self) -> usize {
        self.inside
    }

    fn is_at_rest(&self) -> bool {
        self.is_at_rest()
    }

    fn in_flight(&self) -> usize {
        self.in_flight()
    }

    fn each_busy_channel(&self, visit: &mut dyn FnMut(Channel)) {
        self.busy_channels().for_each(visit);
    }

    fn under_way(&self, (from, to, lane): Channel) -> Vec<Message<'_>> {
        self.under_way(from, to, lane).map(Message::of::<P>).collect()
    }

    fn under_way_count(&self, (from, to, lane): Channel) -> usize {
        self.channels.queue(from, to, lane).map_or(0, std::collections::VecDeque::len)
    }

    fn distinct_places(&self, (from, to, lane): Channel) -> Vec<usize> {
        let mut before = None;
        let messages = self.under_way(from, to, lane).enumerate();
        messages.filter_map(|(at, m)| (before.replace(m) != Some(m)).then_some(at)).collect()
    }

    fn has_timers(&self) -> bool {
        self.armed > 0
    }

    fn timers(&self, site: SiteId) -> Vec<TimerView> {
        let view = |(timer, due)| TimerView { due, is_deadline: P::is_deadline(timer) };
        self.timers(site).map(view).collect()
    }

    fn timer_names(&self, site: SiteId) -> Vec<String> {
        self.timers(site).map(|(timer, _)| timer.to_string()).collect()
    }

    fn next_due(&self) -> Option<Tick> {
        self.next_due(|_| true)
    }

    fn next_deadline(&self) -> Option<Tick> {
        self.next_due(P::is_deadline)
    }

    fn is_up(&self, site: SiteId) -> bool {
        self.is_up(site)
    }

    fn is_open(&self, client: SiteId, server: SiteId) -> bool {
        self.is_open(client, server)
    }

    fn is_silent(&self, client: SiteId, server: SiteId) -> bool {
        self.is_silent(client, server)
    }

    fn is_opening(&self, client: SiteId, server: SiteId) -> bool {
        self.is_opening(client, server)
    }

    fn session(&self, client: SiteId, server: SiteId) -> SessionNo {
        self.session(client, server)
    }

    fn owed(&self, reopens: bool, restarts: bool) -> Vec<Fault> {
        self.owed(reopens, restarts)
    }

    fn refusal(&self, fault: Fault) -> Option<String> {
        self.refusal(fault)
    }

    fn view(&self, site: SiteId) -> View {
        self.protocol(site).view()
    }

    fn show(&self, site: SiteId, name: &str) -> Result<String, String> {
        self.show(site, name)
    }

    fn grant(&self, site: SiteId, claim: ClaimId) -> Option<Grant<'_>> {
        self.grant(site, claim).map(Grant::of::<P>)
    }

    fn grant_is(
        &self,
        site: SiteId,
        claim: ClaimId,
        words: &[&str],
    ) -> Result<Option<bool>, String> {
        self.grant(site, claim).map(|grant| P::grant_matches(grant, words)).transpose()
    }

    fn acquire(
        &mut self,
        site: SiteId,
        claim: &Claim,
        watch: &mut dyn Observer,
    ) -> Result<ClaimId, Violation> {
        self.acquire(site, claim.downcast::<P::Claim>().clone(), watch)
    }

    fn release(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        watch: &mut dyn Observer,
    ) -> Result<(), Violation> {
        self.release(site, claim, watch)
    }

    fn give_up(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        watch: &mut dyn Observer,
    ) -> Result<(), Violation> {
        self.give_up(site, claim, watch)
    }

    fn deliver_at(&mut self, channel: Channel, at: usize, watch: &mut dyn Observer) -> bool {
        self.deliver_at(channel, at, watch)
    }

    fn drop_at(&mut self, channel: Channel, at: usize, watch: &mut dyn Observer) -> bool {
        self.drop_at(channel, at, watch)
    }

    fn duplicate(&mut self, channel: Channel, at: usize) -> bool {
        self.duplicate(channel, at)
    }

    fn expire(&mut self, site: SiteId, at: usize, watch: &mut dyn Observer) -> bool {
        let timer = self.timers(site).nth(at);
        timer.is_some_and(|(timer, _)| self.expire(site, timer, watch))
    }

    fn suffer(&mut self, fault: Fault, watch: &mut dyn Observer) {
        self.suffer(fault, watch);
    }
}

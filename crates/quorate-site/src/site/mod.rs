//! One whole site as one value: sessions, the table of locks, and the callers.

mod admission;
mod breaking;
mod call;
mod deadlines;
mod delegations;
mod disk;
mod drain;
mod due;
mod held;
mod identity;
mod messages;
mod name_index;
mod questions;
mod quorum;
mod site_core;
mod table;
mod telling;
mod timers;
mod unused;
mod validity;

use quorate_protocol::{Fence, Tick};
use quorate_quorum::SiteId;
use quorate_session::client::{ClientId, QuorumStatus};
use quorate_session::session::{self, Event};
use quorate_session::{CallId, ClaimRequest, Denial, Kind, Loss, Name, ResourceView};

pub use self::validity::GrantState;

use self::site_core::{OwnMessage, SiteCore};
use self::table::Table;
use self::telling::Happening;
use crate::Config;
use crate::disk::Past;
use crate::effect::{Effect, Input};
use crate::identity::{Start, StartError};
use crate::lock::{CallerRequest, LockInstance, StepContext};
use crate::site_message::SiteMessage;

/// One whole site: it takes one input at a time, and returns the effects to carry out.
///
/// ```
/// use quorate_protocol::Tick;
/// use quorate_quorum::{build, Kind, SiteId};
/// use quorate_session::client::ClientId;
/// use quorate_session::{CallId, Claimant, ClaimRequest, LockSpec};
/// use quorate_site::{Config, Disk, Effect, Input, Site, Start};
///
/// // A cluster of one site: its own permission is a quorum.
/// let config = Config::new(SiteId::new(0), build(Kind::Majority, 1)?);
/// let random = Start { birth: 7, nonce: 9, ..Start::default() };
/// let (mut site, first) = Site::start(Tick::ZERO, config, Disk::default(), &random)?;
/// assert!(matches!(first[0], Effect::Persist(_)), "its incarnation goes to disk first");
///
/// let name = "deploy".parse()?;
/// let (spec, claimant) = (LockSpec::Mutex, Claimant::default());
/// let claim = ClaimRequest { name, spec, claimant, timeout: None, no_wait: false, since: None };
/// let effects = site.step(Tick(5), Input::Claim(CallId(1), ClientId(1), claim));
/// assert!(effects.iter().any(|effect| matches!(effect, Effect::Grant(CallId(1), _))));
///
/// site.step(Tick(9), Input::Leave(CallId(1)));
/// assert_eq!(site.names().count(), 0, "a lock that nobody uses costs nothing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Site {
    table: Table,
    core: SiteCore,
}

impl Site {
    /// Starts a site with the contents of its disk. Carry the effects out before anything else.
    ///
    /// # Errors
    ///
    /// The disk belongs to another site, or the site has started too often without joining its
    /// cluster.
    pub fn start(
        now: Tick,
        config: Config,
        past: impl Into<Past>,
        start: &Start,
    ) -> Result<(Self, Vec<Effect>), StartError> {
        let mut core = SiteCore::start(now, config, past.into(), start)?;
        core.end_quarantine(); // of a site that is alone and new
        core.schedule_wake();
        let out = core.take_effects();
        Ok((Self { table: Table::default(), core }, out))
    }

    /// Handles what is due by `now`, then the input.
    ///
    /// So a process that slept learns that its leases are over before it reads an old message.
    pub fn step(&mut self, now: Tick, input: Input) -> Vec<Effect> {
        assert!(now >= self.core.now, "a clock does not run backwards");
        self.core.now = now;
        self.core.begin_step(&input);
        self.on_deadlines();
        self.on_input(input);
        self.core.use_registered();
        if self.core.claims_go_first() {
            self.place_claims();
        }
        if self.tell_locks() {
            self.settle();
        }
        self.place_claims();
        self.run_put_off_timers();
        self.go_on_draining();
        self.settle();
        self.deny_no_wait();
        self.on_deadlines(); // what the input made due
        self.review_validity();
        self.review_delegations();
        self.settle();
        self.note_drained();
        self.core.review_quorum();
        self.core.save_ahead();
        self.core.fold_unused();
        self.core.schedule_wake();
        self.core.take_effects()
    }

    /// When [`Site::step`] must be called at the latest.
    pub fn deadline(&self) -> Option<Tick> {
        self.core.deadline()
    }

    /// The site itself.
    pub fn me(&self) -> SiteId {
        self.core.me()
    }

    /// The names of the locks that are in use, as far as this site knows.
    pub fn names(&self) -> impl Iterator<Item = &Name> + '_ {
        self.table.names()
    }

    /// The deadline of all grants that are not degraded.
    pub fn common_deadline(&self) -> Tick {
        self.core.present_common_deadline()
    }

    /// How many messages of its locks' protocols it has sent to other sites, without those that
    /// only renew a lease.
    pub fn messages_sent(&self) -> u64 {
        self.core.sent
    }

    /// How many messages of other sites could not be true.
    pub fn violations(&self) -> u64 {
        self.core.violations
    }

    /// Its sessions.
    pub fn sessions(&self) -> &session::Sessions<SiteMessage> {
        &self.core.sessions
    }

    /// The deadline of the grant of `call`, as far as is known now; `None` if it is not inside.
    pub fn valid_until(&self, call: CallId) -> Option<Tick> {
        let lock = self.table.get(&self.core.calls.get(&call)?.name)?;
        self.core.valid_until(call, lock)
    }

    /// Whether this site reaches a quorum, as it has said last.
    pub fn quorum(&self) -> QuorumStatus {
        self.core.quorum.said
    }

    /// The fence of the grant of `call`; `None` if it is not inside.
    pub fn fence(&self, call: CallId) -> Option<Fence> {
        self.core.calls.get(&call)?.fence()
    }

    /// What this site knows of a lock; `None` if nothing. If there are many callers, the first are
    /// listed.
    pub fn show(&self, name: &Name) -> Option<ResourceView> {
        self.show_first(name, None)
    }

    fn on_deadlines(&mut self) {
        if self.core.sessions.deadline().is_some_and(|when| when <= self.core.now) {
            self.core.drive_sessions(session::Input::Time);
            self.settle();
        }
        self.on_delegations_due();
        if self.core.end_quarantine() {
            self.tell_all(Happening::Cleared);
            self.settle();
        }
        self.on_timers_due();
        self.on_drain_due();
        for _ in 0..self.core.locks_in_step {
            let Some(call) = self.core.next_call_due() else { return };
            self.tell_first_of(call);
            if self.core.next_call_due() == Some(call) {
                self.on_call_due(call);
                self.settle();
            }
        }
    }

    /// The timeout of a waiting call, or the end of a broken one.
    fn on_call_due(&mut self, id: CallId) {
        let call = &self.core.calls[&id];
        match call.broken_for() {
            Some(reason) => self.core.out.push(Effect::Lost(id, Loss::Broken(reason))),
            None => {
                let lock = self.table.get(&call.name);
                let denial = self.core.timeout_denial(id, lock);
                self.core.out.push(Effect::Denied(id, denial));
            }
        }
        self.leave(id);
    }

    /// Denies the calls with `no_wait` that would have to wait, at the locks that have acted.
    fn deny_no_wait(&mut self) {
        while let Some(name) = self.core.acted.pop_first() {
            self.tell_first(&name);
            let of_lock = (name.clone(), CallId(0))..=(name.clone(), CallId(u64::MAX));
            let calls: Vec<CallId> = self.core.no_wait.range(of_lock).map(|(_, id)| *id).collect();
            for id in calls {
                if self.core.is_no_wait(&name, id) && self.table.lock(&name).is_held_up(id) {
                    self.core.out.push(Effect::Denied(id, Denial::Busy));
                    self.leave(id);
                }
            }
        }
        self.settle();
    }

    fn on_input(&mut self, input: Input) {
        match input {
            Input::Time => {}
            Input::Up(peer) => self.core.on_up(peer),
            Input::Down(peer) => self.core.on_down(peer),
            Input::Packet(peer, packet) => self.core.on_packet(peer, packet),
            Input::Claim(id, client, claim) => self.claim(id, client, claim),
            Input::Leave(id) => self.leave_told(id),
            Input::LeaveAll(calls) => {
                for id in calls {
                    self.leave_told(id);
                    self.settle();
                }
            }
            Input::Drain(time) => self.drain(time),
            Input::Break(order) => self.core.ask_to_break(&order),
            Input::Ask(id, question) => self.core.ask(id, &question),
            Input::Saved(disk) => self.core.on_saved(&disk),
        }
    }

    /// Handles the messages of the site to itself and the effects of its sessions, until none is
    /// left.
    fn settle(&mut self) {
        loop {
            if let Some(OwnMessage { half, message }) = self.core.to_self.pop_front() {
                self.on_message(self.core.me(), half, message);
            } else if let Some(effect) = self.core.pending.pop_front() {
                match effect {
                    session::Effect::Deliver(from, half, number, message) => {
                        if self.tell_addressees(&message) {
                            let later = session::Effect::Deliver(from, half, number, message);
                            self.core.pending.push_front(later);
                        } else {
                            self.on_message(from, half, message);
                        }
                    }
                    session::Effect::Notify(event) => self.on_session(event),
                    _ => unreachable!("the rest went to the driver"),
                }
            } else if let Some(call) = self.core.expired_grants.pop() {
                self.claim_again(call);
            } else {
                return;
            }
        }
    }

    fn on_session(&mut self, event: Event) {
        self.core.note_session(event);
        self.tell_all(Happening::Session(event));
    }

    fn claim(&mut self, id: CallId, client: ClientId, claim: ClaimRequest) {
        if self.core.calls.contains_key(&id) {
            return self.core.out.push(Effect::Denied(id, Denial::Reused));
        }
        if let Err(denial) = claim.spec.check() {
            return self.core.out.push(Effect::Denied(id, denial));
        }
        if self.core.is_draining() {
            return self.core.refer_elsewhere(id, claim.since);
        }
        self.core.add_call(id, client, claim);
    }

    /// Makes the claim of a call at its lock.
    pub(super) fn place_claim(&mut self, id: CallId) {
        let call = &self.core.calls[&id];
        let (name, spec, kind) = (call.name.clone(), call.spec.clone(), call.spec.kind());
        self.tell_first(&name);
        let call = &self.core.calls[&id];
        let earlier = call.moved.then_some(call.waits_since);
        let no_wait = self.core.is_no_wait(&name, id);
        let other = self.table.get(&name).filter(|lock| lock.kind() != kind);
        let denial = if let Some(lock) = other {
            let (owner, by) = (self.core.owner(lock), self.core.me());
            Denial::OtherKind { kind: lock.kind(), by, owner }
        } else {
            let request = CallerRequest { call: id, spec: &spec, no_wait, earlier };
            return self.with_lock(&name, &kind, |lock, context| lock.claim(context, request));
        };
        self.core.remove_call(id);
        self.core.out.push(Effect::Denied(id, denial));
    }

    /// A caller leaves. Its lock is told first what it does not know yet.
    fn leave_told(&mut self, id: CallId) {
        if self.tell_first_of(id) {
            self.leave(id);
        }
    }

    fn leave(&mut self, id: CallId) {
        let is_placed = !self.core.admission.contains(id);
        let Some(call) = self.core.remove_call(id).filter(|_| is_placed) else { return };
        let kind = self.table.lock(&call.name).kind();
        self.with_lock(&call.name, &kind, |lock, context| lock.leave(context, id));
    }

    /// Runs `action` on a lock. The lock is made if it does not exist, and forgotten if it is
    /// vacant afterwards. Nothing happens if there can be no such lock.
    fn with_lock(
        &mut self,
        name: &Name,
        kind: &Kind,
        action: impl FnOnce(&mut dyn LockInstance, &mut StepContext<'_>),
    ) {
        let core = &mut self.core;
        let told = core.telling.last();
        let Some(lock) = self.table.get_or_make(name, told, || core.make_lock(name, kind)) else {
            return;
        };
        if !core.run_on_lock(name, lock, action) {
            self.table.remove(name);
        }
    }
}

//! One whole site as one value: sessions, the table of resources, and the callers.

mod breaking;
mod call;
mod deadlines;
mod desk;
mod disk;
#[cfg(test)]
mod kinds;
mod questions;
mod validity;
mod words;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use quorate_protocol::{Fence, Tick};
use quorate_quorum::SiteId;
use quorate_session::session::{self, Event, Half};
use quorate_session::{CallId, ClaimRequest, Denial, Kind, Loss, Name, ResourceView};

pub use self::validity::GrantState;

use self::desk::Desk;
use crate::disk::Past;
use crate::effect::{Effect, Input};
use crate::registry::{Engine, Speech};
use crate::resource::Bench;
use crate::said::Said;
use crate::{Config, TOKENS_MAX};

/// One whole site: it takes what happens one at a time, and says what to do about it.
///
/// ```
/// use quorate_protocol::Tick;
/// use quorate_quorum::{build, Kind, SiteId};
/// use quorate_session::{CallId, Card, ClaimRequest, Want};
/// use quorate_site::{Config, Disk, Effect, Input, Site};
///
/// // A cluster of one site: its own permission is a quorum.
/// let config = Config::new(SiteId::new(0), build(Kind::Majority, 1)?);
/// let (mut site, first) = Site::start(Tick::ZERO, config, Disk::default());
/// assert!(matches!(first[0], Effect::Persist(_)), "its incarnation goes to disk first");
///
/// let name = "deploy".parse()?;
/// let (want, card) = (Want::Mutex, Card::default());
/// let claim = ClaimRequest { name, want, card, patience: None, hasty: false };
/// let effects = site.step(Tick(5), Input::Claim(CallId(1), claim));
/// assert!(effects.iter().any(|effect| matches!(effect, Effect::Grant(CallId(1), _))));
///
/// site.step(Tick(9), Input::Leave(CallId(1)));
/// assert_eq!(site.names().count(), 0, "a lock that nobody uses costs nothing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Site {
    table: BTreeMap<Name, Box<Resource>>,
    desk: Desk,
}

/// A resource that somebody uses.
#[derive(Clone, Debug)]
struct Resource {
    kind: Kind,
    engine: Engine,
}

impl Site {
    /// Starts a site with what was on its disk; the effects come first of all.
    pub fn start(now: Tick, config: Config, past: impl Into<Past>) -> (Self, Vec<Effect>) {
        let mut desk = Desk::start(now, config, past.into());
        desk.ask_to_be_woken();
        let out = std::mem::take(&mut desk.out);
        (Self { table: BTreeMap::new(), desk }, out)
    }

    /// Handles what is due by `now`, then the input.
    ///
    /// A process that slept learns so of its lapse before it reads an old reply.
    pub fn step(&mut self, now: Tick, input: Input) -> Vec<Effect> {
        assert!(now >= self.desk.now, "a clock does not run backwards");
        self.desk.now = now;
        self.on_deadlines();
        self.on_input(input);
        self.settle();
        self.turn_hasty_away();
        self.on_deadlines(); // what the input made due
        self.review();
        self.review_words();
        self.settle();
        self.desk.save_ahead();
        self.desk.ask_to_be_woken();
        std::mem::take(&mut self.desk.out)
    }

    /// When [`Site::step`] must be called at the latest.
    pub fn deadline(&self) -> Option<Tick> {
        self.desk.deadline()
    }

    /// The site itself.
    pub fn me(&self) -> SiteId {
        self.desk.me()
    }

    /// The names of the resources that somebody uses, as far as this site knows.
    pub fn names(&self) -> impl Iterator<Item = &Name> + '_ {
        self.table.keys()
    }

    /// Until when all grants are good that are not waning.
    pub fn horizon(&self) -> Tick {
        self.desk.present_horizon()
    }

    /// How many messages of its locks' protocols it has sent to other sites; those that only renew
    /// a lease do not count.
    pub fn messages_sent(&self) -> u64 {
        self.desk.sent
    }

    /// Its sessions.
    pub fn sessions(&self) -> &session::Sessions<Said> {
        &self.desk.sessions
    }

    /// Until when the grant of `call` is good, as far as is known now; `None` if it is not inside.
    pub fn valid_until(&self, call: CallId) -> Option<Tick> {
        let resource = self.table.get(&self.desk.calls.get(&call)?.name)?;
        self.desk.valid_until(call, resource.engine.part())
    }

    /// The fence of the grant of `call`; `None` if it is not inside.
    pub fn fence(&self, call: CallId) -> Option<Fence> {
        self.desk.calls.get(&call)?.fence()
    }

    /// What this site knows of a resource; `None` if nothing.
    pub fn show(&self, name: &Name) -> Option<ResourceView> {
        Some(self.view(name, self.table.get(name)?))
    }

    fn on_deadlines(&mut self) {
        if self.desk.sessions.deadline().is_some_and(|when| when <= self.desk.now) {
            self.desk.drive_sessions(session::Input::Time);
            self.settle();
        }
        self.on_words_due();
        if self.desk.quarantine_is_over() {
            self.tell_all(|part, bench| part.clear(bench));
            self.settle();
        }
        while let Some((name, kind)) = self.next_timer() {
            self.with_resource(&name, &kind, |part, bench| part.expire(bench));
            self.settle();
        }
        while let Some(call) = self.desk.next_due() {
            self.on_due(call);
            self.settle();
        }
    }

    /// A resource of which a timer has run out.
    fn next_timer(&self) -> Option<(Name, Kind)> {
        let (_, name) = self.desk.timers.first().filter(|(when, _)| *when <= self.desk.now)?;
        Some((name.clone(), self.table[name].kind.clone()))
    }

    /// A waiting call is too late, or a broken one has had its time.
    fn on_due(&mut self, id: CallId) {
        let call = &self.desk.calls[&id];
        match call.broken_for() {
            Some(reason) => self.desk.out.push(Effect::Lost(id, Loss::Broken(reason))),
            None => {
                let denial = self.desk.why_too_late(id, &self.table[&call.name]);
                self.desk.out.push(Effect::Denied(id, denial));
            }
        }
        self.leave(id);
    }

    /// Denies the calls that would have to wait for somebody, and do not want to.
    fn turn_hasty_away(&mut self) {
        let calls = self.desk.hasty.iter().copied();
        let held_up = |id: &CallId| {
            let name = &self.desk.calls[id].name;
            self.table[name].engine.part().is_held_up(*id)
        };
        let held_up: Vec<CallId> = calls.filter(held_up).collect();
        for id in held_up {
            self.desk.out.push(Effect::Denied(id, Denial::Busy));
            self.leave(id);
        }
        self.settle();
    }

    fn on_input(&mut self, input: Input) {
        match input {
            Input::Time => {}
            Input::Up(peer) => self.desk.drive_sessions(session::Input::Up(peer)),
            Input::Down(peer) => self.desk.drive_sessions(session::Input::Down(peer)),
            Input::Packet(peer, packet) => {
                self.desk.note_renewal(peer, &packet);
                self.desk.drive_sessions(session::Input::Packet(peer, packet));
                self.desk.refresh(peer);
            }
            Input::Claim(id, claim) => self.claim(id, claim),
            Input::Leave(id) => self.leave(id),
            Input::Break(wish) => self.desk.ask_to_break(&wish),
            Input::Ask(id, question) => self.desk.ask(id, &question),
            Input::Saved(disk) => self.desk.saved(disk),
        }
    }

    /// Handles what the site says to itself, and what its sessions bring, until nothing is left.
    fn settle(&mut self) {
        loop {
            if let Some((half, said)) = self.desk.own.pop_front() {
                self.deliver(self.desk.me(), half, said);
            } else if let Some(effect) = self.desk.pending.pop_front() {
                match effect {
                    session::Effect::Deliver(from, half, _, said) => self.deliver(from, half, said),
                    session::Effect::Tell(event) => self.on_session(event),
                    _ => unreachable!("the rest is the driver's"),
                }
            } else if let Some(call) = self.desk.void.pop() {
                self.claim_again(call);
            } else {
                return;
            }
        }
    }

    fn on_session(&mut self, event: Event) {
        self.desk.note_session(event);
        self.tell_all(|part, bench| part.tell(bench, event));
    }

    /// Tells every resource, in the order of the table.
    fn tell_all(&mut self, tell: impl Fn(&mut dyn crate::resource::Part, &mut Bench<'_>)) {
        let desk = &mut self.desk;
        self.table.retain(|name, resource| {
            desk.shared.turn_by(name.hash64());
            let timer = resource.engine.part().timer();
            tell(resource.engine.part_mut(), &mut desk.bench());
            desk.set_timer(name, timer, resource.engine.part().timer());
            desk.carry_out(name, resource);
            desk.keeps(name, resource)
        });
    }

    fn claim(&mut self, id: CallId, claim: ClaimRequest) {
        if self.desk.calls.contains_key(&id) {
            return self.desk.out.push(Effect::Denied(id, Denial::Reused));
        }
        if let Err(denial) = claim.want.check() {
            return self.desk.out.push(Effect::Denied(id, denial));
        }
        let kind = claim.want.kind();
        if !self.desk.has_room(&claim.name, &kind) {
            return self.desk.out.push(Effect::Denied(id, Denial::TooMany(TOKENS_MAX)));
        }
        let other = self.table.get(&claim.name).filter(|resource| resource.kind != kind);
        if let Some(resource) = other {
            let owner = self.desk.owner(resource);
            let (kind, by) = (resource.kind.clone(), self.desk.me());
            let denial = Denial::OtherKind { kind, by, owner };
            return self.desk.out.push(Effect::Denied(id, denial));
        }
        let (name, want, hasty) = (claim.name.clone(), claim.want.clone(), claim.hasty);
        self.desk.enrol(id, claim);
        self.with_resource(&name, &kind, |part, bench| part.claim(bench, id, &want, hasty));
    }

    fn leave(&mut self, id: CallId) {
        let Some(call) = self.desk.dismiss(id) else { return };
        let kind = self.table[&call.name].kind.clone();
        self.with_resource(&call.name, &kind, |part, bench| part.leave(bench, id));
    }

    fn deliver(&mut self, from: SiteId, half: Half, said: Said) {
        match (said, half) {
            (Said::Of(_, _, speech) | Said::Vouched(_, _, speech, _), _)
                if speech.is_timed() && from != self.desk.me() =>
            {
                self.desk.note(from, "ignored: it broke the contract"); // nobody reads its clock
            }
            (Said::Timed(name, kind, speech, until), Half::Requester) => {
                if let Some(speech) = self.desk.read_timed(from, speech, until) {
                    self.on_speech(from, (&name, &kind), speech);
                }
            }
            (Said::Of(name, kind, speech), _)
                if speech.is_for_arbiter() == (half == Half::Arbiter) =>
            {
                self.on_speech(from, (&name, &kind), speech);
            }
            (Said::Vouched(name, kind, speech, word), _)
                if speech.is_for_arbiter() == (half == Half::Arbiter) =>
            {
                self.on_word(from, &name, word);
                self.on_speech(from, (&name, &kind), speech);
            }
            (Said::Words(words), Half::Requester) => {
                for (name, word) in words {
                    self.on_word(from, &name, word);
                }
            }
            (Said::Refused { name, ticket, kind, owner }, Half::Requester) => {
                self.on_refused(&name, ticket, &Denial::OtherKind { kind, by: from, owner });
            }
            (Said::Break(wish, origin), Half::Arbiter) => self.on_break(&wish, origin),
            (Said::Stop(wish, origin), Half::Requester) => self.on_stop(&wish, origin),
            (Said::Stopping(wish), Half::Arbiter) => self.desk.hear_of_stop(wish, from),
            (Said::Ask(id, question), Half::Arbiter) => self.on_question(from, id, &question),
            (Said::Answer(id, answer), Half::Requester) => {
                self.desk.out.push(Effect::Answer(id, from, answer));
            }
            _ => self.desk.note(from, "ignored: it speaks to the wrong half"),
        }
    }

    fn on_speech(&mut self, from: SiteId, (name, kind): (&Name, &Kind), speech: Speech) {
        let other = self.table.get(name).filter(|resource| resource.kind != *kind);
        if let Some(resource) = other {
            if let Some(ticket) = speech.request(from) {
                let (kind, owner) = (resource.kind.clone(), self.desk.owner(resource));
                let said = Said::Refused { name: name.clone(), ticket, kind, owner };
                self.desk.say(from, Half::Requester, said);
            } else {
                self.desk.note(from, "ignored: the name is in use otherwise");
            }
            return;
        }
        let mut done = Ok(());
        self.with_resource(name, kind, |part, bench| done = part.deliver(bench, from, speech));
        if done.is_err() {
            self.desk.note(from, "ignored: it broke the contract");
        }
        if !self.desk.waning.is_empty() {
            self.desk.answered.insert(name.clone()); // it may have brought what a grant lacked
        }
    }

    /// A request of ours cannot be had of its name: all who wait with it are denied.
    fn on_refused(&mut self, name: &Name, ticket: quorate_protocol::Ticket, denial: &Denial) {
        let Some(resource) = self.table.get(name) else { return };
        let (me, mut calls) = (self.desk.me(), Vec::new());
        for request in resource.engine.part().on_behalf(ticket) {
            if request.site == me {
                calls.extend(resource.engine.part().waiting_with(request).into_iter().rev());
            } else if let Denial::OtherKind { kind, owner, .. } = denial {
                let (name, kind, owner) = (name.clone(), kind.clone(), owner.clone());
                let said = Said::Refused { name, ticket: request, kind, owner };
                self.desk.say(request.site, Half::Requester, said);
            }
        }
        for call in calls {
            self.desk.out.push(Effect::Denied(call, denial.clone()));
            self.leave(call);
        }
    }

    /// Does something with a resource, which begins with that if it did not exist, and ends with it
    /// if nobody uses it afterwards. Nothing is done with one that cannot be.
    fn with_resource(
        &mut self,
        name: &Name,
        kind: &Kind,
        deed: impl FnOnce(&mut dyn crate::resource::Part, &mut Bench<'_>),
    ) {
        let desk = &mut self.desk;
        let resource = match self.table.entry(name.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let Some(engine) = desk.make(name, kind) else { return };
                entry.insert(Box::new(Resource { kind: kind.clone(), engine }))
            }
        };
        desk.shared.turn_by(name.hash64());
        let timer = resource.engine.part().timer();
        deed(resource.engine.part_mut(), &mut desk.bench());
        desk.set_timer(name, timer, resource.engine.part().timer());
        desk.carry_out(name, resource);
        if !desk.keeps(name, resource) {
            self.table.remove(name);
        }
    }
}

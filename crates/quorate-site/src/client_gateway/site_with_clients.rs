//! A site with its clients: what a server drives.

use quorate_session::client::{ClientId, ClientMessage, ClientRequest, SiteReply};
use quorate_session::session::{self, Event, Packet, ServerEnd};
use quorate_session::{CallId, ClaimRequest, Tick};

use super::clients::Clients;
use super::replies::{Replies, Reply};
use crate::Config;
use crate::disk::Past;
use crate::effect::{Effect, Input};
use crate::identity::{Start, StartError};
use crate::site::Site;

/// Everything that can happen to a site and its clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GatewayInput {
    /// Something happens to the site itself.
    Site(Input),
    /// A connection of a client is up. It replaces the one before.
    Up(ClientId),
    /// The connection of a client is gone.
    Down(ClientId),
    /// A packet from a client. The first on a connection is a Hello.
    Client(ClientId, Packet<ClientMessage>),
}

/// Everything a site with its clients can ask of its driver, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GatewayEffect {
    /// An effect of the site. None of them is for callers, because all callers are clients'.
    Site(Effect),
    /// Send this to the client on the present connection. If that has just gone, drop it.
    Client(ClientId, Packet<ClientMessage>),
}

/// A site with its clients.
#[derive(Clone, Debug)]
pub struct SiteWithClients {
    site: Site,
    clients: Clients,
    /// When the site stops at the latest, if it is about to.
    stops_by: Option<Tick>,
    /// How many calls of clients whose sessions are over leave in one step.
    calls_per_step: usize,
    out: Vec<GatewayEffect>,
    wake: Option<Tick>,
}

impl SiteWithClients {
    /// Starts a site with the contents of its disk. Carry the effects out before anything else.
    ///
    /// # Errors
    ///
    /// As [`Site::start`].
    pub fn start(
        now: Tick,
        config: Config,
        past: impl Into<Past>,
        start: &Start,
    ) -> Result<(Self, Vec<GatewayEffect>), StartError> {
        let (terms, calls_per_step) = (config.terms, config.locks_per_step.max(1));
        let (site, effects) = Site::start(now, config, past, start)?;
        let clients = Clients::new(terms, site.sessions().incarnation());
        let (out, wake) = (Vec::new(), None);
        let mut all = Self { site, clients, stops_by: None, calls_per_step, out, wake };
        all.route(effects);
        all.schedule_wake();
        let out = std::mem::take(&mut all.out);
        Ok((all, out))
    }

    /// Handles what is due by `now`, then the input.
    pub fn step(&mut self, now: Tick, input: GatewayInput) -> Vec<GatewayEffect> {
        self.clients.now = now;
        while let Some(id) = self.clients.next_due() {
            let effects = self.clients.drive(id, ServerEnd::on_deadline);
            self.apply_session_effects(id, effects);
            self.clients.forget(id);
        }
        match input {
            GatewayInput::Site(input) => self.drive_site(input),
            // A session goes on when the client resumes it on the new connection.
            GatewayInput::Up(id) | GatewayInput::Down(id) => {
                self.clients.drive(id, |end, _, _| end.on_down());
                self.clients.forget(id);
            }
            GatewayInput::Client(id, packet) => self.on_packet(id, packet),
        }
        self.close_clients();
        while let Some((ask, question)) = self.clients.next_question() {
            self.drive_site(Input::Ask(ask, question));
        }
        while let Some((id, effects)) = self.clients.catch_up(&self.site) {
            self.apply_session_effects(id, effects);
        }
        self.schedule_wake();
        std::mem::take(&mut self.out)
    }

    /// When [`SiteWithClients::step`] must be called at the latest.
    pub fn deadline(&self) -> Option<Tick> {
        [self.site.deadline(), self.clients.deadline()].into_iter().flatten().min()
    }

    /// The site itself.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Lets the calls of clients leave whose sessions are over, as many as a step may. When all
    /// calls of one have left, it can open the next session.
    fn close_clients(&mut self) {
        let mut left = self.calls_per_step;
        while left > 0
            && let Some((id, calls)) = self.clients.take_leaving(left)
        {
            left -= calls.len().max(1);
            if !calls.is_empty() {
                self.drive_site(Input::LeaveAll(calls));
            }
            if self.clients.has_closed(id) {
                let effects = self.clients.drive(id, ServerEnd::on_told);
                self.apply_session_effects(id, effects);
                self.clients.forget(id);
            }
        }
    }

    fn drive_site(&mut self, input: Input) {
        let effects = self.site.step(self.clients.now, input);
        self.route(effects);
    }

    fn on_packet(&mut self, id: ClientId, packet: Packet<ClientMessage>) {
        let renews = matches!(packet, Packet::Renew(..));
        let effects = self.clients.on_packet(id, packet);
        self.apply_session_effects(id, effects);
        if renews && self.clients.holds(id) {
            // The same deadline, counted from a newer renewal, lasts longer at the client.
            self.clients.update_replies(id, Replies::note_common);
        }
    }

    fn apply_session_effects(
        &mut self,
        id: ClientId,
        effects: Vec<session::Effect<ClientMessage>>,
    ) {
        for effect in effects {
            match effect {
                session::Effect::Packet(_, packet) => {
                    self.out.push(GatewayEffect::Client(id, packet));
                }
                session::Effect::Deliver(.., ClientMessage::Request(request)) => {
                    self.on_request(id, request);
                }
                session::Effect::Notify(Event::Opened(..)) => self.tell_new_session(id),
                session::Effect::Notify(Event::Closed(_)) => self.clients.close(id),
                _ => {}
            }
        }
    }

    /// Tells a client in its new session why it should look for another site, if it should: this
    /// one reaches no quorum, or is about to stop. Both may be so at once.
    fn tell_new_session(&mut self, id: ClientId) {
        if !self.site.quorum().reached {
            self.clients.update_replies(id, Replies::note_quorum);
        }
        self.tell_draining(id);
    }

    /// Tells a client that the site is about to stop, if it is.
    fn tell_draining(&mut self, id: ClientId) {
        if let Some(end) = self.stops_by {
            self.clients.update_replies(id, |replies| replies.push(Reply::Draining(end)));
        }
    }

    fn on_request(&mut self, id: ClientId, request: ClientRequest) {
        match request {
            ClientRequest::Claim(number, request) => self.claim(id, number, request),
            ClientRequest::Leave(number) => {
                if let Some(call) = self.clients.call(id, number) {
                    self.clients.remove_call(call);
                    self.drive_site(Input::Leave(call));
                }
                self.clients
                    .update_replies(id, |replies| replies.push(SiteReply::Left(number).into()));
            }
            ClientRequest::Ask(number, question) => {
                self.clients.queue_question(id, number, question);
            }
            ClientRequest::Break(order) => self.drive_site(Input::Break(order)),
        }
    }

    fn claim(&mut self, id: ClientId, number: u64, request: ClaimRequest) {
        match self.clients.add_call(id, number, request.bytes()) {
            Ok(call) => self.drive_site(Input::Claim(call, id, request)),
            Err(denial) => {
                let denied = SiteReply::Denied(number, denial);
                self.clients.update_replies(id, |replies| replies.push(denied.into()));
            }
        }
    }

    /// Passes the effects of the site on, to clients or to the driver.
    fn route(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Wake(_) => {} // `schedule_wake` has its own
                Effect::CommonDeadline(_) => {
                    for id in self.clients.holders() {
                        self.clients.update_replies(id, Replies::note_common);
                    }
                }
                Effect::Draining(end) => {
                    self.stops_by = Some(end);
                    for id in self.clients.ids() {
                        self.tell_draining(id);
                    }
                }
                Effect::Quorum(_) => {
                    for id in self.clients.with_sessions() {
                        self.clients.update_replies(id, Replies::note_quorum);
                    }
                }
                Effect::Asked(ask, sites) => {
                    if let Some((id, number)) = self.clients.await_answers(ask, sites.len()) {
                        self.clients.queue_answer(id, SiteReply::Asked(number, sites));
                    }
                }
                Effect::Answer(ask, from, answer, quarantined) => {
                    let (site, about) = (&self.site, (ask, from));
                    let reply = self.clients.take_answer(site, about, answer, quarantined);
                    if let Some((id, reply)) = reply {
                        self.clients.queue_answer(id, reply);
                    }
                }
                effect => self.route_to_caller(effect),
            }
        }
    }

    fn route_to_caller(&mut self, effect: Effect) {
        let Some(call) = effect.call() else { return self.out.push(GatewayEffect::Site(effect)) };
        let Some((id, number)) = self.clients.owner(call) else { return }; // it left just now
        match effect {
            Effect::Grant(_, grant) => {
                self.clients.enter(call);
                let granted = Reply::Granted(call, grant.fence, grant.granted);
                self.clients.update_replies(id, |replies| replies.push(granted));
            }
            Effect::Degraded(..) | Effect::Restored(_) | Effect::Broken(..) => {
                self.clients.update_replies(id, |replies| replies.note_change(call));
            }
            Effect::Lost(_, loss) => self.end(call, SiteReply::Lost(number, loss)),
            Effect::Denied(_, denial) => self.end(call, SiteReply::Denied(number, denial)),
            Effect::Moved(_, since) => self.end(call, SiteReply::Moved(number, since)),
            _ => unreachable!("only these are about a call"),
        }
    }

    /// Ends a call with a last reply.
    fn end(&mut self, call: CallId, reply: SiteReply) {
        if let Some((id, _)) = self.clients.owner(call) {
            self.clients.remove_call(call);
            self.clients.update_replies(id, |replies| replies.push(reply.into()));
        }
    }

    fn schedule_wake(&mut self) {
        let deadline = self.deadline();
        if deadline != self.wake {
            self.wake = deadline;
            self.out.extend(deadline.map(|when| GatewayEffect::Site(Effect::Wake(when))));
        }
    }
}

impl Effect {
    /// The call it is about.
    fn call(&self) -> Option<CallId> {
        match self {
            Effect::Grant(call, _)
            | Effect::Degraded(call, _)
            | Effect::Restored(call)
            | Effect::Broken(call, ..)
            | Effect::Lost(call, _)
            | Effect::Moved(call, _)
            | Effect::Denied(call, _) => Some(*call),
            _ => None,
        }
    }
}

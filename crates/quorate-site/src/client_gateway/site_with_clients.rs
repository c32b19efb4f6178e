//! A site with its clients: what a server drives.

use quorate_session::client::{ClientId, ClientMessage, ClientRequest, SiteReply};
use quorate_session::session::{self, Event, Packet, ServerEnd};
use quorate_session::{CallId, ClaimRequest, Denial, Tick};

use super::clients::Clients;
use super::replies::{Replies, Reply};
use crate::Config;
use crate::disk::Past;
use crate::effect::{Effect, Input};
use crate::site::Site;

/// Everything that can happen to a site and its clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GatewayInput {
    /// Something happens to the site itself.
    Site(Input),
    /// The connection of a client is gone.
    Down(ClientId),
    /// A client says this. What it says first on a connection is a Hello.
    Client(ClientId, Packet<ClientMessage>),
}

/// Everything a site with its clients can ask of its driver, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GatewayEffect {
    /// What the site asks for. It is nothing for callers: these are all clients.
    Site(Effect),
    /// Say this to the client, on the connection that is up; if it has just gone, to nobody.
    Client(ClientId, Packet<ClientMessage>),
}

/// A site with its clients.
#[derive(Clone, Debug)]
pub struct SiteWithClients {
    site: Site,
    clients: Clients,
    out: Vec<GatewayEffect>,
    wake: Option<Tick>,
}

impl SiteWithClients {
    /// Starts a site with what was on its disk; the effects come first of all.
    pub fn start(now: Tick, config: Config, past: impl Into<Past>) -> (Self, Vec<GatewayEffect>) {
        let terms = config.terms;
        let (site, effects) = Site::start(now, config, past);
        let clients = Clients::new(terms, site.sessions().incarnation());
        let mut all = Self { site, clients, out: Vec::new(), wake: None };
        all.route(effects);
        all.ask_to_be_woken();
        let out = std::mem::take(&mut all.out);
        (all, out)
    }

    /// Handles what is due by `now`, then the input.
    pub fn step(&mut self, now: Tick, input: GatewayInput) -> Vec<GatewayEffect> {
        self.clients.now = now;
        while let Some(id) = self.clients.next_due() {
            let effects = self.clients.drive(id, ServerEnd::on_deadline);
            self.carry_out(id, effects);
            self.clients.forget(id);
        }
        match input {
            GatewayInput::Site(input) => self.drive_site(input),
            GatewayInput::Down(id) => {
                self.clients.drive(id, |end, _, _| end.on_down());
                self.clients.forget(id);
            }
            GatewayInput::Client(id, packet) => self.on_packet(id, packet),
        }
        while let Some((id, effects)) = self.clients.catch_up(&self.site) {
            self.carry_out(id, effects);
        }
        self.ask_to_be_woken();
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

    fn drive_site(&mut self, input: Input) {
        let effects = self.site.step(self.clients.now, input);
        self.route(effects);
    }

    fn on_packet(&mut self, id: ClientId, packet: Packet<ClientMessage>) {
        let renews = matches!(packet, Packet::Renew(..));
        let effects = self.clients.on_packet(id, packet);
        self.carry_out(id, effects);
        if renews && self.clients.holds(id) {
            // The same deadline, counted from a younger renewal, lasts longer at the client.
            self.clients.tell(id, Replies::note_common);
        }
    }

    /// Does what the session of a client asks for.
    fn carry_out(&mut self, id: ClientId, effects: Vec<session::Effect<ClientMessage>>) {
        for effect in effects {
            match effect {
                session::Effect::Packet(_, packet) => {
                    self.out.push(GatewayEffect::Client(id, packet));
                }
                session::Effect::Deliver(.., ClientMessage::Request(request)) => {
                    self.on_request(id, request);
                }
                session::Effect::Tell(Event::Closed(_)) => {
                    for call in self.clients.close(id) {
                        self.drive_site(Input::Leave(call));
                    }
                }
                _ => {}
            }
        }
    }

    fn on_request(&mut self, id: ClientId, request: ClientRequest) {
        match request {
            ClientRequest::Claim(number, request) => self.claim(id, number, request),
            ClientRequest::Leave(number) => {
                if let Some(call) = self.clients.call(id, number) {
                    self.clients.dismiss(call);
                    self.drive_site(Input::Leave(call));
                }
                self.clients.tell(id, |replies| replies.push(SiteReply::Left(number).into()));
            }
            ClientRequest::Ask(number, question) => {
                let ask = self.clients.ask(id, number);
                self.drive_site(Input::Ask(ask, question));
            }
            ClientRequest::Break(wish) => self.drive_site(Input::Break(wish)),
        }
    }

    fn claim(&mut self, id: ClientId, number: u64, request: ClaimRequest) {
        match self.clients.enrol(id, number) {
            Some(call) => self.drive_site(Input::Claim(call, request)),
            None => {
                let denied = SiteReply::Denied(number, Denial::Reused);
                self.clients.tell(id, |replies| replies.push(denied.into()));
            }
        }
    }

    /// Passes on what the site asks for: to a client what is a client's, the rest to the driver.
    fn route(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Wake(_) => {} // ours counts
                Effect::Horizon(_) => {
                    for id in self.clients.holders() {
                        self.clients.tell(id, Replies::note_common);
                    }
                }
                Effect::Asked(ask, sites) => {
                    if let Some((id, number)) = self.clients.await_answers(ask, sites.len()) {
                        self.clients.tell_answer(id, SiteReply::Asked(number, sites));
                    }
                }
                Effect::Answer(ask, site, answer) => {
                    if let Some((id, number)) = self.clients.take_answer(ask) {
                        self.clients.tell_answer(id, SiteReply::Answer(number, site, answer));
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
                let granted = Reply::Granted(call, grant.fence, grant.got);
                self.clients.tell(id, |replies| replies.push(granted));
            }
            Effect::Waning(..) | Effect::Steady(_) | Effect::Broken(..) => {
                self.clients.tell(id, |replies| replies.note_change(call));
            }
            Effect::Lost(_, loss) => self.end(call, SiteReply::Lost(number, loss)),
            Effect::Denied(_, denial) => self.end(call, SiteReply::Denied(number, denial)),
            _ => unreachable!("only these speak of a call"),
        }
    }

    /// Tells a client that a call is over.
    fn end(&mut self, call: CallId, reply: SiteReply) {
        if let Some((id, _)) = self.clients.owner(call) {
            self.clients.dismiss(call);
            self.clients.tell(id, |replies| replies.push(reply.into()));
        }
    }

    fn ask_to_be_woken(&mut self) {
        let deadline = self.deadline();
        if deadline != self.wake {
            self.wake = deadline;
            self.out.extend(deadline.map(|when| GatewayEffect::Site(Effect::Wake(when))));
        }
    }
}

impl Effect {
    /// The call it speaks of.
    fn call(&self) -> Option<CallId> {
        match self {
            Effect::Grant(call, _)
            | Effect::Waning(call, _)
            | Effect::Steady(call)
            | Effect::Broken(call, ..)
            | Effect::Lost(call, _)
            | Effect::Denied(call, _) => Some(*call),
            _ => None,
        }
    }
}

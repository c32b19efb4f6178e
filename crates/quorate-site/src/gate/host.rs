//! A site with its gate: what a server drives.

use quorate_protocol::Tick;
use quorate_session::client::{ClientId, Parley, Wish};
use quorate_session::session::{self, Event, Packet, ServerEnd};
use quorate_session::{CallId, Claim, Denial};

use super::clients::Clients;
use crate::Config;
use crate::disk::Past;
use crate::effect::{Effect, Grant, Input};
use crate::site::Site;

/// Everything that can happen to a site and its clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HostInput {
    /// Something happens to the site itself, or a caller in this process does something.
    Site(Input),
    /// The connection of a client is gone.
    Down(ClientId),
    /// A client says this. What it says first on a connection is a Hello.
    Client(ClientId, Packet<Parley>),
}

/// Everything a site with its clients can ask of its driver, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HostEffect {
    /// What the site asks for.
    Site(Effect),
    /// Say this to the client, on the connection that is up; if it has just gone, to nobody.
    Client(ClientId, Packet<Parley>),
}

/// A site with its gate.
#[derive(Clone, Debug)]
pub struct Host {
    site: Site,
    clients: Clients,
    out: Vec<HostEffect>,
    wake: Option<Tick>,
}

impl Host {
    /// Starts a site with what was on its disk; the effects come first of all.
    pub fn start(now: Tick, config: Config, past: impl Into<Past>) -> (Self, Vec<HostEffect>) {
        let terms = config.terms;
        let (site, effects) = Site::start(now, config, past);
        let clients = Clients::new(terms, site.sessions().incarnation());
        let mut host = Self { site, clients, out: Vec::new(), wake: None };
        host.route(effects);
        host.ask_to_be_woken();
        let out = std::mem::take(&mut host.out);
        (host, out)
    }

    /// Handles what is due by `now`, then the input.
    pub fn step(&mut self, now: Tick, input: HostInput) -> Vec<HostEffect> {
        self.clients.now = now;
        while let Some(id) = self.clients.next_due() {
            let effects = self.clients.drive(id, ServerEnd::on_deadline);
            self.carry_out(id, effects);
            self.clients.forget(id);
        }
        match input {
            HostInput::Site(input) => self.drive_site(input),
            HostInput::Down(id) => {
                self.clients.drive(id, |end, _, _| end.on_down());
                self.clients.forget(id);
            }
            HostInput::Client(id, packet) => self.on_packet(id, packet),
        }
        self.ask_to_be_woken();
        std::mem::take(&mut self.out)
    }

    /// When [`Host::step`] must be called at the latest.
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

    fn on_packet(&mut self, id: ClientId, packet: Packet<Parley>) {
        let renews = matches!(packet, Packet::Renew(..));
        let effects = self.clients.on_packet(id, packet);
        self.carry_out(id, effects);
        if renews && self.clients.holds(id) {
            // The same horizon, counted from a younger renewal, lasts longer at the client.
            let horizon = self.site.horizon();
            let effects = self.clients.hand_down(id, horizon, Parley::Valid);
            self.carry_out(id, effects);
        }
    }

    /// Does what the session of a client asks for.
    fn carry_out(&mut self, id: ClientId, effects: Vec<session::Effect<Parley>>) {
        for effect in effects {
            match effect {
                session::Effect::Packet(_, packet) => {
                    self.out.push(HostEffect::Client(id, packet));
                }
                session::Effect::Deliver(.., parley) => self.on_parley(id, parley),
                session::Effect::Tell(Event::Closed(_)) => {
                    for call in self.clients.close(id) {
                        self.drive_site(Input::Leave(call));
                    }
                }
                _ => {}
            }
        }
    }

    fn on_parley(&mut self, id: ClientId, parley: Parley) {
        match parley {
            Parley::Claim(number, wish) => self.claim(id, number, wish),
            Parley::Leave(number) => {
                if let Some(call) = self.clients.call(id, number) {
                    self.clients.dismiss(call);
                    self.drive_site(Input::Leave(call));
                }
            }
            Parley::Ask(number, question) => {
                let ask = self.clients.ask(id, number);
                self.drive_site(Input::Ask(ask, question));
            }
            Parley::Break(wish) => self.drive_site(Input::Break(wish)),
            _ => {} // a site's words from a client mean nothing
        }
    }

    fn claim(&mut self, id: ClientId, number: u64, wish: Wish) {
        let Some(call) = self.clients.enrol(id, number) else {
            let effects = self.clients.say(id, Parley::Denied(number, Denial::Reused));
            return self.carry_out(id, effects);
        };
        let Wish { name, want, card, patience, hasty } = wish;
        let deadline = patience.map(|patience| self.clients.now + patience);
        self.drive_site(Input::Claim(call, Claim { name, want, card, deadline, hasty }));
    }

    /// Passes on what the site asks for: to a client what is a client's, the rest to the driver.
    fn route(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Wake(_) => {} // ours counts
                Effect::Horizon(until) => {
                    for id in self.clients.holders() {
                        let effects = self.clients.hand_down(id, until, Parley::Valid);
                        self.carry_out(id, effects);
                    }
                    self.out.push(HostEffect::Site(effect));
                }
                Effect::Asked(ask, ref sites) => match self.clients.await_answers(ask, sites.len())
                {
                    Some((id, number)) => {
                        let effects = self.clients.say(id, Parley::Asked(number, sites.clone()));
                        self.carry_out(id, effects);
                    }
                    None => self.out.push(HostEffect::Site(effect)),
                },
                Effect::Answer(ask, site, ref answer) => match self.clients.take_answer(ask) {
                    Some((id, number)) => {
                        let parley = Parley::Answer(number, site, answer.clone());
                        let effects = self.clients.say(id, parley);
                        self.carry_out(id, effects);
                    }
                    None => self.out.push(HostEffect::Site(effect)),
                },
                effect => self.route_to_caller(effect),
            }
        }
    }

    fn route_to_caller(&mut self, effect: Effect) {
        let Some((id, number)) = effect.call().and_then(|call| self.clients.owner(call)) else {
            return self.out.push(HostEffect::Site(effect));
        };
        let clients = &mut self.clients;
        let effects = match effect {
            Effect::Grant(call, grant) => {
                clients.enter(call);
                let Grant { fence, got, until } = grant;
                clients.hand_down(id, until, |down| Parley::Granted(number, fence, got, down))
            }
            Effect::Waning(_, until) => clients.hand_down(id, until, |x| Parley::Waning(number, x)),
            Effect::Steady(_) => clients.say(id, Parley::Steady(number)),
            Effect::Broken(_, until, reason) => {
                clients.hand_down(id, until, |x| Parley::Broken(number, x, reason))
            }
            Effect::Lost(call, loss) => {
                clients.dismiss(call);
                clients.say(id, Parley::Lost(number, loss))
            }
            Effect::Denied(call, denial) => {
                clients.dismiss(call);
                clients.say(id, Parley::Denied(number, denial))
            }
            _ => unreachable!("only these speak of a call"),
        };
        self.carry_out(id, effects);
    }

    fn ask_to_be_woken(&mut self) {
        let deadline = self.deadline();
        if deadline != self.wake {
            self.wake = deadline;
            self.out.extend(deadline.map(|when| HostEffect::Site(Effect::Wake(when))));
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

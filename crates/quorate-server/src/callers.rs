//! What callers in this process wait for, and what they are told.

use std::collections::BTreeMap;

use quorate_net::clock;
use quorate_session::client::{CallerLoss, Told};
use quorate_session::{AskId, CallId, Claim, Tick};
use quorate_site::{Effect, Input};
use tokio::sync::mpsc::UnboundedSender;

use crate::local::{Order, Reply};

/// The callers in this process.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    calls: BTreeMap<CallId, Caller>,
    asks: BTreeMap<AskId, UnboundedSender<Reply>>,
}

#[derive(Debug)]
struct Caller {
    told: UnboundedSender<Told>,
    /// Until when it believes to be good, once it is inside.
    until: Option<Tick>,
    steady: bool,
}

impl Callers {
    /// What an order of a caller is to the site.
    pub(crate) fn on_order(&mut self, order: Order) -> Input {
        match order {
            Order::Claim(call, wish, told) => {
                self.calls.insert(call, Caller { told, until: None, steady: false });
                let deadline = wish.patience.map(|patience| clock::now() + patience);
                let (name, want, card) = (wish.name, wish.want, wish.card);
                Input::Claim(call, Claim { name, want, card, deadline, hasty: wish.hasty })
            }
            Order::Leave(call) => {
                self.calls.remove(&call);
                Input::Leave(call)
            }
            Order::Ask(ask, question, reply) => {
                self.asks.retain(|_, reply| !reply.is_closed());
                self.asks.insert(ask, reply);
                Input::Ask(ask, question)
            }
            Order::Break(wish) => Input::Break(wish),
        }
    }

    /// Tells a caller what its site says.
    pub(crate) fn tell(&mut self, effect: Effect) {
        match effect {
            Effect::Grant(call, grant) => self.with(call, |caller| {
                (caller.until, caller.steady) = (Some(grant.until), true);
                drop(caller.told.send(Told::Granted(grant.fence, grant.got, grant.until)));
            }),
            Effect::Horizon(until) => {
                for caller in self.calls.values_mut().filter(|caller| caller.steady) {
                    caller.extend(until);
                }
            }
            Effect::Waning(call, until) => self.with(call, |caller| {
                caller.steady = false;
                caller.extend(until);
            }),
            Effect::Steady(call) => self.with(call, |caller| caller.steady = true),
            Effect::Broken(call, until, reason) => self.with(call, |caller| {
                caller.steady = false;
                drop(caller.told.send(Told::Broken(until, reason)));
            }),
            Effect::Lost(call, loss) => self.end(call, Told::Lost(CallerLoss::Told(loss))),
            Effect::Denied(call, denial) => self.end(call, Told::Denied(denial)),
            Effect::Asked(ask, sites) => self.reply(ask, Reply::Asked(sites)),
            Effect::Answer(ask, site, answer) => self.reply(ask, Reply::Answer(site, answer)),
            _ => unreachable!("the rest is the driver's"),
        }
    }

    /// All calls, when the site stops: who is inside is told so.
    pub(crate) fn dismiss_all(&mut self) -> Vec<CallId> {
        for caller in self.calls.values().filter(|caller| caller.until.is_some()) {
            drop(caller.told.send(Told::Lost(CallerLoss::Unheard)));
        }
        std::mem::take(&mut self.calls).into_keys().collect()
    }

    fn with(&mut self, call: CallId, deed: impl FnOnce(&mut Caller)) {
        if let Some(caller) = self.calls.get_mut(&call) {
            deed(caller);
        }
    }

    fn end(&mut self, call: CallId, told: Told) {
        if let Some(caller) = self.calls.remove(&call) {
            drop(caller.told.send(told));
        }
    }

    fn reply(&mut self, ask: AskId, reply: Reply) {
        if let Some(sender) = self.asks.get(&ask) {
            drop(sender.send(reply));
        }
    }
}

impl Caller {
    fn extend(&mut self, until: Tick) {
        if let Some(told) = self.until.as_mut().filter(|told| **told < until) {
            *told = until;
            drop(self.told.send(Told::Extended(until)));
        }
    }
}

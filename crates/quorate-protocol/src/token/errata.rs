//! The algorithm as printed, and mutants of the repaired one: one repair undone at a time.
//!
//! For tests and scenarios that show what the repairs are for. What is undone is undone around the
//! transitions, by bending what comes in and what goes out; no production transition knows of it.

use std::fmt;

use quorate_quorum::SiteId;

use super::{Durable, Grant, Message, Options, State, Timer, Token, TokenLock, Via};
use crate::group::Claim;
use crate::{Basis, ClaimId, Effect, Input, Out, Protocol, Shared, Tick, View, Violation};

/// A repair that can be undone, or an error that can be made: by its number in
/// `docs/protocols/token.md`, or by a name where the paper has nothing to repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Erratum {
    /// Sessions are numbered only where an idle holder opens one.
    E1,
    /// A site that does not have the token forgets what it is asked for. T1 never runs out, so
    /// that one sees who waits.
    E4,
    /// A holder does not tell those that do not know of it. T1 never runs out.
    E5,
    /// Starts, questions and answers do not say of which request they speak.
    E12,
    /// T2 is armed only once.
    E13,
    /// A waiting site has the last holder send its copy of the token again, and a holder takes it.
    E14,
    /// A token can only be made from a copy, and nobody has one.
    E16,
    /// T1 never runs out: nothing else is wrong.
    NoT1,
    /// An attempt to make a token goes on with the number that its request had.
    OldNumber,
    /// Nothing is on disk.
    Forgetful,
    /// A restarted site promises and answers at once.
    NoQuarantine,
    /// A follower is not told until when its captain vouches for it.
    Unbound,
}

impl Erratum {
    /// All of them.
    pub const ALL: [Erratum; 12] = [
        Erratum::E1,
        Erratum::E4,
        Erratum::E5,
        Erratum::E12,
        Erratum::E13,
        Erratum::E14,
        Erratum::E16,
        Erratum::NoT1,
        Erratum::OldNumber,
        Erratum::Forgetful,
        Erratum::NoQuarantine,
        Erratum::Unbound,
    ];

    /// Whether a request waits for ever, so that one sees what only T1 would find.
    fn is_patient(self) -> bool {
        matches!(self, Erratum::E4 | Erratum::E5 | Erratum::NoT1)
    }
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::spelling::dashed(&format!("{self:?}")))
    }
}

/// A token lock with one repair undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unrepaired {
    undone: Erratum,
    lock: TokenLock,
    /// The token as it was last sent from here (`old_token`).
    copy: Option<Token>,
}

impl Unrepaired {
    /// A site at which nothing has happened yet, without the repair of `undone`.
    pub fn new(me: SiteId, n: usize, options: Options, undone: Erratum) -> Self {
        Self { undone, lock: TokenLock::new(me, n, options), copy: None }
    }

    /// A site that has restarted with what was on its disk.
    pub fn restarted(
        (me, n): (SiteId, usize),
        options: Options,
        undone: Erratum,
        durable: Durable,
    ) -> Self {
        let mut lock = TokenLock::restarted(me, n, options, durable);
        lock.waking = undone != Erratum::NoQuarantine;
        Self { undone, lock, copy: None }
    }

    /// What is left of the lock.
    pub fn lock(&self) -> &TokenLock {
        &self.lock
    }

    /// What is left to do of an input; `None` if nothing is.
    fn bend(
        &mut self,
        input: Input<TokenLock>,
        out: &mut Out<TokenLock>,
    ) -> Option<Input<TokenLock>> {
        let waits = self.lock.state() == State::R;
        match (self.undone, input) {
            (Erratum::E16, Input::Expire(Timer::T1))
            | (Erratum::E5, Input::Deliver(_, Message::Hint)) => None,
            (Erratum::E14, Input::Expire(Timer::T1)) if waits => {
                self.send_copy(out);
                None
            }
            (Erratum::E14, Input::Deliver(_, Message::Token { token, .. }))
                if self.lock.token().is_some() =>
            {
                let held = self.lock.held.as_mut().expect("a token is here");
                held.followers.clear();
                held.token.queue = token.queue;
                None
            }
            (Erratum::E12, Input::Deliver(from, message)) => {
                Some(Input::Deliver(from, self.bend_number(from, message)))
            }
            (_, input) => Some(input),
        }
    }

    /// Sends the saved copy to the first that waits in it.
    fn send_copy(&self, out: &mut Out<TokenLock>) {
        if let Some(copy) = &self.copy
            && let Some(front) = copy.queue.front()
            && front.site != self.lock.me
        {
            out.send(front.site, Message::Token { token: copy.clone(), until: None });
        }
    }

    /// A message that does not say of which request it speaks is taken for the present one.
    fn bend_number(&self, from: SiteId, mut message: Message) -> Message {
        let lock = &self.lock;
        match &mut message {
            Message::IsComplete(pass) => match (&lock.want, &lock.inside) {
                (Some(want), _) if want.groups.contains(&pass.group) => pass.sn = want.sn,
                (_, Some(inside)) if inside.via == Via::Follower(from) => pass.sn = inside.sn,
                _ => {}
            },
            Message::Complete { sn, .. } => {
                let held = lock.held.as_ref().and_then(|held| held.followers.get(&from));
                *sn = held.map_or(*sn, |follower| follower.sn);
            }
            _ => {}
        }
        message
    }

    /// Makes further errors after a step.
    fn err(&mut self, expired: Option<Timer>, number: u64, out: &mut Out<TokenLock>) {
        match self.undone {
            Erratum::E4 => self.lock.heard.clear(),
            Erratum::OldNumber if expired == Some(Timer::T1) => {
                if let Some(want) = &mut self.lock.want {
                    (self.lock.sn, want.sn) = (number, number);
                }
            }
            _ => {}
        }
        for effect in out.iter_mut() {
            let Effect::Send(_, message) = effect else { continue };
            match (self.undone, message) {
                (Erratum::E1, Message::Token { token, .. }) => token.stamp.session = 1,
                (Erratum::E14, Message::Token { token, .. }) => self.copy = Some(token.clone()),
                (Erratum::OldNumber, Message::Prepare { sn, .. }) => *sn = number,
                (Erratum::Unbound, Message::Start(pass) | Message::IsComplete(pass)) => {
                    pass.until = None;
                }
                _ => {}
            }
        }
        out.retain(|effect| match effect {
            Effect::Arm(Timer::T1, _) => !self.undone.is_patient(),
            Effect::Arm(Timer::T2, _) => self.undone != Erratum::E13 || expired != Some(Timer::T2),
            Effect::Persist(_) => self.undone != Erratum::Forgetful,
            _ => true,
        });
    }
}

impl Protocol for Unrepaired {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;
    type Timer = Timer;

    fn step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let mut inner = Out::new();
        let expired = if let Input::Expire(timer) = &input { Some(*timer) } else { None };
        let number = self.lock.sn;
        if let Some(input) = self.bend(input.of(), &mut inner) {
            self.lock.step(site, now, input, &mut inner)?;
        }
        self.err(expired, number, &mut inner);
        for effect in inner.drain() {
            out.push(effect.of());
        }
        Ok(())
    }

    fn rests_on(&self, claim: ClaimId) -> Basis {
        self.lock.rests_on(claim)
    }

    fn view(&self) -> View {
        self.lock.view()
    }

    fn is_wanted(&self) -> bool {
        self.lock.is_wanted()
    }

    fn is_vacant(&self) -> bool {
        self.lock.is_vacant()
    }

    fn retire(&self, site: &mut Shared) {
        self.lock.retire(site);
    }
}

//! The repairs that sessions make necessary, undone: the holes in earlier drafts of the site layer.

use quorate_quorum::SiteId;

use super::arbiter::Arbiter;
use super::errata::{Erratum, Unrepaired};
use super::requester::Phase;
use super::{Grant, Message, Mutex, Release, Target};
use crate::{Effect, Fence, GrantNo, Input, Out, Shared, Ticket};

impl Unrepaired {
    /// What is left to do of a session's fate; `None` if nothing is.
    pub(super) fn bend_session(
        &mut self,
        site: &mut Shared,
        input: Input<Mutex>,
        out: &mut Out<Mutex>,
    ) -> Option<Input<Mutex>> {
        match (self.undone, &input) {
            (Erratum::BothHalves, &Input::Lost(peer)) => {
                self.mutex.arbiter.on_closed(site, peer, out);
            }
            (Erratum::SharedFence, Input::Turn(claim)) => {
                if let Phase::Inside(request, fence) = &self.mutex.requester.phase {
                    out.grant(*claim, Grant { ticket: request.ticket, fence: *fence });
                    return None;
                }
            }
            (Erratum::DirectGrows, Input::Open(peer, _)) => {
                if let Some(request) = self.mutex.requester.phase.request_mut() {
                    request.cut.remove(peer);
                }
            }
            (Erratum::NoQuarantine, Input::Cleared) => return None,
            (Erratum::NoRecheck, &Input::Lost(peer)) => {
                self.mutex.requester.on_lost(site, peer, out);
                return None;
            }
            (_, &Input::Closed(client)) => return self.bend_closed(site, client, out),
            _ => {}
        }
        Some(input)
    }

    /// The session of `client` is over here; `None` if that is dealt with.
    fn bend_closed(
        &mut self,
        site: &mut Shared,
        client: SiteId,
        out: &mut Out<Mutex>,
    ) -> Option<Input<Mutex>> {
        let (floor, arbiter) = (site.floor(), &mut self.mutex.arbiter);
        match self.undone {
            Erratum::NoAsking => {
                arbiter.on_closed(site, client, out);
                arbiter.ask_nobody(site, out);
                out.retain(|effect| !matches!(effect, Effect::Send(_, Message::Where { .. })));
            }
            Erratum::EarlyUnused => {
                let early = std::mem::take(&mut arbiter.early);
                arbiter.on_closed(site, client, out);
                arbiter.early = early;
            }
            Erratum::FloorKeptAtAsked if arbiter.asking.is_some() => {
                arbiter.on_closed(site, client, out);
                keep_floor(site, floor, out);
            }
            Erratum::FloorKept => {
                arbiter.on_closed(site, client, out);
                keep_floor(site, floor, out);
            }
            _ => return Some(Input::Closed(client)),
        }
        None
    }

    /// What is left to do of a message; `None` if nothing is.
    pub(super) fn bend_message(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        mut message: Message,
        out: &mut Out<Mutex>,
    ) -> Option<Message> {
        match (self.undone, &mut message) {
            (Erratum::AnySession, Message::Reply { arbiter, to: Target { session, .. }, .. }) => {
                *session = site.session_at(*arbiter).unwrap_or(*session);
            }
            (Erratum::NoQuarantine, _) => site.quarantined = false,
            (Erratum::NoRepeat, Message::Direct { ticket, cut }) => {
                let holder = self.mutex.arbiter.lock.as_mut();
                if let Some(holder) = holder.filter(|holder| holder.ticket == *ticket) {
                    holder.cut = std::mem::take(cut);
                    return None;
                }
            }
            (Erratum::LackNotBinding, &mut Message::Where { ticket, upto }) => {
                self.mutex.requester.on_where(from, ticket, upto, out);
                self.promise_nothing(from);
                return None;
            }
            (Erratum::HeldInOrder, Message::Request { held, .. }) => *held = false,
            (Erratum::DropInside, Message::Reply { to, .. })
                if matches!(&self.mutex.requester.phase,
                    Phase::Inside(request, _) if request.ticket == to.ticket) =>
            {
                out.ignore("the request is inside");
                return None;
            }
            (Erratum::FloorKeptAtGone, Message::Release(release)) => {
                let (floor, release) = (site.floor().max(release.floor), release.clone());
                self.release_with_floor(site, release, floor, out);
                return None;
            }
            _ => {}
        }
        Some(message)
    }

    /// Takes the questions that were left open away before a demand is answered.
    pub(super) fn take_questions(&mut self, input: &Input<Mutex>) -> Vec<(SiteId, GrantNo)> {
        let kept = self.undone == Erratum::InquiriesKept;
        let demand = matches!(input, Input::Deliver(_, Message::Inquire { demand: true, .. }));
        let Some(request) = self.mutex.requester.phase.request_mut().filter(|_| kept && demand)
        else {
            return Vec::new();
        };
        let open = request.permissions.iter_mut();
        open.filter_map(|(&arbiter, p)| p.inquired.take().map(|number| (arbiter, number))).collect()
    }

    /// Leaves questions open again.
    pub(super) fn put_back(&mut self, questions: Vec<(SiteId, GrantNo)>) {
        let Some(request) = self.mutex.requester.phase.request_mut() else { return };
        for (arbiter, number) in questions {
            if let Some(permission) = request.permissions.get_mut(&arbiter)
                && permission.held
            {
                permission.inquired = Some(number);
            }
        }
    }

    /// A request that comes while the arbiter asks for its permission, if only it is to be told.
    pub(super) fn newcomer(&self, input: &Input<Mutex>) -> Option<Ticket> {
        let asking = self.mutex.arbiter.asking.is_some();
        match input {
            Input::Deliver(_, Message::Request { ticket, .. }) if asking => {
                (self.undone == Erratum::OvertakenUntold).then_some(*ticket)
            }
            _ => None,
        }
    }

    fn promise_nothing(&mut self, arbiter: SiteId) {
        let request = self.mutex.requester.phase.request_mut();
        if let Some(permission) = request.and_then(|r| r.permissions.get_mut(&arbiter)) {
            permission.refused = GrantNo::default();
        }
    }

    fn release_with_floor(
        &mut self,
        site: &mut Shared,
        release: Release,
        floor: Fence,
        out: &mut Out<Mutex>,
    ) {
        self.mutex.arbiter.on_release(site, release, out);
        keep_floor(site, floor, out);
    }

    /// Takes back what a step should not have sent.
    pub(super) fn bend_effects(&self, out: &mut Out<Mutex>) {
        let undone = self.undone;
        out.retain(|effect| match effect {
            Effect::Send(_, Message::Direct { .. }) => undone != Erratum::NoDirect,
            Effect::Persist(_) => undone != Erratum::CeilVolatile,
            _ => true,
        });
        for effect in out.iter_mut().filter(|_| undone == Erratum::NoDemand) {
            if let Effect::Send(_, Message::Inquire { demand, .. }) = effect {
                *demand = false;
            }
        }
    }
}

impl Arbiter {
    /// Takes it for granted that nobody was handed the permission it looks for.
    fn ask_nobody(&mut self, site: &mut Shared, out: &mut Out<Mutex>) {
        let asked: Vec<Ticket> = self.waiting.tickets().collect();
        for ticket in asked {
            self.stop_asking(site, ticket, out);
        }
    }
}

/// Makes a step have left the floor where it was, also in what it sent.
fn keep_floor(site: &mut Shared, floor: Fence, out: &mut Out<Mutex>) {
    site.keep_floor(floor);
    for effect in out.iter_mut() {
        if let Effect::Send(_, Message::Reply { arbiter, fences, .. }) = effect
            && *arbiter == site.site()
        {
            fences.floor = floor;
        }
    }
}

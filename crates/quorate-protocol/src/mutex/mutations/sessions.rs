//! The repairs for sessions that end, undone: section "When sessions end" of
//! `docs/protocols/mutex.md` lists them.

use quorate_quorum::SiteId;

use super::{Mutant, Mutation};
use crate::mutex::arbiter::Arbiter;
use crate::mutex::requester::Phase;
use crate::mutex::{Grant, Message, Mutex, Release, Target};
use crate::{Effect, Fence, GrantNo, Input, Out, Shared, Ticket};

impl Mutant {
    /// Changes an input other than a message; `None` if it has been handled.
    pub(super) fn mutate_session(
        &mut self,
        site: &mut Shared,
        input: Input<Mutex>,
        out: &mut Out<Mutex>,
    ) -> Option<Input<Mutex>> {
        match (self.undone, &input) {
            (Mutation::BothHalves, &Input::Lost(peer)) => {
                site.end_session();
                self.mutex.arbiter.on_closed(site, peer, out);
            }
            (Mutation::SharedFence, Input::Turn(claim)) => {
                if let Phase::Inside(request, fence) = &self.mutex.requester.phase {
                    out.grant(*claim, Grant { ticket: request.ticket, fence: *fence });
                    return None;
                }
            }
            (Mutation::DirectGrows, Input::Open(peer, _)) => {
                if let Some(request) = self.mutex.requester.phase.request_mut() {
                    request.cut.remove(peer);
                }
            }
            (Mutation::NoQuarantine, Input::Cleared) | (Mutation::NoSpares, Input::Expire(_)) => {
                return None;
            }
            (Mutation::NoRecheck, &Input::Lost(peer)) => {
                self.mutex.requester.on_lost(site, peer, out);
                return None;
            }
            (Mutation::OwnBlocks, Input::Closed(_)) => site.end_session(),
            (_, &Input::Closed(client)) => return self.mutate_closed(site, client, out),
            _ => {}
        }
        Some(input)
    }

    /// The session of `client` here has ended; `None` if that has been handled.
    fn mutate_closed(
        &mut self,
        site: &mut Shared,
        client: SiteId,
        out: &mut Out<Mutex>,
    ) -> Option<Input<Mutex>> {
        let (floor, arbiter) = (site.floor(), &mut self.mutex.arbiter);
        match self.undone {
            Mutation::NoAsking => {
                arbiter.on_closed(site, client, out);
                arbiter.drop_all_candidates(site, out);
                out.retain(|effect| !matches!(effect, Effect::Send(_, Message::Where { .. })));
            }
            Mutation::EarlyUnused => {
                let early = std::mem::take(&mut arbiter.early);
                arbiter.on_closed(site, client, out);
                arbiter.early = early;
            }
            Mutation::FloorKeptAtAsked if arbiter.query.is_some() => {
                arbiter.on_closed(site, client, out);
                keep_floor(site, floor, out);
            }
            Mutation::FloorKept => {
                arbiter.on_closed(site, client, out);
                keep_floor(site, floor, out);
            }
            _ => return Some(Input::Closed(client)),
        }
        None
    }

    /// Changes a message; `None` if it has been handled.
    pub(super) fn mutate_message(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        mut message: Message,
        out: &mut Out<Mutex>,
    ) -> Option<Message> {
        match (self.undone, &mut message) {
            (Mutation::AnySession, Message::Reply { arbiter, to: Target { session, .. }, .. }) => {
                *session = site.session_at(*arbiter).unwrap_or(*session);
            }
            (Mutation::NoQuarantine, _) => site.quarantined = false,
            (Mutation::NoRepeat, Message::Direct { ticket, cut }) => {
                let holder = self.mutex.arbiter.lock.as_mut();
                if let Some(holder) = holder.filter(|holder| holder.ticket == *ticket) {
                    holder.cut = std::mem::take(cut);
                    return None;
                }
            }
            (Mutation::LackNotBinding, &mut Message::Where { ticket, upto }) => {
                self.mutex.requester.on_where(from, ticket, upto, out);
                self.forget_refusal(from);
                return None;
            }
            (Mutation::HeldInOrder, Message::Request { held, .. }) => *held = false,
            (Mutation::DropInside, Message::Reply { to, .. })
                if matches!(&self.mutex.requester.phase,
                    Phase::Inside(request, _) if request.ticket == to.ticket) =>
            {
                out.ignore("the request is inside");
                return None;
            }
            (
                Mutation::RefusedAsked,
                Message::Release(Release { passed: Some(pass), .. })
                | Message::Yield { passed: Some(pass), .. },
            ) => self.mutex.arbiter.forget_receiver(pass),
            (Mutation::FloorKeptAtGone, Message::Release(release)) => {
                let (floor, release) = (site.floor().max(release.floor), release.clone());
                self.release_with_floor(site, release, floor, out);
                return None;
            }
            _ => {}
        }
        Some(message)
    }

    /// Removes the open inquires before an inquire on demand is handled.
    pub(super) fn take_open_inquires(&mut self, input: &Input<Mutex>) -> Vec<(SiteId, GrantNo)> {
        let kept = self.undone == Mutation::InquiriesKept;
        let demand = matches!(input, Input::Deliver(_, Message::Inquire { demand: true, .. }));
        let Some(request) = self.mutex.requester.phase.request_mut().filter(|_| kept && demand)
        else {
            return Vec::new();
        };
        let open = request.permissions.iter_mut();
        open.filter_map(|(&arbiter, p)| p.inquired.take().map(|number| (arbiter, number))).collect()
    }

    /// Puts open inquires back.
    pub(super) fn restore_inquires(&mut self, inquires: Vec<(SiteId, GrantNo)>) {
        let Some(request) = self.mutex.requester.phase.request_mut() else { return };
        for (arbiter, number) in inquires {
            if let Some(permission) = request.permissions.get_mut(&arbiter)
                && permission.held
            {
                permission.inquired = Some(number);
            }
        }
    }

    /// A request that arrives while its arbiter asks the candidates, if only it is to get a fail.
    pub(super) fn newcomer(&self, input: &Input<Mutex>) -> Option<Ticket> {
        let querying = self.mutex.arbiter.query.is_some();
        match input {
            Input::Deliver(_, Message::Request { ticket, .. }) if querying => {
                (self.undone == Mutation::OvertakenUntold).then_some(*ticket)
            }
            _ => None,
        }
    }

    fn forget_refusal(&mut self, arbiter: SiteId) {
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

    /// Removes or changes the effects of a step as the mutation requires.
    pub(super) fn mutate_effects(&self, out: &mut Out<Mutex>) {
        let undone = self.undone;
        out.retain(|effect| match effect {
            Effect::Send(_, Message::Direct { .. }) => undone != Mutation::NoDirect,
            Effect::Persist(_) => undone != Mutation::CeilVolatile,
            _ => true,
        });
        for effect in out.iter_mut().filter(|_| undone == Mutation::NoDemand) {
            if let Effect::Send(_, Message::Inquire { demand, .. }) = effect {
                *demand = false;
            }
        }
    }
}

impl Arbiter {
    /// Assumes that no candidate has the permission.
    fn drop_all_candidates(&mut self, site: &mut Shared, out: &mut Out<Mutex>) {
        let candidates: Vec<Ticket> = self.waiting.tickets().collect();
        for &ticket in &candidates {
            self.waiting.get_mut(ticket).expect("it waits here").asked = false;
        }
        for ticket in candidates {
            self.drop_candidate(site, ticket, out);
        }
    }
}

/// Restores the floor after a step, also in the replies it sent.
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

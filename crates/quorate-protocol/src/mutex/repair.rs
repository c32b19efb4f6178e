//! The requester half when sessions end: other arbiters in place of those that are lost.
//!
//! Specified by the site layer's note, sections 4 and 5.

use std::collections::BTreeSet;

use quorate_quorum::{SiteId, SiteSet};

use super::permission::{Permission, Request};
use super::requester::{Phase, Requester};
use super::{Message, Mutex};
use crate::{Fence, GrantNo, Out, Shared, Ticket, Why};

impl Requester {
    /// Nothing was heard of a site for half a lease: asks others in its place, and keeps it.
    pub(super) fn on_silent(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        self.ask_a_quorum(site, out);
    }

    /// Our session at `peer` is over: what it lent us does not count any more, and what was on its
    /// way to us by its hand will not come. Entering may not depend on it any more: try again.
    pub(super) fn on_lost(&mut self, site: &Shared, peer: SiteId, out: &mut Out<Mutex>) {
        let Some(request) = self.phase.request_mut() else {
            return out.ignore("there is no request");
        };
        request.permissions.remove(&peer);
        request.repaired = true;
        request.cut.insert(peer);
        if self.is_lost(site) {
            return self.lose(site, out);
        }
        self.ask_a_quorum(site, out);
        self.tell_all_of_the_cut(out);
    }

    /// We have a session at `peer` again: asks it, if too few are asked.
    pub(super) fn on_open(&mut self, site: &Shared, peer: SiteId, out: &mut Out<Mutex>) {
        let held = self.is_inside();
        let Some(request) = self.phase.request_mut() else {
            return out.ignore("there is no request");
        };
        let enough = site.is_quorum(&request.asked(site));
        if !enough && !request.permissions.contains_key(&peer) {
            request.ask(peer, held, out);
        }
    }

    /// An arbiter looks for its permission, because its holder is lost.
    pub(super) fn on_where(
        &mut self,
        arbiter: SiteId,
        ticket: Ticket,
        upto: GrantNo,
        out: &mut Out<Mutex>,
    ) {
        let request = self.phase.request_mut().filter(|request| request.ticket == ticket);
        let permission = request.and_then(|request| request.permissions.get_mut(&arbiter));
        let answer = match permission {
            Some(permission) if permission.held => {
                Message::Have { ticket, number: permission.number }
            }
            Some(permission) => {
                permission.refused = permission.refused.max(upto);
                Message::Lack { ticket, upto }
            }
            // It is over; if it had the permission, its release is ahead of this answer.
            None => Message::Lack { ticket, upto },
        };
        out.send(arbiter, answer);
    }

    /// An arbiter lets us use more fences.
    pub(super) fn on_raised(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        ticket: Ticket,
        ceil: Fence,
        out: &mut Out<Mutex>,
    ) {
        let request = self.phase.request_mut().filter(|request| request.ticket == ticket);
        let Some(permission) = request.and_then(|r| r.permissions.get_mut(&arbiter)) else {
            return out.ignore("the request is over");
        };
        permission.fences.ceil = permission.fences.ceil.max(ceil);
        self.try_to_enter(site, out);
    }

    fn is_inside(&self) -> bool {
        matches!(self.phase, Phase::Inside(..))
    }

    /// Whether we are inside on the word of too few.
    fn is_lost(&self, site: &Shared) -> bool {
        match &self.phase {
            Phase::Inside(request, _) => !site.is_quorum(&request.counted(site)),
            _ => false,
        }
    }

    /// Tells the caller that its grant is over, and leaves.
    fn lose(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        let Phase::Inside(request, fence) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            unreachable!("only a grant is lost");
        };
        out.lose(request.ticket.claim, Why::NoQuorum);
        request.leave(site, Some(fence), out);
    }

    /// Asks until a quorum is asked in sessions that are neither lost nor silent, if that can be.
    fn ask_a_quorum(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        let held = self.is_inside();
        let Some(request) = self.phase.request_mut() else { return };
        let asked = request.asked(site);
        if site.is_quorum(&asked) {
            return;
        }
        let prefer: Vec<SiteId> = asked.iter().collect();
        let Some(quorum) = site.replacement(&prefer) else { return };
        for arbiter in quorum.iter() {
            if !request.permissions.contains_key(&arbiter) {
                request.ask(arbiter, held, out);
            }
        }
    }

    /// An arbiter that believes us to be the holder repeats its reply: the pass may be lost.
    fn tell_all_of_the_cut(&self, out: &mut Out<Mutex>) {
        let Some(request) = self.phase.request() else { return };
        for &arbiter in request.permissions.keys() {
            let (ticket, cut) = (request.ticket, request.cut.clone());
            out.send(arbiter, Message::Direct { ticket, cut });
        }
    }
}

impl Request {
    /// The sites that were asked, in sessions that are not silent.
    fn asked(&self, site: &Shared) -> SiteSet {
        self.permissions.keys().copied().filter(|&asked| !site.is_silent(asked)).collect()
    }

    fn ask(&mut self, arbiter: SiteId, held: bool, out: &mut Out<Mutex>) {
        let (ticket, cut): (_, BTreeSet<SiteId>) = (self.ticket, self.cut.clone());
        out.send(arbiter, Message::Request { ticket, held, cut });
        self.permissions.insert(arbiter, Permission::default());
        self.repaired = true;
    }

    /// Asks the arbiters whose ceiling is too low to raise it, once.
    pub(super) fn raise(&mut self, ceil: Fence, out: &mut Out<Mutex>) {
        let ticket = self.ticket;
        let lagging = self.permissions.iter_mut().filter(|(_, p)| p.held && p.fences.ceil < ceil);
        for (&arbiter, permission) in lagging {
            if permission.raising < ceil {
                permission.raising = ceil;
                out.send(arbiter, Message::Raise { ticket, ceil });
            }
        }
    }
}

//! The requester half when one of its own sessions ends: it asks other arbiters instead.

use std::collections::BTreeSet;

use quorate_quorum::{SiteId, SiteSet};

use crate::mutex::permission::Permission;
use crate::mutex::request::Request;
use crate::mutex::requester::{Phase, Requester};
use crate::mutex::{Message, Mutex};
use crate::{Fence, GrantNo, Out, Shared, Ticket, Why};

impl Requester {
    /// No reply from a site for half a lease: asks others as well, and keeps its permission.
    pub(in crate::mutex) fn on_silent(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        self.ask_quorum(site, out);
    }

    /// Our session at `peer` has ended: its permission is void, and passes from it are lost. The
    /// next step is to try to enter, because entering may no longer depend on `peer`.
    pub(in crate::mutex) fn on_lost(&mut self, site: &Shared, peer: SiteId, out: &mut Out<Mutex>) {
        let Some(request) = self.phase.request_mut() else {
            return out.ignore("there is no request");
        };
        request.permissions.remove(&peer);
        request.repaired = true;
        request.cut.insert(peer);
        if self.is_lost(site) {
            return self.lose(site, out);
        }
        self.ask_quorum(site, out);
        self.send_cut(out);
    }

    /// We have a session at `peer`: asks it, if no quorum has been asked, or for a spare
    /// permission. Asks others too, if that
    /// is not enough: a site that was silent when we lost another one answers again by now, and
    /// nothing else says so.
    pub(in crate::mutex) fn on_open(&mut self, site: &Shared, peer: SiteId, out: &mut Out<Mutex>) {
        let held = self.is_inside();
        let Some(request) = self.phase.request_mut() else {
            return out.ignore("there is no request");
        };
        let enough = !request.stays && site.is_quorum(&request.asked(site));
        if !enough && !request.permissions.contains_key(&peer) {
            request.ask(peer, held, out);
        }
        self.ask_quorum(site, out);
    }

    /// An arbiter that has lost its holder asks whether we have its permission.
    pub(in crate::mutex) fn on_where(
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
            // The request is over; a release of the permission is ahead of this answer.
            None => Message::Lack { ticket, upto },
        };
        out.send(arbiter, answer);
    }

    /// An arbiter has raised its fence ceiling.
    pub(in crate::mutex) fn on_raised(
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

    /// Whether we are inside and no longer have a quorum of permissions.
    fn is_lost(&self, site: &Shared) -> bool {
        match &self.phase {
            Phase::Inside(request, _) => !site.is_quorum(&request.counted(site)),
            _ => false,
        }
    }

    /// Ends the grant and leaves.
    fn lose(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        let Phase::Inside(request, fence) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            unreachable!("only a grant is lost");
        };
        out.lose(request.ticket.claim, Why::NoQuorum);
        self.disarm_stay(&request, out);
        request.leave(site, Some(fence), out);
    }

    /// Asks more arbiters until a quorum has been asked in sessions that are neither lost nor
    /// silent, if there is such a quorum.
    fn ask_quorum(&mut self, site: &Shared, out: &mut Out<Mutex>) {
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

    /// Sends all arbiters the sites that cannot pass us a permission. An arbiter for which we are
    /// the holder then repeats its reply, because the pass to us may be lost.
    fn send_cut(&self, out: &mut Out<Mutex>) {
        let Some(request) = self.phase.request() else { return };
        for &arbiter in request.permissions.keys() {
            let (ticket, cut) = (request.ticket, request.cut.clone());
            out.send(arbiter, Message::Direct { ticket, cut });
        }
    }
}

impl Request {
    /// The arbiters that were asked, in sessions that are not silent.
    fn asked(&self, site: &Shared) -> SiteSet {
        self.permissions.keys().copied().filter(|&asked| !site.is_silent(asked)).collect()
    }

    pub(in crate::mutex) fn ask(&mut self, arbiter: SiteId, held: bool, out: &mut Out<Mutex>) {
        let (ticket, cut): (_, BTreeSet<SiteId>) = (self.ticket, self.cut.clone());
        out.send(arbiter, Message::Request { ticket, held, cut });
        self.permissions.insert(arbiter, Permission::default());
        self.repaired = true;
    }

    /// Asks every arbiter with too low a ceiling, once, to raise it.
    pub(in crate::mutex) fn raise(&mut self, ceil: Fence, out: &mut Out<Mutex>) {
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

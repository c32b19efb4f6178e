//! Messages of other sites, and of the site to itself.

use quorate_protocol::{Field, Ticket, Violation};
use quorate_quorum::SiteId;
use quorate_session::session::Half;
use quorate_session::{Denial, Name};

use super::Site;
use super::site_core::SiteCore;
use crate::effect::Effect;
use crate::site_message::{Addressed, SiteMessage};

impl Site {
    pub(super) fn on_message(&mut self, from: SiteId, half: Half, message: SiteMessage) {
        match (message, half) {
            (SiteMessage::Protocol(addressed) | SiteMessage::Delegated(addressed, _), _)
                if addressed.message.as_message().is_timed() && from != self.core.me() =>
            {
                // Its deadline is a reading of the sender's clock.
                self.core.reject(from, half, Violation::Implausible(Field::Lease));
            }
            (SiteMessage::Timed(addressed, until), Half::Requester) => {
                if let Some(addressed) = self.core.read_timed(from, addressed, until) {
                    self.on_protocol_message(from, half, addressed);
                }
            }
            (SiteMessage::Protocol(addressed), _) if addressed.half() == half => {
                self.on_protocol_message(from, half, addressed);
            }
            (SiteMessage::Delegated(addressed, delegation), _) if addressed.half() == half => {
                self.on_delegation(from, &addressed.name, delegation);
                self.on_protocol_message(from, half, addressed);
            }
            (SiteMessage::Delegations(delegations), Half::Requester) => {
                for (name, delegation) in delegations {
                    self.on_delegation(from, &name, delegation);
                }
            }
            (SiteMessage::Refused { name, ticket, kind, owner }, Half::Requester) => {
                self.on_refused(&name, ticket, &Denial::OtherKind { kind, by: from, owner });
            }
            (SiteMessage::Break(order, origin), Half::Arbiter) => self.on_break(&order, origin),
            (SiteMessage::Stop(order, origin), Half::Requester) => self.on_stop(&order, origin),
            (SiteMessage::Stopping(order), Half::Arbiter) => self.core.on_stopping(order, from),
            (SiteMessage::Ask(id, question), Half::Arbiter) => {
                self.on_question(from, id, &question);
            }
            (SiteMessage::Answer(id, answer, quarantined), Half::Requester) => {
                self.core.out.push(Effect::Answer(id, from, answer, quarantined));
            }
            _ => self.core.note(from, "ignored: it speaks to the wrong half"),
        }
    }

    fn on_protocol_message(&mut self, from: SiteId, half: Half, addressed: Addressed) {
        let Addressed { name, kind, message } = addressed;
        if let Some(lock) = self.table.get(&name).filter(|lock| lock.kind() != kind) {
            if let Some(ticket) = message.as_message().request(from) {
                let (kind, owner) = (lock.kind(), self.core.owner(lock));
                let refused = SiteMessage::Refused { name, ticket, kind, owner };
                self.core.send(from, Half::Requester, refused);
            } else {
                self.core.note(from, "ignored: the name is in use otherwise");
            }
            return;
        }
        let mut done = Ok(());
        self.with_lock(&name, &kind, |lock, context| {
            done = lock.on_message(context, from, message);
        });
        if let Err(violation) = done {
            self.core.reject(from, half, violation);
        }
        if !self.core.degraded.is_empty() {
            self.core.answered.insert(name); // it may restore a degraded grant
        }
    }

    /// A request of ours was refused: all callers that wait with it are denied.
    fn on_refused(&mut self, name: &Name, ticket: Ticket, denial: &Denial) {
        let Some(lock) = self.table.get(name) else { return };
        let (me, mut calls) = (self.core.me(), Vec::new());
        for request in lock.on_behalf(ticket) {
            if request.site == me {
                calls.extend(lock.waiting_with(request).into_iter().rev());
            } else if let Denial::OtherKind { kind, owner, .. } = denial {
                let (name, kind, owner) = (name.clone(), kind.clone(), owner.clone());
                let refused = SiteMessage::Refused { name, ticket: request, kind, owner };
                self.core.send(request.site, Half::Requester, refused);
            }
        }
        for call in calls {
            self.core.out.push(Effect::Denied(call, denial.clone()));
            self.leave(call);
        }
    }
}

impl SiteCore {
    /// A peer sent what cannot be true: the stream in which it came is over. A violation of our
    /// own is only reported.
    pub(super) fn reject(&mut self, from: SiteId, half: Half, violation: Violation) {
        self.out.push(Effect::Violation(from, violation));
        self.shared.note_rejected(violation);
        self.violations += 1;
        let mut effects = Vec::new();
        self.sessions.reject(from, half, &mut effects);
        self.absorb(effects);
    }
}

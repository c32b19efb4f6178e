//! Questions: what this site knows, and what it asks the others for a client.

use quorate_protocol::{ClaimView, Eta, Fence, View};
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::session::{Half, between};
use quorate_session::{
    Answer, AskId, CallId, CallView, EtaView, ListQuestion, Name, PeerReport, Question,
    RequestView, ResourceView, SiteReport, Unlisted, limits,
};

use super::Site;
use super::site_core::SiteCore;
use crate::effect::Effect;
use crate::lock::{CallerCount, LockInstance};
use crate::site_message::SiteMessage;

impl SiteCore {
    /// Asks all reachable sites, this one included.
    pub(super) fn ask(&mut self, id: AskId, question: &Question) {
        let n = self.config.quorums.n();
        let reachable = |site: &SiteId| self.shared.session_at(*site).is_some();
        let asked: Vec<SiteId> = SiteId::all(n).filter(reachable).collect();
        self.out.push(Effect::Asked(id, asked.clone()));
        for site in asked {
            self.send(site, Half::Arbiter, SiteMessage::Ask(id, question.clone()));
        }
    }
}

impl Site {
    pub(super) fn on_question(&mut self, from: SiteId, id: AskId, question: &Question) {
        let answer = match question {
            Question::Show(name, fence) => {
                Answer::Shown(self.show_first(name, *fence).map(Box::new))
            }
            Question::List(question) => self.list(question),
            Question::Sites => Answer::Site(Box::new(self.report())),
        };
        let quarantined = self.is_quarantined();
        self.core.send(from, Half::Requester, SiteMessage::Answer(id, answer, quarantined));
    }

    /// Whether it has restarted, and has forgotten to whom it had lent: its answers do not count.
    pub fn is_quarantined(&self) -> bool {
        self.core.shared.quarantined
    }

    /// Whether the answers of these sites to a question are enough, without those in quarantine:
    /// see [`SiteAnswer::enough`](quorate_session::SiteAnswer::enough).
    ///
    /// The kind of a free lock is unknown, and the quorums of pools are any majorities: so half of
    /// the sites must answer, and they must be a cover of the cluster's quorums, rotated for the
    /// lock. A list is of any locks, with any rotation.
    pub fn is_enough(&self, question: &Question, sites: &SiteSet) -> bool {
        let (shared, n) = (&self.core.shared, self.core.config.quorums.n());
        let meets = |hash| 2 * sites.len() >= n && shared.is_cover(hash, sites);
        match question {
            Question::Show(name, _) => meets(name.hash64()),
            Question::List(_) => (0..n as u64).all(meets),
            Question::Sites => {
                (0..n as u64).all(|hash| shared.is_quorum_of(shared.quorums(), hash, sites))
            }
        }
    }

    /// A page of the locks in use, as far as this site knows, in the order of their names.
    fn list(&self, ListQuestion { prefix, after }: &ListQuestion) -> Answer {
        let mut names = self.table.index().after(prefix, after.as_ref());
        let (mut views, mut bytes) = (Vec::new(), 0);
        while views.len() < limits::LOCKS_LISTED
            && bytes < limits::ANSWER_BYTES
            && let Some(text) = names.next()
        {
            let name: Name = text.parse().expect("it is the text of a name");
            let lock = self.table.lock(&name);
            let view = self.view(&name, lock, lock.first_callers(limits::CALLERS_LISTED));
            bytes += view.bytes();
            views.push(view);
        }
        let more = names.take(limits::LOCKS_COUNTED).count();
        Answer::Listed(views, u32::try_from(more).unwrap_or(u32::MAX))
    }

    /// What this site knows of a lock; callers with this fence are listed first.
    pub(super) fn show_first(&self, name: &Name, fence: Option<Fence>) -> Option<ResourceView> {
        let lock = self.table.get(name)?;
        let mut callers = lock.first_callers(limits::CALLERS_SHOWN);
        if let Some(fence) = fence {
            let is_meant = |call: &CallId| self.fence(*call) == Some(fence);
            let meant: Vec<CallId> = lock.callers().into_iter().filter(is_meant).collect();
            callers.retain(|call| !meant.contains(call));
            callers.splice(0..0, meant);
            callers.truncate(limits::CALLERS_SHOWN);
        }
        Some(self.view(name, lock, callers))
    }

    fn report(&self) -> SiteReport {
        let sessions = &self.core.sessions;
        let peer = |site| {
            let there = sessions.at(site);
            let silent = there.is_some_and(|there| there.silent);
            PeerReport { site, open: there.is_some(), silent, opened: sessions.of(site).is_some() }
        };
        let peers = SiteId::all(self.core.config.quorums.n()).filter(|&site| site != self.me());
        SiteReport {
            incarnation: sessions.incarnation().0,
            quarantine: between(self.core.now, sessions.quarantined_until()),
            resources: self.table.len(),
            calls: self.core.calls.len(),
            quorum: self.core.config.quorums.min_size(),
            peers: peers.map(peer).collect(),
            joined: self.has_joined(),
        }
    }

    fn eta(&self, Eta { ticket, from, after }: Eta) -> EtaView {
        let end = from.map(|from| from + after);
        let time = end.map_or(after, |end| between(self.core.now, end));
        EtaView { ticket, time, from_now: from.is_some() }
    }

    /// A view of a lock that lists these callers, as far as they fit, and counts the others.
    fn view(&self, name: &Name, lock: &dyn LockInstance, callers: Vec<CallId>) -> ResourceView {
        let shown = lock.view(&callers, limits::CALLERS_SHOWN);
        let (mut calls, mut bytes) = (Vec::new(), 0);
        for id in callers {
            if bytes >= limits::ANSWER_BYTES {
                break;
            }
            let call = self.call_view(id, lock, &shown);
            bytes += call.bytes();
            calls.push(call);
        }
        let CallerCount { inside, waiting } = lock.count_callers();
        let listed = calls.iter().filter(|call| call.fence.is_some()).count();
        let more = Unlisted {
            inside: inside.saturating_sub(listed),
            waiting: waiting.saturating_sub(calls.len() - listed),
        };
        let request = |claim: ClaimView| {
            let ClaimView { ticket, inside, missing, .. } = claim;
            RequestView { ticket, inside, missing }
        };
        ResourceView {
            name: name.clone(),
            kind: lock.kind(),
            calls,
            requests: shown.claims.into_iter().map(request).collect(),
            lent: shown.lent,
            queue: shown.queue,
            token: shown.token,
            more,
            etas: shown.etas.into_iter().map(|eta| self.eta(eta)).collect(),
        }
    }

    fn call_view(&self, id: CallId, lock: &dyn LockInstance, shown: &View) -> CallView {
        let call = &self.core.calls[&id];
        CallView {
            call: id,
            claimant: call.claimant.clone(),
            spec: call.spec.clone(),
            request: lock.request(id, shown).map(|request| request.ticket),
            age: between(call.since, self.core.now),
            fence: call.fence(),
            granted: call.granted.clone(),
            left: self.valid_until(id).map(|until| between(self.core.now, until)),
        }
    }
}

//! Questions: what this site knows, and what it asks the others for a client.

use quorate_protocol::{ClaimView, Eta};
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::session::{Half, between};
use quorate_session::{
    Answer, AskId, CallView, EtaView, Name, PeerReport, Question, RequestView, ResourceView,
    SiteReport,
};

use super::Site;
use super::site_core::SiteCore;
use crate::effect::Effect;
use crate::lock::LockInstance;
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
            Question::Show(name) => Answer::Shown(self.show(name).map(Box::new)),
            Question::List(prefix, most) => self.list(prefix, *most as usize),
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
            Question::Show(name) => meets(name.hash64()),
            Question::List(..) => (0..n as u64).all(meets),
            Question::Sites => {
                (0..n as u64).all(|hash| shared.is_quorum_of(shared.quorums(), hash, sites))
            }
        }
    }

    /// The locks in use, as far as this site knows, in the order of their names.
    fn list(&self, prefix: &str, most: usize) -> Answer {
        let meant = |name: &Name| name.as_str().starts_with(prefix);
        let mut listed: Vec<_> = self.table.iter().filter(|(name, _)| meant(name)).collect();
        listed.sort_unstable_by_key(|(name, _)| name.as_str());
        let more = listed.len().saturating_sub(most);
        let shown = listed.iter().take(most).map(|(name, lock)| self.view(name, &***lock));
        Answer::Listed(shown.collect(), u32::try_from(more).unwrap_or(u32::MAX))
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

    pub(super) fn view(&self, name: &Name, lock: &dyn LockInstance) -> ResourceView {
        let shown = lock.view();
        let call = |id| {
            let call = &self.core.calls[&id];
            CallView {
                call: id,
                claimant: call.claimant.clone(),
                spec: call.spec.clone(),
                request: lock.request(id, &shown).map(|request| request.ticket),
                age: between(call.since, self.core.now),
                fence: call.fence(),
                granted: call.granted.clone(),
                left: self.valid_until(id).map(|until| between(self.core.now, until)),
            }
        };
        let calls = lock.callers().into_iter().map(call).collect();
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
            etas: shown.etas.into_iter().map(|eta| self.eta(eta)).collect(),
        }
    }
}

//! Answers for people: what this site knows, and what it asks the others on their behalf.

use quorate_protocol::{ClaimView, Eta};
use quorate_quorum::SiteId;
use quorate_session::session::{Half, between};
use quorate_session::{
    Answer, AskId, CallView, EtaView, Name, PeerReport, Question, RequestView, ResourceView,
    SiteReport,
};

use super::desk::Desk;
use super::{Resource, Site};
use crate::effect::Effect;
use crate::said::Said;

impl Desk {
    /// Asks all sites within reach, this one too.
    pub(super) fn ask(&mut self, id: AskId, question: &Question) {
        let n = self.config.quorums.n();
        let within_reach = |site: &SiteId| self.shared.session_at(*site).is_some();
        let asked: Vec<SiteId> = SiteId::all(n).filter(within_reach).collect();
        self.out.push(Effect::Asked(id, asked.clone()));
        for site in asked {
            self.say(site, Half::Arbiter, Said::Ask(id, question.clone()));
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
        self.desk.say(from, Half::Requester, Said::Answer(id, answer));
    }

    /// The resources that callers of this site use, in the order of their names.
    fn list(&self, prefix: &str, most: usize) -> Answer {
        let ours = |resource: &Resource| !resource.engine.part().line().is_empty();
        let meant = |name: &Name| name.as_str().starts_with(prefix);
        let listed = self.table.iter().filter(|(name, resource)| meant(name) && ours(resource));
        let mut listed: Vec<_> = listed.collect();
        listed.sort_unstable_by_key(|(name, _)| name.as_str());
        let more = listed.len().saturating_sub(most);
        let shown = listed.iter().take(most).map(|(name, resource)| self.view(name, resource));
        Answer::Listed(shown.collect(), u32::try_from(more).unwrap_or(u32::MAX))
    }

    fn report(&self) -> SiteReport {
        let sessions = &self.desk.sessions;
        let peer = |site| {
            let there = sessions.at(site);
            let silent = there.is_some_and(|there| there.silent);
            PeerReport { site, open: there.is_some(), silent, opened: sessions.of(site).is_some() }
        };
        let peers = SiteId::all(self.desk.config.quorums.n()).filter(|&site| site != self.me());
        SiteReport {
            incarnation: sessions.incarnation().0,
            quarantine: between(self.desk.now, sessions.quarantined_until()),
            resources: self.table.len(),
            calls: self.desk.calls.len(),
            peers: peers.map(peer).collect(),
        }
    }

    fn eta(&self, Eta { ticket, from, after }: Eta) -> EtaView {
        let end = from.map(|from| from + after);
        let time = end.map_or(after, |end| between(self.desk.now, end));
        EtaView { ticket, time, from_now: from.is_some() }
    }

    pub(super) fn view(&self, name: &Name, resource: &Resource) -> ResourceView {
        let part = resource.engine.part();
        let shown = part.view();
        let call = |id| {
            let call = &self.desk.calls[&id];
            CallView {
                call: id,
                card: call.card.clone(),
                want: call.want.clone(),
                request: part.request(id, &shown).map(|request| request.ticket),
                age: between(call.since, self.desk.now),
                fence: call.fence(),
                got: call.got.clone(),
                left: self.valid_until(id).map(|until| between(self.desk.now, until)),
            }
        };
        let calls = part.line().into_iter().map(call).collect();
        let request = |claim: ClaimView| {
            let ClaimView { ticket, inside, missing, .. } = claim;
            RequestView { ticket, inside, missing }
        };
        ResourceView {
            name: name.clone(),
            kind: resource.kind.clone(),
            calls,
            requests: shown.claims.into_iter().map(request).collect(),
            lent: shown.lent,
            queue: shown.queue,
            token: shown.token,
            etas: shown.etas.into_iter().map(|eta| self.eta(eta)).collect(),
        }
    }
}

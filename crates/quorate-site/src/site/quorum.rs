//! Whether this site reaches a quorum, and what it says of it.

use quorate_protocol::Tick;
use quorate_quorum::SiteId;
use quorate_session::client::QuorumStatus;

use super::Site;
use super::site_core::SiteCore;
use crate::Config;
use crate::effect::Effect;

/// What the site has said of its quorum.
#[derive(Clone, Debug)]
pub(super) struct QuorumReport {
    pub(super) said: QuorumStatus,
    /// Whether the set of sites that answer may have changed since.
    pub(super) peers_changed: bool,
    /// A site that has just started has not met the others yet. Until it reaches a quorum, or until
    /// this time, it does not say that it reaches none.
    pub(super) starts_until: Option<Tick>,
}

impl QuorumReport {
    /// The site starts now.
    pub(super) fn new(now: Tick, config: &Config) -> Self {
        let (sites, needed) = (config.quorums.n(), config.quorums.min_size());
        let said = QuorumStatus { reached: true, joined: true, answering: sites, sites, needed };
        let starts_until = Some(now + config.terms.lease.length()).filter(|_| sites > 1);
        Self { said, peers_changed: false, starts_until }
    }
}

impl Site {
    /// Whether it has a session at every other site, and every other site has one here.
    pub fn is_connected_to_all(&self) -> bool {
        let sessions = self.sessions();
        let mut peers = SiteId::all(self.core.config.quorums.n()).filter(|&peer| peer != self.me());
        peers.all(|peer| sessions.at(peer).is_some() && sessions.of(peer).is_some())
    }
}

impl SiteCore {
    /// Whether a quorum answers, by the cluster's own quorums. Those of a kind of lock, or of a
    /// name if they are rotated, may be others.
    pub(super) fn quorum_status(&self) -> QuorumStatus {
        let quorums = &*self.config.quorums;
        let (me, sites) = (self.me(), quorums.n());
        let answers = |peer| self.sessions.at(peer).is_some_and(|session| !session.silent);
        let answering = SiteId::all(sites).filter(|&peer| peer == me || answers(peer)).count();
        if !self.identity.has_begun() {
            let (answering, needed) = self.identity.progress();
            return QuorumStatus { reached: false, joined: false, answering, sites, needed };
        }
        let reached = self.shared.can_ask(quorums, 0);
        QuorumStatus { reached, joined: true, answering, sites, needed: quorums.min_size() }
    }

    /// Reports that the site reaches a quorum or does not any more, and how many sites answer while
    /// it does not.
    pub(super) fn review_quorum(&mut self) {
        let has_started = self.quorum.starts_until.is_some_and(|when| when <= self.now);
        if !(std::mem::take(&mut self.quorum.peers_changed) || has_started) {
            return;
        }
        let (before, now) = (self.quorum.said, self.quorum_status());
        if now.reached || has_started {
            self.quorum.starts_until = None;
        }
        if now != before && self.quorum.starts_until.is_none() {
            self.quorum.said = now;
            if !(before.reached && now.reached) {
                self.out.push(Effect::Quorum(now));
            }
        }
    }
}

//! How a client reaches its sites: it leaves one that does not serve it, and ends waits that no
//! site ends.

use super::machine::site;
use super::site_choice::{Order, SiteChoice};
use super::{ClientEffect, ClientMachine, ClientMessage, QuorumStatus};
use crate::Tick;
use crate::claim::Denial;
use crate::session::{self, Packet, RelativeDeadline, Rule, between};

impl ClientMachine {
    /// The same client, which connects to any of its sites by itself.
    pub fn with_sites(mut self, sites: SiteChoice) -> Self {
        self.choice = Some(sites);
        self
    }

    /// Whether it holds grants, and so stays with its site for as long as its session lasts.
    pub fn is_tied(&self) -> bool {
        !self.grants.is_empty()
    }

    /// The place of the site that is used or tried, or was last.
    pub fn site(&self) -> usize {
        self.choice.as_ref().map_or(0, SiteChoice::site)
    }

    pub(super) fn on_up(&mut self) {
        self.connected = true;
        self.draining &= self.keep(Rule::QuorumStatusIsKept);
        if let Some(choice) = &mut self.choice {
            choice.on_up(self.now);
        }
        self.step_sessions(session::Input::Up(site()));
    }

    /// The connection is gone, unless we closed it ourselves.
    pub(super) fn on_down(&mut self) {
        if !std::mem::replace(&mut self.connected, false) {
            return;
        }
        if let Some(choice) = &mut self.choice {
            choice.on_down(self.now);
        }
        self.step_sessions(session::Input::Down(site()));
    }

    pub(super) fn on_dial_failed(&mut self, place: usize) {
        if let Some(choice) = &mut self.choice {
            choice.on_dial_failed(self.now, place);
        }
    }

    /// A packet of the site, unless we closed the connection before it was read.
    pub(super) fn on_packet(&mut self, packet: Packet<ClientMessage>) {
        if !self.connected {
            return;
        }
        self.heard = Some(self.now);
        // Only these answer a Hello or a renewal: if a site receives nothing of ours, its other
        // packets may still arrive.
        let answers = matches!(
            packet,
            Packet::Welcome(..)
                | Packet::Renewed(..)
                | Packet::RetryAfter(..)
                | Packet::Refused(..)
        );
        if let Some(choice) = self.choice.as_mut().filter(|_| answers) {
            choice.on_answer(self.now);
        }
        let refused = matches!(packet, Packet::Refused(..));
        self.step_sessions(session::Input::Packet(site(), packet));
        let open = self.is_open();
        // A refusal of another session says nothing about the one we have.
        if let Some(choice) = self.choice.as_mut().filter(|_| refused && !open) {
            choice.set_unwanted(true);
        }
    }

    /// Sends a packet, and notes whether the site has to answer it.
    pub(super) fn send_packet(&mut self, packet: Packet<ClientMessage>) {
        if let (Some(choice), Packet::Hello(_) | Packet::Renew(..)) = (&mut self.choice, &packet)
            && self.sessions.terms().keep(Rule::SilentSiteIsLeft)
        {
            choice.on_asked(self.now);
        }
        self.out.push(ClientEffect::Packet(packet));
    }

    pub(super) fn on_quorum(&mut self, status: QuorumStatus) {
        self.quorum = Some(status);
        self.judge_site();
    }

    /// The site is about to stop. A client that holds nothing there moves at once.
    pub(super) fn on_draining(&mut self, end: RelativeDeadline) {
        self.draining = true;
        self.judge_site();
        let end = self.by_our_clock(end).unwrap_or(self.now);
        self.out.push(ClientEffect::Draining(end));
    }

    pub(super) fn judge_site(&mut self) {
        let reached = self.quorum.is_none_or(|status| status.reached)
            || !self.keep(Rule::SiteWithoutQuorumIsLeft);
        if let Some(choice) = &mut self.choice {
            choice.set_unwanted(self.draining || !reached);
        }
    }

    /// Leaves a site that does not serve us, and connects to the next.
    ///
    /// A client that holds nothing needs no session to end before it opens another: what its
    /// former site may still grant it, nobody here believes.
    pub(super) fn review_site(&mut self) {
        let tied = self.is_tied();
        if !tied && self.is_open() && !self.sessions.goes_on(site()) {
            self.step_sessions(session::Input::Abandon(site()));
        }
        while let Some(choice) = &mut self.choice
            && let Some(order) = choice.review(self.now, tied)
        {
            match order {
                Order::Leave => self.leave_site(),
                Order::Dial(place) => {
                    if self.is_open() && place != self.session_site {
                        self.step_sessions(session::Input::Abandon(site()));
                    }
                    self.out.push(ClientEffect::Dial(place));
                }
            }
        }
    }

    /// Closes the connection. The claims that wait leave first, in case the site reads that: it
    /// must not grant them to nobody.
    fn leave_site(&mut self) {
        let waiting: Vec<u64> = self.waiting.calls().collect();
        for call in waiting {
            self.send_leave(call);
        }
        self.flush_unsent();
        self.connected = false;
        self.step_sessions(session::Input::Down(site()));
        self.step_sessions(session::Input::Abandon(site()));
        self.out.push(ClientEffect::Close);
    }

    /// The first deadline of a caller that waits.
    pub(super) fn wait_deadline(&self) -> Option<Tick> {
        self.waiting.deadline().filter(|_| self.keep(Rule::ClientKeepsDeadlines))
    }

    /// Denies the claims whose deadline has come: no wait depends on an answer of the site.
    pub(super) fn expire_waits(&mut self) {
        while let Some(call) = self.waiting.next_due(self.now)
            && self.keep(Rule::ClientKeepsDeadlines)
        {
            self.waiting.remove(call);
            self.send_leave(call);
            self.out.push(ClientEffect::Denied(call, self.timeout_denial()));
        }
    }

    /// Why a claim was not served, as far as is known here.
    fn timeout_denial(&self) -> Denial {
        let silence = self.heard.map(|heard| between(heard, self.now));
        let shortage = self.quorum.and_then(QuorumStatus::denial);
        match (silence, shortage) {
            (Some(silence), Some(shortage)) if silence <= self.lease() / 2 => shortage,
            (Some(silence), None) if silence <= self.lease() / 2 && self.connected => {
                Denial::TimedOut
            }
            _ => Denial::NoAnswer(silence),
        }
    }
}

//! Connections of a site: who the peers are, before their sessions use them.

use quorate_quorum::SiteId;
use quorate_session::session::{self, Rule};

use super::Site;
use super::site_core::SiteCore;
use crate::effect::Effect;
use crate::identity::{Identity, IdentityEffect, SitePacket};

impl Site {
    /// Whether the site has joined its cluster: it takes part once enough sites have registered
    /// its start.
    pub fn has_joined(&self) -> bool {
        self.core.identity.has_begun()
    }
}

impl SiteCore {
    pub(super) fn on_up(&mut self, peer: SiteId) {
        self.held.drop_packets(peer);
        self.drive_identity(|identity, out| identity.on_up(peer, out));
    }

    pub(super) fn on_down(&mut self, peer: SiteId) {
        self.held.drop_packets(peer);
        self.drive_identity(|identity, out| identity.on_down(peer, out));
    }

    pub(super) fn on_packet(&mut self, peer: SiteId, packet: SitePacket) {
        match packet {
            SitePacket::Identity(message) => {
                let has_session = self.sessions.of(peer).is_some();
                self.drive_identity(|identity, out| {
                    identity.on_message(peer, message, has_session, out);
                });
            }
            SitePacket::Session(_) if !self.identity.is_open(peer) => {
                self.note(peer, "ignored: its connection is not open for sessions");
            }
            SitePacket::Session(packet) => {
                self.note_renewal(peer, &packet);
                self.drive_sessions(session::Input::Packet(peer, packet));
                self.refresh_session(peer);
            }
        }
    }

    /// Lets the identity layer act, and carries out its effects.
    pub(super) fn drive_identity(
        &mut self,
        act: impl FnOnce(&mut Identity, &mut Vec<IdentityEffect>),
    ) {
        let mut effects = Vec::new();
        act(&mut self.identity, &mut effects);
        self.apply_identity(effects);
    }

    pub(super) fn apply_identity(&mut self, effects: Vec<IdentityEffect>) {
        for effect in effects {
            match effect {
                IdentityEffect::Send(to, message) => {
                    self.out.push(Effect::Packet(to, SitePacket::Identity(message)));
                }
                IdentityEffect::Persist => self.persist_record(),
                IdentityEffect::Save => self.save_record(),
                IdentityEffect::Begin => {
                    if self.config.terms.keep(Rule::QuarantineFromBeginning) {
                        self.sessions.restart_quarantine(self.now);
                    }
                    self.quorum.peers_changed = true;
                    self.out.push(Effect::Joined);
                }
                IdentityEffect::Open(peer) => self.drive_sessions(session::Input::Up(peer)),
                IdentityEffect::Close(peer) => {
                    self.held.drop_packets(peer);
                    self.drive_sessions(session::Input::Down(peer));
                }
                IdentityEffect::Refuse(peer, why) => self.out.push(Effect::Refuse(peer, why)),
                IdentityEffect::RefusedBy(peer, why) => {
                    self.out.push(Effect::RefusedBy(peer, why));
                }
                IdentityEffect::Note(peer, what) => self.note(peer, what),
            }
        }
    }
}

//! Spare locks: a stage that stays in the critical section collects the locks of all sites its host
//! reaches, while they are alive. The reasons are those of the mutex (`mutex/spares.rs`).

use quorate_quorum::SiteId;

use super::host::Host;
use super::stage::{Stage, StageState};
use super::{RoleLock, Timer};
use crate::{Effect, Out, Shared, Ticket};

impl Host {
    /// The stage has been in the critical section for long: asks all other sites as well.
    ///
    /// **Deviation.** The paper's stage asks one quorum. Scenario: `role/session_spares`.
    pub(super) fn on_stay(&mut self, site: &Shared, pr: Ticket, out: &mut Out<RoleLock>) {
        let stage = self.stage(pr).expect("a timer is disarmed when its stage ends");
        assert!(matches!(stage.state, StageState::Cs(_)), "only stages with members have a timer");
        stage.stays = true;
        let reachable: Vec<SiteId> = site.reachable().iter().collect();
        for arbiter in reachable {
            stage.ask_replacement(arbiter, out);
        }
    }
}

impl Stage {
    /// The stage has entered.
    pub(super) fn arm_stay(&self, out: &mut Out<RoleLock>) {
        if let Some(time) = self.options.spares {
            out.push(Effect::Arm(Timer::Stay(self.pr), time));
        }
    }

    /// The stage is over.
    pub(super) fn disarm_stay(&self, out: &mut Out<RoleLock>) {
        let armed = matches!(self.state, StageState::Cs(_)) && !self.stays;
        if self.options.spares.is_some() && armed {
            out.push(Effect::Disarm(Timer::Stay(self.pr)));
        }
    }
}

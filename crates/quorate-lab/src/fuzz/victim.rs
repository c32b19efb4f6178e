//! One site with its disk, and all that can happen to it.

use std::collections::VecDeque;
use std::time::Duration;

use quorate_quorum::{Kind, SiteId, build};
use quorate_session::Tick;
use quorate_session::client::ClientId;
use quorate_session::session::Rule;
use quorate_site::client_gateway::{GatewayEffect, GatewayInput, SiteWithClients};
use quorate_site::kinds::PoolProtocol;
use quorate_site::{Config, Disk, Effect, Input, Past, SitePacket, Start};
use quorate_wire::ClientPacket;

use super::judge;

/// Something that happens to a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection with a site is up.
    Up(SiteId),
    /// It is gone.
    Down(SiteId),
    /// A packet of a site.
    Packet(SiteId, SitePacket),
    /// A packet of a client.
    Client(ClientId, ClientPacket),
    /// The connection of a client is gone.
    ClientDown(ClientId),
    /// The oldest record that was to be written is on disk.
    Saved,
    /// Time has passed.
    Time,
    /// The site is to stop within this time.
    Drain(Duration),
    /// The process ends, and starts again from its disk.
    Restart,
}

/// One site with its disk.
#[derive(Clone, Debug)]
pub(super) struct Victim {
    config: Config,
    past: Past,
    site: SiteWithClients,
    saves: VecDeque<Disk>,
    /// The time of the latest event.
    pub(super) now: Tick,
    starts: u64,
}

/// What a site wants sent, or why it failed.
pub(super) type Outcome = Result<Vec<GatewayEffect>, String>;

impl Victim {
    /// Starts a site of a cluster of `n` for the first time.
    pub(super) fn start(
        site: SiteId,
        n: usize,
        now: Tick,
        pools: PoolProtocol,
        undone: Option<Rule>,
    ) -> (Self, Vec<GatewayEffect>) {
        let quorums = build(Kind::Majority, n).expect("a majority of any number");
        let mut config = Config::new(site, quorums);
        config.settings.pools = pools;
        if let Some(rule) = undone {
            config.terms = config.terms.without(rule);
        }
        let past = Past::default();
        let start = Start { birth: site.index() as u128 + 7, ..life(site, 1) };
        let (value, effects) = SiteWithClients::start(now, config.clone(), past.clone(), &start)
            .expect("an empty disk is nobody else's");
        let saves = VecDeque::new();
        let mut victim = Self { config, past, site: value, saves, now, starts: 1 };
        victim.write(&effects).expect("a new site writes what is plausible");
        (victim, effects)
    }

    /// The site.
    pub(super) fn site(&self) -> &SiteWithClients {
        &self.site
    }

    /// Whether a record is to be written.
    pub(super) fn is_writing(&self) -> bool {
        !self.saves.is_empty()
    }

    /// Lets something happen, and judges what comes of it.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub(super) fn apply(&mut self, now: Tick, event: Event) -> Outcome {
        self.now = self.now.max(now);
        let input = match event {
            Event::Up(peer) => GatewayInput::Site(Input::Up(peer)),
            Event::Down(peer) => GatewayInput::Site(Input::Down(peer)),
            Event::Packet(from, packet) => GatewayInput::Site(Input::Packet(from, packet)),
            Event::Client(client, packet) => GatewayInput::Client(client, packet),
            Event::ClientDown(client) => GatewayInput::Down(client),
            Event::Saved => match self.saves.pop_front() {
                Some(disk) => GatewayInput::Site(Input::Saved(disk)),
                None => return Ok(Vec::new()),
            },
            Event::Time => GatewayInput::Site(Input::Time),
            Event::Drain(time) => GatewayInput::Site(Input::Drain(time)),
            Event::Restart => return self.restart(),
        };
        let effects = self.site.step(self.now, input);
        judge::effects(&effects)?;
        self.write(&effects)?;
        Ok(effects)
    }

    fn restart(&mut self) -> Outcome {
        self.starts += 1;
        self.saves.clear();
        let start = life(self.config.site, self.starts);
        let started =
            SiteWithClients::start(self.now, self.config.clone(), self.past.clone(), &start);
        let (site, effects) =
            started.map_err(|error| format!("it does not start from its disk: {error}"))?;
        self.site = site;
        self.write(&effects)?;
        Ok(effects)
    }

    /// Writes at once what is to be written. The site learns later that it is on disk.
    fn write(&mut self, effects: &[GatewayEffect]) -> Result<(), String> {
        for effect in effects {
            match effect {
                GatewayEffect::Site(Effect::Persist(disk)) => {
                    judge::record(disk)?;
                    self.past.disk = disk.clone();
                }
                GatewayEffect::Site(Effect::Save(disk)) => {
                    judge::record(disk)?;
                    self.past.disk = disk.clone();
                    self.saves.push_back(disk.clone());
                }
                GatewayEffect::Site(Effect::Keep(name, kept)) => {
                    judge::record(kept)?;
                    self.past.tokens.insert(name.clone(), kept.clone());
                }
                GatewayEffect::Site(Effect::Fold(folded, names)) => {
                    judge::record(folded)?;
                    self.past.fold(folded.clone(), names);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What the driver contributes to a start.
fn life(site: SiteId, starts: u64) -> Start {
    Start { nonce: starts * 1000 + site.index() as u64, ..Start::default() }
}

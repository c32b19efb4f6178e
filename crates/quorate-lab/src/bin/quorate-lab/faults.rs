//! Faults, as the command line describes them.

use std::str::FromStr;

use clap::Args;
use quorate_sim::{Contract, Facts, Faults, Order, SessionlessFaults};
use serde_json::{Value, json};

/// The flags for faults of sessions and sites.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct FaultArgs {
    /// How many sessions may be lost or fall silent, how many sites may crash, how many messages
    /// may be duplicated or dropped, how many timers may expire early, and how often `sim random`
    /// partitions the sites
    #[arg(long, value_name = "lose=1,silent=1,crash=1,duplicate=1,drop=1,early=1,cut=1")]
    pub(crate) budget: Option<Budget>,
    /// The percentage of messages lost in `sim random`, where the protocol allows it
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=99))]
    pub(crate) loss: u32,
    /// Never open a lost session again
    #[arg(long)]
    pub(crate) no_reopen: bool,
    /// Never restart a crashed site
    #[arg(long)]
    pub(crate) no_restart: bool,
}

/// The numbers of faults that may happen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Budget {
    lose: u32,
    silent: u32,
    crash: u32,
    duplicate: u32,
    drop: u32,
    early: u32,
    cut: u32,
}

impl Budget {
    /// Whether there are faults of sessions or sites.
    fn fault_plan(self) -> bool {
        (self.lose, self.silent, self.crash) != (0, 0, 0)
    }

    /// Whether there are faults that sessions hide from protocols.
    fn sessionless(self) -> bool {
        (self.drop, self.early, self.cut) != (0, 0, 0)
    }
}

/// Two fences at a time: small, so that ceilings have to be raised.
const FENCE_BLOCK: u64 = 2;

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut budget = Self::default();
        for part in text.split(',') {
            let (name, number) = part.split_once('=').unwrap_or((part, ""));
            let number =
                number.parse().map_err(|_| format!("expected NAME=NUMBER, not `{part}`"))?;
            match name {
                "lose" => budget.lose = number,
                "silent" => budget.silent = number,
                "crash" => budget.crash = number,
                "duplicate" => budget.duplicate = number,
                "drop" => budget.drop = number,
                "early" => budget.early = number,
                "cut" => budget.cut = number,
                _ => {
                    let known = "lose, silent, crash, duplicate, drop, early, cut";
                    return Err(format!("unknown fault `{name}`; known: {known}"));
                }
            }
        }
        Ok(budget)
    }
}

impl FaultArgs {
    /// The order in which channels deliver, from the argument `order`; `sessions` are FIFO.
    pub(crate) fn order(&self, facts: Facts, order: &str, sessions: bool) -> Result<Order, String> {
        let duplicates = self.budget.map_or(0, |budget| budget.duplicate);
        match order {
            "fifo" if duplicates > 0 => {
                Err("--budget duplicate: only --order any lets messages come twice".to_owned())
            }
            "fifo" => Ok(Order::Fifo),
            "any" if sessions => {
                Err("--order any: sessions keep the order; expected --order fifo".to_owned())
            }
            "any" if facts.any_order => Ok(Order::Any { duplicates }),
            "any" => Err(format!("--order any: a {} needs --order fifo", facts.name)),
            _ => Err(format!("unknown order `{order}`; known: fifo, any")),
        }
    }

    /// The faults of channels for this protocol; none with `sessions`.
    pub(crate) fn sessionless(
        &self,
        facts: Facts,
        sessions: bool,
    ) -> Result<SessionlessFaults, String> {
        let Budget { crash, drop, early, cut, .. } = self.budget.unwrap_or_default();
        let sessionless = SessionlessFaults { drop, early, crash, loss_percent: self.loss, cut };
        let only_early = SessionlessFaults { early, ..SessionlessFaults::default() };
        match (sessions, facts.lossy) {
            (true, _) if sessionless == (SessionlessFaults { crash, ..only_early }) => {
                Ok(only_early)
            }
            (true, _) => Err("drop, cut and --loss: sessions lose nothing and tell of their end; \
                              expected lose, silent, crash or early"
                .to_owned()),
            (false, true) => Ok(sessionless),
            (false, false) if sessionless == only_early => Ok(sessionless),
            (false, false) => Err(format!(
                "drop, cut, crash and --loss: a {} needs sessions; expected lose, silent or early",
                facts.name
            )),
        }
    }

    /// Whether the faults need sessions; some protocols may crash without.
    pub(crate) fn needs_sessions(&self, facts: Facts) -> bool {
        let budget = self.budget.unwrap_or_default();
        let own = facts.lossy && (budget.lose, budget.silent) == (0, 0);
        budget.fault_plan() && !own || self.no_reopen || self.no_restart
    }

    /// Refuses faults for a protocol that assumes reliable channels.
    pub(crate) fn refuse(&self, facts: Facts) -> Result<(), String> {
        match self.given().filter(|_| facts.ideal) {
            Some(flag) => Err(format!("{flag}: {} knows no faults; leave it out", facts.name)),
            None => Ok(()),
        }
    }

    /// The first of these flags that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--budget", self.budget.is_some_and(|b| b.fault_plan() || b.sessionless())),
            ("--loss", self.loss > 0),
            ("--no-reopen", self.no_reopen),
            ("--no-restart", self.no_restart),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// A description of the faults.
    pub(crate) fn faults(&self) -> Faults {
        let Budget { lose, silent, crash, .. } = self.budget.unwrap_or_default();
        let (reopens, restarts) = (!self.no_reopen, !self.no_restart);
        let contract = Contract { reopens, restarts, fence_block: FENCE_BLOCK };
        Faults { lose, silent, crash, contract }
    }

    /// The budget as JSON; null if there is none.
    pub(crate) fn json(&self) -> Value {
        let Some(Budget { lose, silent, crash, duplicate, drop, early, cut }) = self.budget else {
            return Value::Null;
        };
        json!({
            "lose": lose, "silent": silent, "crash": crash, "duplicate": duplicate,
            "drop": drop, "early": early, "cut": cut,
        })
    }

    /// The flags that describe the same.
    pub(crate) fn flags(&self) -> Vec<String> {
        let budget = self.budget.map(|budget| {
            let Budget { lose, silent, crash, duplicate, drop, early, cut } = budget;
            let given = |(name, number)| format!("{name}={number}");
            let struck = [("lose", lose), ("silent", silent), ("crash", crash)];
            let rest = [("duplicate", duplicate), ("drop", drop), ("early", early), ("cut", cut)];
            let rest = rest.into_iter().filter(|(_, number)| *number > 0);
            let parts: Vec<String> = struck.into_iter().chain(rest).map(given).collect();
            format!("--budget {}", parts.join(","))
        });
        let loss = (self.loss > 0).then(|| format!("--loss {}", self.loss));
        let no_reopen = self.no_reopen.then(|| "--no-reopen".to_owned());
        let no_restart = self.no_restart.then(|| "--no-restart".to_owned());
        budget.into_iter().chain(loss).chain(no_reopen).chain(no_restart).collect()
    }
}

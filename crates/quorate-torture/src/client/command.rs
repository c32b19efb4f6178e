//! The command that runs under `quorate lock`: it ignores SIGTERM, and says that it is alive.

use std::collections::BTreeSet;
use std::env;
use std::path::PathBuf;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep};

use super::Voice;
use super::storage::Storage;
use crate::clock::Clock;
use crate::history::What;
use crate::share::{Kind, Share, UNITS};

/// How often it says that it is alive: its end is known as exactly as this.
const PULSE: Duration = Duration::from_millis(4);

/// A command under a lock.
#[derive(Debug, clap::Args)]
pub(crate) struct Command {
    #[arg(long)]
    who: String,
    #[arg(long, default_value_t = 0)]
    offset: u64,
    #[arg(long)]
    kind: Kind,
    #[arg(long)]
    write: bool,
    #[arg(long)]
    stay: u64,
    #[arg(long)]
    storage: PathBuf,
}

impl Command {
    /// Stays for its time, whatever signals come.
    pub(crate) fn run(self) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        runtime.block_on(self.stay())
    }

    async fn stay(self) -> Result<(), String> {
        let mut terminations =
            signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        let clock = Clock::with_offset(Duration::from_nanos(self.offset));
        let voice = Voice::new(self.who.clone(), clock);
        let leave = Instant::now() + Duration::from_millis(self.stay);
        let fence = variable("QUORATE_FENCE").parse().map_err(|_| "no fence".to_owned())?;
        let (share, name) = (self.share(), variable("QUORATE_NAME"));
        let (places, until) = (share.places(&name), voice.now());
        voice.say_at(until, What::Granted { id: 0, name, share, fence, until });
        let storage = Storage::connect(&self.storage).await.map_err(|error| error.to_string())?;
        for place in places {
            let highest = storage.write(&place, fence).await.map_err(|error| error.to_string())?;
            // It does not know until when its grant is valid: its supervisor does.
            voice.say(What::Wrote { id: 0, place, fence, highest, valid: false });
        }
        while Instant::now() < leave {
            tokio::select! {
                () = sleep(PULSE) => {}
                _ = terminations.recv() => {}
            }
            let until = voice.now();
            voice.say_at(until, What::Valid { id: 0, until });
        }
        Ok(())
    }

    fn share(&self) -> Share {
        let (group, units) = (variable("QUORATE_GROUP"), variable("QUORATE_UNITS"));
        match self.kind {
            Kind::Mutex => Share::Alone,
            Kind::Pool => {
                let (count, numbers) = (units.parse().unwrap_or(0), BTreeSet::new());
                Share::Units { count, of: UNITS, numbers }
            }
            Kind::Numbered => {
                let numbers: BTreeSet<u32> =
                    units.split(',').filter_map(|number| number.parse().ok()).collect();
                let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                Share::Units { count, of: UNITS, numbers }
            }
            Kind::Group | Kind::Token => Share::Group(group),
            Kind::Role => {
                Share::Member { group, exclusive: variable("QUORATE_ROLE") == "exclusive" }
            }
            Kind::ReadWrite if self.write => Share::Write,
            Kind::ReadWrite => Share::Read,
        }
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

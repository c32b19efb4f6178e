//! A thin client: a process that uses the crate, with one caller for each kind of lock.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use quorate::{Cluster, Guard, Options};
use tokio::time::{Instant, sleep, sleep_until};

use super::Voice;
use super::claims::Claim;
use super::storage::Storage;
use crate::chance::Chance;
use crate::clock::{Clock, Time, nanos};
use crate::history::What;
use crate::share::{Kind, Share};

/// A process that uses locks until it is killed.
#[derive(Debug, clap::Args)]
pub(crate) struct Thin {
    #[arg(long)]
    who: String,
    #[arg(long)]
    connect: String,
    #[arg(long, default_value_t = 0)]
    offset: u64,
    #[arg(long)]
    seed: u64,
    #[arg(long, value_delimiter = ',')]
    kinds: Vec<Kind>,
    #[arg(long)]
    lease: u64,
    #[arg(long)]
    storage: PathBuf,
    /// It takes no notice of deadlines and losses: the positive control.
    #[arg(long)]
    stubborn: bool,
}

impl Thin {
    /// Uses locks until the process is killed.
    pub(crate) fn run(self) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        tokio::task::LocalSet::new().block_on(&runtime, self.serve())
    }

    async fn serve(self) -> Result<(), String> {
        let clock = Clock::with_offset(Duration::from_nanos(self.offset));
        let storage = Storage::connect(&self.storage).await;
        let caller = Rc::new(Caller {
            voice: Voice::new(self.who.clone(), clock),
            cluster: self.connect().await,
            storage: storage.map_err(|error| format!("no storage: {error}"))?,
            lease: Duration::from_millis(self.lease),
            stubborn: self.stubborn,
        });
        let mut tasks = Vec::new();
        for (kind, number) in self.kinds.iter().zip(1..) {
            let chance = Chance::new(self.seed.wrapping_mul(101).wrapping_add(number));
            tasks.push(tokio::task::spawn_local(Rc::clone(&caller).use_lock(*kind, chance)));
        }
        for task in tasks {
            task.await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Connects, however long that takes: sites may be down.
    async fn connect(&self) -> Cluster {
        loop {
            let options = Options::new(self.connect.split(','));
            match options.timeout(Duration::from_secs(1)).connect().await {
                Ok(cluster) => return cluster,
                Err(error) => {
                    eprintln!("{}: not connected: {error}", self.who);
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}

/// What the callers of one process share.
struct Caller {
    voice: Voice,
    cluster: Cluster,
    storage: Storage,
    lease: Duration,
    stubborn: bool,
}

impl Caller {
    async fn use_lock(self: Rc<Self>, kind: Kind, mut chance: Chance) {
        loop {
            let pause = self.lease.as_millis() / 4;
            let pause = chance.below(usize::try_from(pause).unwrap_or(0));
            sleep(Duration::from_millis(u64::try_from(pause).unwrap_or(0))).await;
            let claim = Claim::draw(kind, self.lease, &mut chance);
            let id = self.voice.next_id();
            let limit = claim.wait.limit(self.lease);
            let wait_ms = limit.map(|limit| nanos(limit) / 1_000_000);
            self.voice.say(What::Asks { id, name: kind.name().into(), wait_ms });
            let asked = Instant::now();
            match claim.ask(&self.cluster).await {
                Ok((guard, share)) => self.hold(id, &claim, guard, share).await,
                Err(error) => {
                    let late = limit.map_or(Duration::ZERO, |l| asked.elapsed().saturating_sub(l));
                    let (why, late_ms) = (error.to_string(), nanos(late) / 1_000_000);
                    self.voice.say(What::Denied { id, why, late_ms });
                }
            }
        }
    }

    /// Holds the lock, and says until when. The time is read before the guard is asked, so the end
    /// is never said to be later than the client believes.
    async fn hold(&self, id: u64, claim: &Claim, guard: Guard, share: Share) {
        let (name, fence) = (claim.kind.name(), guard.fence().0);
        let leave = Instant::now() + claim.stay;
        let mut known = self.valid_until(&guard).unwrap_or_default();
        let places = share.places(name);
        let granted = What::Granted { id, name: name.into(), share, fence, until: known };
        self.voice.say(granted);
        self.write(id, &places, &guard).await;
        while Instant::now() < leave {
            let tick = leave.min(Instant::now() + self.lease / 20);
            tokio::select! {
                () = sleep_until(tick) => {}
                why = guard.lost(), if !self.stubborn => {
                    self.voice.say(What::Lost { id, why: why.to_string() });
                    break;
                }
            }
            let extended = self.valid_until(&guard);
            if let Some(until) = extended.filter(|until| *until > known + nanos(self.lease) / 10) {
                known = until;
                self.voice.say(What::Valid { id, until });
            }
        }
        self.write(id, &places, &guard).await;
        self.voice.say(What::Left { id });
        drop(guard.release().await); // a loss was said already
    }

    /// Until when the client believes to hold the lock, if it does.
    fn valid_until(&self, guard: &Guard) -> Option<Time> {
        let now = self.voice.now();
        let valid = if self.stubborn { self.lease / 4 } else { guard.valid_for() };
        (!valid.is_zero()).then(|| now.saturating_add(nanos(valid)))
    }

    async fn write(&self, id: u64, places: &[String], guard: &Guard) {
        let fence = guard.fence().0;
        for place in places {
            if !guard.is_valid() && !self.stubborn {
                return;
            }
            match self.storage.write(place, fence).await {
                Ok(highest) => {
                    let (place, valid) = (place.clone(), guard.is_valid() || self.stubborn);
                    self.voice.say(What::Wrote { id, place, fence, highest, valid });
                }
                Err(error) => eprintln!("{error}"),
            }
        }
    }
}

//! Clusters of whole sites and client processes: clocks that drift, connections that break, sites
//! and clients that pause, crash and restart, disks that are slow, callers that write too late.
//!
//! [`run`] drives each [`SiteWithClients`](quorate_site::client_gateway::SiteWithClients) as a
//! server would: it carries out effects in order, waits for the disk where they say so, and gives
//! each only its own clock. It drives each
//! [`ClientMachine`](quorate_session::client::ClientMachine) as a client process would, and a
//! caller trusts the deadlines that the machine gives. Faults are drawn from a seed, or listed. The
//! properties are checked from outside, in true time.

mod beliefs;
mod callers;
mod chance;
mod claim_kind;
mod client_faults;
mod clients;
mod clock;
mod disk;
mod disk_faults;
mod ending;
mod event;
mod failover;
mod faults;
mod links;
mod node;
mod property;
mod run;
mod site_faults;
mod storage;
mod tally;
mod views;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use quorate_quorum::QuorumSystem;
use quorate_session::session::Rule;
use quorate_site::kinds::Settings;

use self::run::Run;
use crate::Breach;

pub use self::claim_kind::ClaimKind;
pub use self::event::{AnyPacket, Chronicle, ClientName, Endpoint, Event, Observer};
pub use self::faults::{Cut, Damage, Fault, Faults};
pub use self::property::PROPERTIES;
pub use self::tally::Tally;

/// The parameters of a run; the seed draws the rest.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cluster.
    pub quorums: Arc<dyn QuorumSystem>,
    /// The length of a lease.
    pub lease: Duration,
    /// The largest error of a clock's rate, in millionths. Any two clocks may differ by twice that.
    pub skew: u32,
    /// How long callers make claims and faults happen. Then all faults end but those of sites that
    /// are down, until nobody waits whose quorum is up; then those too, until no claim is left.
    pub lasts: Duration,
    /// The callers.
    pub load: Load,
    /// The kind of lock.
    pub claims: ClaimKind,
    /// Whether every fourth caller claims with `no_wait`.
    pub no_wait: bool,
    /// The faults that the seed may draw.
    pub faults: Faults,
    /// Further faults, with their times in nanoseconds of true time.
    pub listed: Vec<(u64, Fault)>,
    /// Whether to check at every write of a caller that no answers of sites call its lock free.
    pub views: bool,
    /// All streams have windows of 1 to this many frames, as the seed draws; `None` for windows of
    /// many sizes, the usual one among them.
    pub window: Option<usize>,
    /// How far ceilings of fences are raised at a time; `None` for several sizes, drawn.
    pub fence_block: Option<u64>,
    /// How many locks are told of the end of a session, and so on, in one step of a site; `None`:
    /// as the seed draws, one or two in most runs with faults.
    pub locks_per_step: Option<usize>,
    /// The switches of the protocols.
    pub settings: Settings,
    /// The rule of sessions that sites and clients do not follow; `None` outside checks.
    pub undone: Option<Rule>,
    /// What disks lose; `None` outside checks.
    pub forgets: Option<Forgets>,
    /// A property that may break without ending the run, one of [`PROPERTIES`]; `None` outside
    /// checks.
    pub tolerates: Option<&'static str>,
}

/// The callers of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// Callers in client processes, both drawn from the seed.
    Drawn {
        /// How many there are for each site.
        callers: usize,
        /// How many resources there are.
        names: usize,
    },
    /// A single caller, whose process is connected to the first site, that stays as long as it may.
    OneHolder,
    /// The same, and soon after it has entered two callers at every other site claim the same lock,
    /// one of them in the process of the site.
    HolderAndWaiters,
}

/// What a disk loses in a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgets {
    /// The ceiling of fences.
    Ceil,
    /// The longest lease ever agreed to.
    LeaseMax,
    /// The ceiling of the Lamport clock.
    Clock,
    /// The record of the locks that have none of their own.
    Folded,
    /// Everything.
    All,
}

impl Plan {
    /// The usual plan for a cluster: all faults, and clocks within the allowed drift.
    pub fn new(quorums: Arc<dyn QuorumSystem>) -> Self {
        Self {
            quorums,
            lease: Duration::from_secs(1),
            skew: 4_500,
            lasts: Duration::from_secs(30),
            load: Load::Drawn { callers: 2, names: 3 },
            claims: ClaimKind::Mutex,
            no_wait: false,
            faults: Faults::All,
            listed: Vec::new(),
            views: false,
            window: None,
            fence_block: None,
            locks_per_step: None,
            settings: Settings::default(),
            undone: None,
            forgets: None,
            tolerates: None,
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The counters of the run.
    pub tally: Tally,
    /// The property that broke, if one did; the run ends there.
    pub breach: Option<Breach>,
}

/// Runs `plan` with one seed. The same seed gives the same history, byte for byte.
///
/// ```
/// use quorate_quorum::{Kind, build};
/// use quorate_sim::Unwatched;
/// use quorate_sim::cluster::{Plan, run};
///
/// let plan = Plan::new(build(Kind::Majority, 3)?);
/// let outcome = run(&plan, 9, &mut Unwatched);
/// assert_eq!(outcome.breach, None);
/// assert!(outcome.tally.grants > 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(plan: &Plan, seed: u64, watch: &mut dyn Observer) -> Outcome {
    let mut run = Run::new(plan, seed, watch);
    run.begin();
    while run.happen() {}
    run.outcome()
}

//! Clusters of whole sites and client processes: clocks that drift, connections that break, sites
//! and clients that pause, crash and restart, disks that are slow, callers that come too late.
//!
//! [`run`] drives each [`SiteWithClients`](quorate_site::client_gateway::SiteWithClients) as a
//! server would: it carries out effects in order, waits for the disk where they say so, and gives
//! each only its own clock. It drives each
//! [`ClientMachine`](quorate_session::client::ClientMachine) as a client process would, and a
//! caller believes what the machine says. What goes wrong is drawn from a seed, or listed. The
//! properties look on from outside, in true time.

mod beliefs;
mod callers;
mod chance;
mod client_faults;
mod clients;
mod clock;
mod disk;
mod event;
mod faults;
mod links;
mod mishaps;
mod node;
mod property;
mod run;
mod storage;
mod tally;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use quorate_quorum::QuorumSystem;
use quorate_session::session::Rule;
use quorate_site::registry::Settings;

use self::run::Run;
use crate::Breach;

pub use self::event::{AnyPacket, Chronicle, ClientName, Endpoint, Event, Observer};
pub use self::faults::{Cut, Fault, Faults};
pub use self::property::PROPERTIES;
pub use self::tally::Tally;

/// What happens in a run, but for what the seed decides.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cluster.
    pub quorums: Arc<dyn QuorumSystem>,
    /// The length of a lease.
    pub lease: Duration,
    /// How far clocks are off true time at most, in millionths. Any two may differ by twice that.
    pub skew: u32,
    /// For how long callers come and faults happen; then all is well until nothing is left.
    pub lasts: Duration,
    /// Who comes.
    pub load: Load,
    /// What for.
    pub wants: Wants,
    /// Whether every fourth caller does not wait for anybody.
    pub hasty: bool,
    /// What goes wrong, from the seed.
    pub faults: Faults,
    /// What goes wrong besides, and when, in nanoseconds of true time.
    pub listed: Vec<(u64, Fault)>,
    /// The switches of the protocols.
    pub settings: Settings,
    /// The rule of sessions that is not kept, by sites and clients; `None` outside checks.
    pub undone: Option<Rule>,
    /// What disks forget; `None` outside checks.
    pub forgets: Option<Forgets>,
    /// A property that may break without ending the run, one of [`PROPERTIES`]; `None` outside
    /// checks.
    pub tolerates: Option<&'static str>,
}

/// Who comes for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// Callers with habits that the seed draws, in client processes that it draws too.
    Drawn {
        /// How many there are for each site.
        callers: usize,
        /// How many resources there are.
        names: usize,
    },
    /// One caller, whose process is connected to the first site, that stays as long as it may, and
    /// nobody else.
    OneHolder,
}

/// What kind of lock all resources of a run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// One holder at a time.
    Mutex,
    /// Pools of a size that the seed draws; some callers want to know which units they have.
    Pool,
    /// Group locks, or read-write locks, as the seed draws.
    Group,
    /// Role locks; some callers name several groups, and some stay for longer than they say.
    Role,
    /// Group locks by token.
    Token,
}

/// What a disk does not keep across a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgets {
    /// The ceiling of fences.
    Ceil,
    /// The longest lease ever agreed to.
    LeaseMax,
    /// The ceiling of the Lamport clock.
    Clock,
    /// Everything.
    All,
}

impl Plan {
    /// The usual plan for a cluster: all faults, and clocks that differ by less than is allowed.
    pub fn new(quorums: Arc<dyn QuorumSystem>) -> Self {
        Self {
            quorums,
            lease: Duration::from_secs(1),
            skew: 4_500,
            lasts: Duration::from_secs(30),
            load: Load::Drawn { callers: 2, names: 3 },
            wants: Wants::Mutex,
            hasty: false,
            faults: Faults::All,
            listed: Vec::new(),
            settings: Settings::default(),
            undone: None,
            forgets: None,
            tolerates: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was counted.
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
/// let outcome = run(&plan, 7, &mut Unwatched);
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

//! What goes wrong in a run, and when: from the seed, or from a list.

use std::fmt;
use std::str::FromStr;

use quorate_quorum::SiteId;

use crate::chance::Chance;

/// Which faults a seed may bring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faults {
    /// None: messages take their time, and that is all.
    None,
    /// Resets, partitions, slow packets.
    Network,
    /// Crashes, pauses, slow disks.
    Crashes,
    /// All of them.
    #[default]
    All,
}

impl Faults {
    /// The names that people write.
    pub const NAMES: [&'static str; 4] = ["none", "network", "crashes", "all"];
}

impl FromStr for Faults {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "none" => Ok(Faults::None),
            "network" => Ok(Faults::Network),
            "crashes" => Ok(Faults::Crashes),
            "all" => Ok(Faults::All),
            _ => Err(format!("unknown faults `{name}`; known: {}", Faults::NAMES.join(", "))),
        }
    }
}

/// One thing that goes wrong. Times are in nanoseconds of true time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A connection breaks: both ends hear of it, each at its time.
    Reset(SiteId, SiteId),
    /// Nothing gets from the first sites to the others for so long, nor back if it is both ways.
    Partition {
        /// The sites that are not heard.
        from: Vec<SiteId>,
        /// Whether they hear nothing either.
        both_ways: bool,
        /// For how long.
        lasts: u64,
    },
    /// Packets take twenty times as long, for so long.
    SlowPackets(u64),
    /// A site handles nothing for so long. Its clock runs on.
    Pause(SiteId, u64),
    /// A site's memory is gone; it starts again after so long.
    Crash {
        /// The site.
        site: SiteId,
        /// Whether its machine restarts too: then its clock starts anew, and all its callers are
        /// gone. Otherwise callers in other processes go on.
        reboot: bool,
        /// When it starts again.
        lasts: u64,
    },
    /// The site at which the first resource is held crashes, but not its machine.
    CrashHolder(u64),
    /// Writes to a site's disk take very long, for so long.
    SlowDisk(SiteId, u64),
}

impl Fault {
    /// The kinds of faults, as they are counted.
    pub const KINDS: [&'static str; 8] = [
        "reset",
        "partition",
        "one-way partition",
        "slow packets",
        "pause",
        "crash",
        "reboot",
        "slow disk",
    ];

    /// The place of its kind in [`Fault::KINDS`].
    pub(super) fn kind(&self) -> usize {
        match self {
            Fault::Reset(..) => 0,
            Fault::Partition { both_ways: true, .. } => 1,
            Fault::Partition { .. } => 2,
            Fault::SlowPackets(_) => 3,
            Fault::Pause(..) => 4,
            Fault::Crash { reboot: false, .. } | Fault::CrashHolder(_) => 5,
            Fault::Crash { .. } => 6,
            Fault::SlowDisk(..) => 7,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: &u64| time / 1_000_000;
        match self {
            Fault::Reset(a, b) => write!(f, "the connection of {a} and {b} breaks"),
            Fault::Partition { from, both_ways, lasts } => {
                let from: Vec<String> = from.iter().map(ToString::to_string).collect();
                let way = if *both_ways { "are cut off" } else { "are not heard" };
                write!(f, "{} {way} for {} ms", from.join(" "), ms(lasts))
            }
            Fault::SlowPackets(lasts) => write!(f, "packets are slow for {} ms", ms(lasts)),
            Fault::Pause(site, lasts) => write!(f, "{site} pauses for {} ms", ms(lasts)),
            Fault::Crash { site, reboot, lasts } => {
                let what = if *reboot { "and its machine crash" } else { "crashes" };
                write!(f, "{site} {what} for {} ms", ms(lasts))
            }
            Fault::CrashHolder(lasts) => {
                write!(f, "the holder's site crashes for {} ms", ms(lasts))
            }
            Fault::SlowDisk(site, lasts) => {
                write!(f, "the disk of {site} is slow for {} ms", ms(lasts))
            }
        }
    }
}

/// Draws what goes wrong in a run of `n` sites that lasts so long, in order of time.
///
/// How often each kind comes differs from seed to seed: many faults of one kind show what a few of
/// each do not.
pub(super) fn draw(
    faults: Faults,
    (n, lease, lasts): (usize, u64, u64),
    chance: &mut Chance,
) -> Vec<(u64, Fault)> {
    let allowed: &[usize] = match faults {
        Faults::None => return Vec::new(),
        Faults::Network => &[0, 1, 2, 3],
        Faults::Crashes => &[4, 5, 6, 7],
        Faults::All => &[0, 1, 2, 3, 4, 5, 6, 7],
    };
    let mut urn: Vec<usize> = Vec::new();
    for &kind in allowed {
        let times = chance.one_of(&[0, 1, 1, 4]);
        urn.extend(std::iter::repeat_n(kind, times));
    }
    if urn.is_empty() {
        urn.extend(allowed);
    }
    let gap = lease * chance.one_of(&[1, 2, 4, 8]) / 2;
    let mut found = Vec::new();
    let mut at = chance.about(gap);
    while at < lasts {
        let kind = chance.one_of(&urn);
        found.push((at, draw_one(kind, n, lease, chance)));
        at += chance.about(gap) + 1;
    }
    found
}

fn draw_one(kind: usize, n: usize, lease: u64, chance: &mut Chance) -> Fault {
    let site = SiteId::new(chance.place(n));
    match kind {
        0 if n > 1 => {
            let other = (site.index() + 1 + chance.place(n - 1)) % n;
            Fault::Reset(site, SiteId::new(other))
        }
        1 | 2 => {
            let mut from: Vec<SiteId> = SiteId::all(n).filter(|_| chance.percent(50)).collect();
            if from.is_empty() || from.len() == n || chance.percent(30) {
                from = vec![site];
            }
            Fault::Partition { from, both_ways: kind == 1, lasts: chance.spell(lease) }
        }
        0 | 3 => Fault::SlowPackets(chance.spell(lease)),
        4 => Fault::Pause(site, chance.spell(lease)),
        5 | 6 => Fault::Crash { site, reboot: kind == 6, lasts: chance.spell(lease) },
        _ => Fault::SlowDisk(site, chance.spell(lease)),
    }
}

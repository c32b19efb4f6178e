//! The faults of a run, drawn from the seed or listed.

use std::fmt;
use std::str::FromStr;

use quorate_quorum::SiteId;

use crate::chance::Chance;

/// The faults that a seed may draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Faults {
    /// None: messages are only delayed.
    None,
    /// Resets, partitions, slow packets; of clients, resets and cuts.
    Network,
    /// Crashes, pauses, slow disks, orderly stops; of clients, crashes, pauses and stops.
    Crashes,
    /// A minority of the sites crashes, together or one by one, and stays down; nothing else
    /// happens. Holders stay for long.
    Minority,
    /// All of them.
    #[default]
    All,
    /// The same, two sites that do not reach each other, and disks that are wiped, older than
    /// before, another site's, or copied.
    Disks,
}

impl Faults {
    /// The names of these sets, as options spell them.
    pub const NAMES: [&'static str; 6] = ["none", "network", "crashes", "minority", "all", "disks"];
}

impl FromStr for Faults {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "none" => Ok(Faults::None),
            "network" => Ok(Faults::Network),
            "crashes" => Ok(Faults::Crashes),
            "minority" => Ok(Faults::Minority),
            "all" => Ok(Faults::All),
            "disks" => Ok(Faults::Disks),
            _ => Err(format!("unknown faults `{name}`; known: {}", Faults::NAMES.join(", "))),
        }
    }
}

/// A fault. Times are in nanoseconds of true time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A connection breaks: both ends are notified, each at its own time.
    Reset(SiteId, SiteId),
    /// No packets get from the first sites to the others for so long, nor back if it is both ways.
    Partition {
        /// The sites whose packets are blocked.
        from: Vec<SiteId>,
        /// Whether packets to them are blocked too.
        both_ways: bool,
        /// For how long.
        lasts: u64,
    },
    /// No packets get from the first site to the second or back for so long; both reach others.
    CutLink(SiteId, SiteId, u64),
    /// No packets get from the first site to the second for so long; those of the second arrive.
    CutWay(SiteId, SiteId, u64),
    /// Packets take twenty times as long, for so long.
    SlowPackets(u64),
    /// A site is paused for so long. Its clock runs on.
    Pause(SiteId, u64),
    /// A site crashes, and starts again after so long.
    Crash {
        /// The site.
        site: SiteId,
        /// Whether its machine restarts too: then its clock starts anew, and its peers and remote
        /// clients are not notified. Embedded clients are gone either way.
        reboot: bool,
        /// When it starts again.
        lasts: u64,
    },
    /// The site at which the first resource is held crashes, but not its machine.
    CrashHolder(u64),
    /// Writes to a site's disk take very long, for so long.
    SlowDisk(SiteId, u64),
    /// A site is told to stop within the first time, stops when nobody needs it any more, and
    /// starts again after the second.
    Drain {
        /// The site.
        site: SiteId,
        /// When it stops at the latest.
        within: u64,
        /// When it starts again.
        lasts: u64,
    },
    /// The connection of a remote client breaks: both ends are notified, each at its own time.
    /// Remote clients are numbered from 0.
    ClientReset(usize),
    /// No packets get from a client to its present site, or back, or both, for so long.
    ClientCut {
        /// The client.
        client: usize,
        /// Which ways are cut.
        cut: Cut,
        /// For how long.
        lasts: u64,
    },
    /// A client is paused for so long. Its clock runs on.
    ClientPause(usize, u64),
    /// A client process crashes, with its callers; another one replaces it after so long.
    ClientCrash(usize, u64),
    /// A client process releases the locks of its callers and ends soon; another one replaces it
    /// after so long.
    ClientStop(usize, u64),
    /// A site crashes, and starts again after so long with another disk.
    Disk {
        /// The site.
        site: SiteId,
        /// What happens to its disk.
        damage: Damage,
        /// When it starts again.
        lasts: u64,
    },
    /// A copy of a site's disk, which may be an older one, is started as a second process of that
    /// site for so long. The first process goes on, if it runs.
    Copy {
        /// The site.
        site: SiteId,
        /// Whether the copy was made earlier.
        older: bool,
        /// For how long the copy runs.
        lasts: u64,
    },
}

/// What happens to a disk while its site is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It is empty.
    Wiped,
    /// It is an older copy of its own.
    Older,
    /// It is the disk of another site.
    Swapped,
}

/// Which ways between a client and its site are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Both. Either end may give the connection up.
    BothWays,
    /// Packets from the client. Either end may give the connection up.
    FromClient,
    /// Packets from its site. Either end may give the connection up.
    ToClient,
    /// Packets from its site: the client does not read. Neither end gives the connection up.
    Unread,
}

impl Fault {
    /// The kinds of faults, as they are counted.
    pub const KINDS: [&'static str; 22] = [
        "reset",
        "partition",
        "one-way partition",
        "slow packets",
        "pause",
        "crash",
        "reboot",
        "slow disk",
        "client reset",
        "client cut off",
        "client one-way cut",
        "client does not read",
        "client pause",
        "client crash",
        "client stop",
        "drain",
        "wiped disk",
        "older disk",
        "swapped disk",
        "copied disk",
        "cut link",
        "cut way",
    ];

    /// The index of its kind in [`Fault::KINDS`].
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
            Fault::ClientReset(_) => 8,
            Fault::ClientCut { cut: Cut::BothWays, .. } => 9,
            Fault::ClientCut { cut: Cut::FromClient | Cut::ToClient, .. } => 10,
            Fault::ClientCut { cut: Cut::Unread, .. } => 11,
            Fault::ClientPause(..) => 12,
            Fault::ClientCrash(..) => 13,
            Fault::ClientStop(..) => 14,
            Fault::Drain { .. } => 15,
            Fault::Disk { damage: Damage::Wiped, .. } => 16,
            Fault::Disk { damage: Damage::Older, .. } => 17,
            Fault::Disk { damage: Damage::Swapped, .. } => 18,
            Fault::Copy { .. } => 19,
            Fault::CutLink(..) => 20,
            Fault::CutWay(..) => 21,
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
            Fault::CutLink(a, b, lasts) => {
                write!(f, "{a} and {b} do not reach each other for {} ms", ms(lasts))
            }
            Fault::CutWay(a, b, lasts) => {
                write!(f, "{a} does not reach {b} for {} ms", ms(lasts))
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
            Fault::Drain { site, within, lasts } => {
                write!(f, "{site} stops within {} ms, for {} ms", ms(within), ms(lasts))
            }
            Fault::ClientReset(client) => write!(f, "the connection of c{} breaks", client + 1),
            Fault::ClientCut { client, cut, lasts } => {
                let how = match cut {
                    Cut::BothWays => "is cut off",
                    Cut::FromClient => "is not heard",
                    Cut::ToClient => "hears nothing",
                    Cut::Unread => "does not read",
                };
                write!(f, "c{} {how} for {} ms", client + 1, ms(lasts))
            }
            Fault::ClientPause(client, lasts) => {
                write!(f, "c{} pauses for {} ms", client + 1, ms(lasts))
            }
            Fault::ClientCrash(client, lasts) => {
                write!(f, "c{} crashes for {} ms", client + 1, ms(lasts))
            }
            Fault::ClientStop(client, lasts) => {
                write!(f, "c{} stops for {} ms", client + 1, ms(lasts))
            }
            Fault::Disk { site, damage, lasts } => {
                let how = match damage {
                    Damage::Wiped => "an empty disk",
                    Damage::Older => "an older copy of its disk",
                    Damage::Swapped => "the disk of another site",
                };
                write!(f, "{site} crashes, and starts with {how} in {} ms", ms(lasts))
            }
            Fault::Copy { site, older, lasts } => {
                let which = if *older { "an older copy" } else { "a copy" };
                write!(f, "{which} of {site} runs for {} ms", ms(lasts))
            }
        }
    }
}

/// The sites and clients that faults happen to, and the time for faults.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// How many sites there are, and how many of them may fail, whichever they are.
    pub(super) sites: usize,
    pub(super) spare: usize,
    /// How many remote clients there are.
    pub(super) clients: usize,
    /// The length of a lease.
    pub(super) lease: u64,
    /// For how long faults happen.
    pub(super) lasts: u64,
}

/// Draws the faults of a run, of sites and of clients.
pub(super) fn draw(faults: Faults, scope: Scope, chance: &mut Chance) -> Vec<(u64, Fault)> {
    let (of_sites, of_clients): (&[usize], &[usize]) = match faults {
        Faults::None => return Vec::new(),
        Faults::Minority => return draw_minority(scope, chance),
        Faults::Network => (&[0, 1, 2, 3], &[8, 9, 10, 11]),
        Faults::Crashes => (&[4, 5, 6, 7, 15], &[12, 13, 14]),
        Faults::All | Faults::Disks => (&[0, 1, 2, 3, 4, 5, 6, 7, 15], &[8, 9, 10, 11, 12, 13, 14]),
    };
    let mut found = draw_kinds(of_sites, scope, chance);
    if faults == Faults::Disks {
        found.extend(draw_kinds(&[16, 17, 18, 19, 20], scope, chance));
    }
    if scope.clients > 0 {
        found.extend(draw_kinds(of_clients, scope, chance));
    }
    found
}

/// Draws the crashes of as many sites as the others can do without.
fn draw_minority(scope: Scope, chance: &mut Chance) -> Vec<(u64, Fault)> {
    let mut sites: Vec<usize> = (0..scope.sites).collect();
    let count = if scope.spare == 0 { 0 } else { 1 + chance.place(scope.spare) };
    let (together, at) = (chance.percent(50), chance.below(scope.lasts));
    let crash = |_| {
        let site = SiteId::new(sites.swap_remove(chance.place(sites.len())));
        let at = if together { at } else { chance.below(scope.lasts) };
        (at, Fault::Crash { site, reboot: chance.percent(50), lasts: 2 * scope.lasts })
    };
    (0..count).map(crash).collect()
}

/// Draws faults of these kinds, in order of time.
///
/// The frequency of each kind differs from seed to seed: many faults of one kind show errors that a
/// few of each do not.
fn draw_kinds(allowed: &[usize], scope: Scope, chance: &mut Chance) -> Vec<(u64, Fault)> {
    let mut urn: Vec<usize> = Vec::new();
    for &kind in allowed {
        let times = chance.one_of(&[0, 1, 1, 4]);
        urn.extend(std::iter::repeat_n(kind, times));
    }
    if urn.is_empty() {
        urn.extend(allowed);
    }
    let gap = scope.lease * chance.one_of(&[1, 2, 4, 8]) / 2;
    let mut found = Vec::new();
    let mut at = chance.about(gap);
    while at < scope.lasts {
        let kind = chance.one_of(&urn);
        let fault = match kind {
            0..8 | 15 | 20 => draw_one(kind, scope, chance),
            8..15 => draw_client(kind, scope, chance),
            _ => draw_disk(kind, scope, chance),
        };
        found.push((at, fault));
        at += chance.about(gap) + 1;
    }
    found
}

fn draw_one(kind: usize, scope: Scope, chance: &mut Chance) -> Fault {
    let Scope { sites: n, lease, .. } = scope;
    let site = SiteId::new(chance.place(n));
    match kind {
        0 | 20 if n > 1 => {
            let other = SiteId::new((site.index() + 1 + chance.place(n - 1)) % n);
            match kind {
                0 => Fault::Reset(site, other),
                _ => Fault::CutLink(site, other, 2 * chance.spell(lease)),
            }
        }
        1 | 2 => {
            let mut from: Vec<SiteId> = SiteId::all(n).filter(|_| chance.percent(50)).collect();
            if from.is_empty() || from.len() == n || chance.percent(30) {
                from = vec![site];
            }
            Fault::Partition { from, both_ways: kind == 1, lasts: chance.spell(lease) }
        }
        0 | 3 | 20 => Fault::SlowPackets(chance.spell(lease)),
        4 => Fault::Pause(site, chance.spell(lease)),
        15 => {
            let (within, lasts) = (chance.below(4 * lease), chance.spell(lease));
            Fault::Drain { site, within, lasts }
        }
        5 | 6 => Fault::Crash { site, reboot: kind == 6, lasts: chance.spell(lease) },
        _ => Fault::SlowDisk(site, chance.spell(lease)),
    }
}

fn draw_disk(kind: usize, scope: Scope, chance: &mut Chance) -> Fault {
    let site = SiteId::new(chance.place(scope.sites));
    let lasts = chance.spell(scope.lease);
    let damage = match kind {
        16 => Damage::Wiped,
        17 => Damage::Older,
        18 => Damage::Swapped,
        _ => return Fault::Copy { site, older: chance.percent(50), lasts: 4 * lasts },
    };
    Fault::Disk { site, damage, lasts }
}

fn draw_client(kind: usize, scope: Scope, chance: &mut Chance) -> Fault {
    let client = chance.place(scope.clients);
    let lasts = chance.spell(scope.lease);
    let cut = match kind {
        9 => Cut::BothWays,
        10 => chance.one_of(&[Cut::FromClient, Cut::ToClient]),
        _ => Cut::Unread,
    };
    match kind {
        8 => Fault::ClientReset(client),
        9..=11 => Fault::ClientCut { client, cut, lasts },
        12 => Fault::ClientPause(client, lasts),
        13 => Fault::ClientCrash(client, lasts),
        _ => Fault::ClientStop(client, lasts),
    }
}

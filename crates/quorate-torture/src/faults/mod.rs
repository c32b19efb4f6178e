//! Faults: each is a list of actions at times, drawn from a seed before anything runs.

mod network;
mod process;

use std::fmt::{self, Display};
use std::str::FromStr;
use std::time::Duration;

use crate::chance::Chance;
use crate::network::rules::{Node, Rule};

/// Something that is done to the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// SIGKILL to a site.
    Kill(usize),
    /// SIGTERM to a site.
    Terminate(usize),
    /// Starts a site, if it does not run.
    Start(usize),
    /// SIGSTOP to a site.
    Pause(usize),
    /// SIGCONT to a site.
    Resume(usize),
    /// SIGKILL to a thin client, or SIGSTOP, and their ends.
    KillClient(usize),
    StartClient(usize),
    PauseClient(usize),
    ResumeClient(usize),
    /// SIGKILL to a `quorate lock` at work.
    KillCommand,
    /// Replaces what the router does for this fault.
    Network(Vec<Rule>),
    /// Lets a disk write only a few times in a second, or as fast as it can.
    SlowDisk(usize),
    FastDisk(usize),
    /// Fills a disk, or makes room again.
    FillDisk(usize),
    EmptyDisk(usize),
    /// Leaves a site hardly any more descriptors than it has, or as many as before.
    FewDescriptors(usize),
    ManyDescriptors(usize),
    /// Takes a site's folder away and starts it with an empty one; then gives it back.
    Wipe(usize),
    Unwipe(usize),
}

/// How large everything is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) sites: usize,
    pub(crate) clients: usize,
    /// Hosts of `quorate lock`.
    pub(crate) commands: usize,
    pub(crate) lease: Duration,
}

impl Setting {
    /// All nodes: sites, then thin clients, then hosts of `quorate lock`.
    pub(crate) fn nodes(&self) -> usize {
        self.sites + self.clients + self.commands
    }

    /// The most sites that the others can do without.
    fn minority(&self) -> usize {
        (self.sites - 1) / 2
    }

    /// So many hundredths of a lease.
    fn leases(&self, hundredths: usize) -> Duration {
        self.lease * u32::try_from(hundredths).unwrap_or(u32::MAX) / 100
    }
}

/// A fault that was drawn: what it is, and what happens when, counted from its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) text: String,
    pub(crate) actions: Vec<(Duration, Action)>,
    /// How long it lasts.
    pub(crate) length: Duration,
}

/// What a fault needs of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// Networks of their own.
    Network,
    /// A file system of its own for each site, of limited size.
    SmallDisk,
    /// The same on a device whose speed can be limited.
    Throttle,
}

/// Declares all faults, with their names and what draws them.
macro_rules! nemeses {
    ($($variant:ident $name:literal $needs:ident $draw:path: $about:literal,)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Nemesis { $($variant,)* }

        impl Nemesis {
            pub(crate) const ALL: &[Nemesis] = &[$(Nemesis::$variant,)*];

            /// Its name on the command line and in reports.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Nemesis::$variant => $name,)* }
            }

            /// A sentence about it.
            pub(crate) fn about(self) -> &'static str {
                match self { $(Nemesis::$variant => $about,)* }
            }

            pub(crate) fn needs(self) -> Needs {
                match self { $(Nemesis::$variant => Needs::$needs,)* }
            }

            /// Draws a fault of this kind.
            pub(crate) fn draw(self, setting: &Setting, chance: &mut Chance) -> Fault {
                match self { $(Nemesis::$variant => $draw(setting, chance),)* }
            }
        }
    };
}

nemeses! {
    Kill "kill" Nothing process::kill: "one site is killed, and started again",
    KillMinority "kill-minority" Nothing process::kill_minority:
        "as many as the others can do without",
    KillAll "kill-all" Nothing process::kill_all: "all sites are killed at once",
    Restart "restart" Nothing process::restart: "one site is asked to stop, and started again",
    Rolling "rolling" Nothing process::rolling: "all sites are restarted, one after the other",
    Flapping "flapping" Nothing process::flapping:
        "one site is killed and started, again and again",
    Pause "pause" Nothing process::pause: "one site sleeps for up to three leases",
    Stutter "stutter" Nothing process::stutter: "one site sleeps half of the time, in short naps",
    ClientKill "client-kill" Nothing process::client_kill: "half of the clients are killed",
    ClientPause "client-pause" Nothing process::client_pause: "half of the clients sleep",
    CommandKill "command-kill" Nothing process::command_kill:
        "`quorate lock` is killed at work, again and again",
    Isolate "isolate" Network network::isolate: "one site reaches no other",
    Minority "minority" Network network::minority: "a partition: a minority, and the others",
    Bridge "bridge" Network network::bridge: "two halves that only one site reaches both of",
    Ring "ring" Network network::ring: "each site reaches only its two neighbours",
    OneWayRing "one-way-ring" Network network::one_way_ring:
        "no site can send to its next neighbour",
    OneWay "one-way" Network network::one_way: "a third of the ways between sites are cut",
    Deaf "deaf" Network network::deaf: "one site can send, and receives nothing",
    Mute "mute" Network network::mute: "one site receives, and cannot send",
    Shifting "shifting" Network network::shifting: "a partition that changes every lease",
    ClientCut "client-cut" Network network::client_cut: "half of the clients reach no site",
    Delay "delay" Network network::delay: "packets take up to a sixth of a lease",
    Reorder "reorder" Network network::reorder: "a third of the packets are overtaken",
    Loss "loss" Network network::loss: "5 to 20 % of the packets are lost",
    Duplicate "duplicate" Network network::duplicate: "a third of the packets come twice",
    Stall "stall" Network network::stall:
        "what one site sends arrives in bursts, half a lease late",
    Reset "reset" Network network::reset: "connections of one site are reset again and again",
    SlowDisk "slow-disk" Throttle process::slow_disk:
        "the disks of most sites take seconds to sync",
    FullDisk "full-disk" SmallDisk process::full_disk: "the disk of one site is full",
    Descriptors "descriptors" Nothing process::descriptors:
        "one site has hardly any descriptors left",
    Wipe "wipe" Nothing process::wipe: "one site starts with an empty folder, and must be refused",
}

impl Display for Nemesis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Nemesis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = Nemesis::ALL.iter().map(|nemesis| nemesis.name()).collect::<Vec<_>>().join(", ");
        let found = Nemesis::ALL.iter().find(|nemesis| nemesis.name() == text).copied();
        found.ok_or_else(|| format!("there is no nemesis `{text}`; take some of {all}"))
    }
}

/// How long a fault lasts: three to six leases.
fn length(setting: &Setting, chance: &mut Chance) -> Duration {
    setting.leases(300 + chance.below(300))
}

/// `site 2`, or `sites 1, 4`, as people count them.
fn names(sites: &[Node]) -> String {
    let numbers: Vec<String> = sites.iter().map(|site| (site + 1).to_string()).collect();
    let noun = if sites.len() == 1 { "site" } else { "sites" };
    format!("{noun} {}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Setting =
        Setting { sites: 5, clients: 4, commands: 2, lease: Duration::from_secs(1) };

    #[test]
    fn a_seed_draws_the_same_faults_again() {
        for nemesis in Nemesis::ALL {
            let draw = || nemesis.draw(&SETTING, &mut Chance::new(9));
            assert_eq!(draw(), draw(), "{nemesis}");
        }
    }

    #[test]
    fn no_action_comes_after_the_end_of_its_fault() {
        for nemesis in Nemesis::ALL {
            for seed in 0..50 {
                for sites in [1, 2, 3, 5, 7] {
                    let setting = Setting { sites, ..SETTING };
                    let fault = nemesis.draw(&setting, &mut Chance::new(seed));
                    let late = fault.actions.iter().find(|(at, _)| *at > fault.length);
                    assert_eq!(late, None, "{nemesis}");
                }
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for nemesis in Nemesis::ALL {
            assert_eq!(nemesis.name().parse(), Ok(*nemesis));
        }
    }
}

//! All processes of a run, and what is done to them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::namespaces;
use crate::chance::Chance;
use crate::client::storage;
use crate::clients::{Client, Commands, Common};
use crate::disk::{Disk, Disks};
use crate::faults::{Action, Needs, Setting};
use crate::history::{Recorder, What};
use crate::network::launch::Host;
use crate::network::rules::{Node, Rules};
use crate::network::{Isolation, address, router};
use crate::options::Options;
use crate::schedule::Step;
use crate::site::{Programs, Site};

/// How often memory and descriptors are looked at.
const SAMPLE: Duration = Duration::from_millis(500);
/// The largest offset of a clock: about eleven days.
const OFFSET_SECONDS: usize = 1_000_000;

/// All processes of a run.
#[derive(Debug)]
pub(crate) struct World {
    isolation: Isolation,
    disks: Disks,
    sites: Vec<Site>,
    clients: Vec<Client>,
    commands: Vec<Commands>,
    common: Common,
    rules: Arc<Mutex<Rules>>,
    chance: Chance,
    sampled: Instant,
}

impl World {
    /// Prepares everything, and starts no site or client.
    pub(crate) fn new(
        folder: &Path,
        options: &Options,
        isolation: Isolation,
        recorder: Recorder,
    ) -> io::Result<Self> {
        let setting = options.setting();
        let mut chance = Chance::new(options.seed.wrapping_add(0x5eed));
        let rules = Arc::new(Mutex::new(Rules::default()));
        if isolation.network {
            router::start(Arc::clone(&rules), options.seed)?;
        }
        let disks = if options.inside {
            Disks::probe(folder, &namespaces::group())
        } else {
            Disks::Folders
        };
        let mut host = |node: Node, cgroup: Option<PathBuf>| {
            let seconds = u64::try_from(chance.below(OFFSET_SECONDS)).unwrap_or(0) + 1;
            let offset = if isolation.time { Duration::from_secs(seconds) } else { Duration::ZERO };
            Host { node, isolation, offset, cgroup }
        };
        let mut sites = Vec::new();
        for node in 0..setting.sites {
            let name = format!("site-{}", node + 1);
            let disk = disks.make(&folder.join(&name), &namespaces::group().join(&name))?;
            let config = folder.join(format!("{name}.toml"));
            fs::write(&config, configuration(node, &setting, &options.pool, isolation, &disk))?;
            let log = folder.join("logs").join(format!("{name}.log"));
            sites.push(Site::new(name, host(node, disk.group()), disk, config, log));
        }
        let clients = (0..setting.clients).map(|number| {
            let seed = options.seed.wrapping_mul(7919).wrapping_add(1000 * number as u64);
            Client::new(number, host(setting.sites + number, None), seed)
        });
        let clients = clients.collect();
        let commands = (0..setting.commands).map(|number| {
            let seed = options.seed.wrapping_mul(104_729).wrapping_add(number as u64);
            Commands::new(number, host(setting.sites + setting.clients + number, None), seed)
        });
        let commands = commands.collect();
        let common = common(folder, options, isolation, recorder)?;
        storage::serve(&common.storage)?;
        let sampled = Instant::now();
        let chance = Chance::new(options.seed);
        Ok(Self { isolation, disks, sites, clients, commands, common, rules, chance, sampled })
    }

    /// Whether a fault that needs this is possible.
    pub(crate) fn allows(&self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::Network => self.isolation.network,
            Needs::SmallDisk => self.disks >= Disks::Small,
            Needs::Throttle => self.disks >= Disks::Throttled,
        }
    }

    /// Starts all processes.
    pub(crate) fn start(&mut self) -> io::Result<()> {
        for site in &mut self.sites {
            site.start(&self.common.programs)?;
        }
        for client in &mut self.clients {
            client.start(&self.common)?;
        }
        Ok(())
    }

    /// Kills all processes.
    pub(crate) fn stop(&mut self) {
        for client in &mut self.clients {
            client.kill(&self.common.recorder);
        }
        self.commands.iter_mut().for_each(Commands::kill);
        self.sites.iter_mut().for_each(Site::kill);
    }

    /// Unmounts the disks, and removes them.
    pub(crate) fn remove_disks(&self) -> io::Result<()> {
        self.sites.iter().try_for_each(|site| self.disks.remove(&site.disk))
    }

    /// Looks after processes: starts the next `quorate lock`, notices those that ended.
    pub(crate) fn tend(&mut self) {
        let recorder = self.common.recorder.clone();
        for commands in &mut self.commands {
            report("quorate lock", commands.check(&self.common));
        }
        for client in &mut self.clients {
            if let Some((who, status)) = client.check() {
                recorder.record(&who, What::Ended);
                recorder.record(&who, What::Exited { status });
                report("a client", client.start(&self.common));
            }
        }
        if self.sampled.elapsed() < SAMPLE {
            return;
        }
        self.sampled = Instant::now();
        for site in &mut self.sites {
            if let Some(status) = site.check() {
                recorder.record(&site.name, What::Exited { status });
            }
            site.sample(&recorder);
        }
    }

    /// Does a step of the schedule.
    pub(crate) fn perform(&mut self, step: &Step) {
        let recorder = self.common.recorder.clone();
        match step {
            Step::Begin { fault, nemesis, text } => {
                let (name, text) = (nemesis.name().to_owned(), text.clone());
                recorder.record("torture", What::Begins { fault: *fault, name, text });
            }
            Step::Act(fault, action) => {
                report(&format!("{action:?}"), self.act(*fault, action));
            }
            Step::End(fault) => {
                self.rules().clear(*fault);
                recorder.record("torture", What::Ends { fault: *fault });
            }
            Step::Heal { last } => {
                self.heal();
                recorder.record("torture", What::Healed { last: *last });
            }
        }
    }

    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn act(&mut self, fault: usize, action: &Action) -> io::Result<()> {
        let (programs, recorder) = (&self.common.programs, &self.common.recorder);
        match action {
            Action::Kill(site) => self.sites[*site].kill(),
            Action::Terminate(site) => self.sites[*site].terminate(),
            Action::Start(site) => self.sites[*site].start(programs)?,
            Action::Pause(site) => self.sites[*site].signal(Signal::SIGSTOP),
            Action::Resume(site) => self.sites[*site].signal(Signal::SIGCONT),
            Action::KillClient(client) => self.clients[*client].kill(recorder),
            Action::StartClient(client) => self.clients[*client].start(&self.common)?,
            Action::PauseClient(client) => self.clients[*client].pause(true, recorder),
            Action::ResumeClient(client) => self.clients[*client].pause(false, recorder),
            Action::KillCommand => {
                let chosen = self.chance.below(self.commands.len());
                self.commands.iter_mut().skip(chosen).take(1).for_each(Commands::kill);
            }
            Action::Network(rules) => self.rules().set(fault, rules.clone()),
            Action::SlowDisk(site) => self.sites[*site].slow_disk(true)?,
            Action::FastDisk(site) => self.sites[*site].slow_disk(false)?,
            Action::FillDisk(site) => self.sites[*site].disk.fill()?,
            Action::EmptyDisk(site) => self.sites[*site].disk.empty()?,
            Action::FewDescriptors(site) => self.sites[*site].limit_descriptors(true)?,
            Action::ManyDescriptors(site) => self.sites[*site].limit_descriptors(false)?,
            Action::Wipe(site) => self.sites[*site].wipe(programs)?,
            Action::Unwipe(site) => {
                let site = &mut self.sites[*site];
                if let Some(refused) = site.unwipe(programs)? {
                    recorder.record(&site.name, What::Refused { refused });
                }
            }
        }
        Ok(())
    }

    /// Mends everything: networks, disks, folders, descriptors; and everybody runs.
    fn heal(&mut self) {
        self.rules().clear_all();
        for site in 0..self.sites.len() {
            for action in [
                Action::FastDisk(site),
                Action::EmptyDisk(site),
                Action::Unwipe(site),
                Action::ManyDescriptors(site),
                Action::Resume(site),
            ] {
                report(&format!("{action:?}"), self.act(0, &action));
            }
            let site = &mut self.sites[site];
            if let Some(status) = site.check() {
                self.common.recorder.record(&site.name, What::Exited { status });
            }
            report("a site", site.ensure(&self.common.programs));
        }
        for client in &mut self.clients {
            client.pause(false, &self.common.recorder);
            report("a client", client.start(&self.common));
        }
    }
}

/// Says that something could not be done; the run goes on.
fn report(what: &str, result: io::Result<()>) {
    if let Err(error) = result {
        eprintln!("{what}: {error}");
    }
}

fn common(
    folder: &Path,
    options: &Options,
    isolation: Isolation,
    recorder: Recorder,
) -> io::Result<Common> {
    let torture = std::env::current_exe()?;
    let beside = torture.with_file_name("quorate");
    let quorate = options.quorate.clone().unwrap_or(beside).canonicalize();
    let quorate =
        quorate.map_err(|error| io::Error::other(format!("no program `quorate`: {error}")))?;
    let setting = options.setting();
    let addresses: Vec<String> =
        (0..setting.sites).map(|node| format!("{}:7420", address(node, isolation))).collect();
    // A path in the folder may be too long for a socket.
    let private = if isolation.network { Path::new("/run") } else { folder };
    Ok(Common {
        programs: Programs { torture, quorate },
        recorder,
        connect: addresses.join(","),
        storage: private.join("storage"),
        kinds: options.kinds(),
        lease: setting.lease,
        stubborn: options.control,
        logs: folder.join("logs"),
    })
}

/// The configuration of a site.
fn configuration(
    node: Node,
    setting: &Setting,
    pool: &str,
    isolation: Isolation,
    disk: &Disk,
) -> String {
    let addresses: Vec<String> =
        (0..setting.sites).map(|node| format!("\"{}:7420\"", address(node, isolation))).collect();
    format!(
        "cluster = \"torture\"\nsite = {}\nsites = [{}]\ndata = \"{}\"\nlease_ms = {}\n\
         pool = \"{pool}\"\ndrain = \"{}ms\"\ninsecure = true\n",
        node + 1,
        addresses.join(", "),
        disk.data().display(),
        setting.lease.as_millis(),
        setting.lease.as_millis() * 2
    )
}

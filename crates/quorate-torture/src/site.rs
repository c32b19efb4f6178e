//! Sites: real `quorate serve` processes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::process::{Resource, getrlimit, prlimit};

use crate::disk::Disk;
use crate::history::{Recorder, What};
use crate::network::launch::Host;

/// The programs that are run.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    pub(crate) torture: PathBuf,
    pub(crate) quorate: PathBuf,
}

/// A site: its host, its disk, and its process if it runs.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) host: Host,
    pub(crate) disk: Disk,
    config: PathBuf,
    log: PathBuf,
    process: Option<Child>,
    slow: bool,
    /// Whether it was asked to stop.
    stopping: bool,
    /// The length of its log when its folder was wiped.
    wiped_at: Option<u64>,
}

impl Site {
    pub(crate) fn new(name: String, host: Host, disk: Disk, config: PathBuf, log: PathBuf) -> Self {
        Self {
            name,
            host,
            disk,
            config,
            log,
            process: None,
            slow: false,
            stopping: false,
            wiped_at: None,
        }
    }

    /// Starts it. If it runs still, for example because it drains, it is killed before.
    pub(crate) fn start(&mut self, programs: &Programs) -> io::Result<()> {
        self.kill();
        let log = OpenOptions::new().create(true).append(true).open(&self.log)?;
        let mut command = self.host.command(&programs.torture, &programs.quorate);
        command.args(["serve", "--config"]).arg(&self.config);
        command.env("QUORATE_LOG", "info").env("RUST_BACKTRACE", "1");
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.process = Some(command.spawn()?);
        self.stopping = false;
        Ok(())
    }

    /// Starts it, if it does not run.
    pub(crate) fn ensure(&mut self, programs: &Programs) -> io::Result<()> {
        if self.process.is_some() { Ok(()) } else { self.start(programs) }
    }

    /// Kills it, and waits until it is gone: a disk that holds it up is made fast meanwhile.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            self.disk.slow(false).ok();
            process.kill().ok();
            process.wait().ok();
            self.disk.slow(self.slow).ok();
        }
    }

    /// Makes its disk slow, or as fast as it is.
    pub(crate) fn slow_disk(&mut self, slow: bool) -> io::Result<()> {
        self.slow = slow;
        self.disk.slow(slow)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            kill(Pid::from_raw(pid), signal).ok();
        }
    }

    /// The process, if one was started and has not been waited for.
    fn pid(&self) -> Option<i32> {
        self.process.as_ref().and_then(|process| i32::try_from(process.id()).ok())
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&mut self) {
        self.stopping = true;
        self.signal(Signal::SIGTERM);
    }

    /// Notices that it has ended by itself, and says how.
    pub(crate) fn check(&mut self) -> Option<String> {
        let status = self.process.as_mut()?.try_wait().ok()??;
        self.process = None;
        (!self.stopping || !status.success()).then(|| status.to_string())
    }

    /// Leaves it two descriptors more than it has, or as many as it may have.
    pub(crate) fn limit_descriptors(&self, few: bool) -> io::Result<()> {
        let Some(pid) = self.pid() else { return Ok(()) };
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = if few { self.descriptors().map(|count| count + 2) } else { limit.maximum };
        prlimit(rustix::process::Pid::from_raw(pid), Resource::Nofile, limit)?;
        Ok(())
    }

    fn descriptors(&self) -> Option<u64> {
        let open = fs::read_dir(format!("/proc/{}/fd", self.pid()?)).ok()?;
        u64::try_from(open.count()).ok()
    }

    /// Records its memory and descriptors.
    pub(crate) fn sample(&self, recorder: &Recorder) {
        let read = || {
            let status = fs::read_to_string(format!("/proc/{}/status", self.pid()?)).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
            let kilobytes = line.trim().trim_end_matches("kB").trim().parse().ok()?;
            Some(What::Sampled { kilobytes, descriptors: self.descriptors()? })
        };
        if let Some(sample) = read() {
            recorder.record(&self.name, sample);
        }
    }

    /// Starts it with an empty folder.
    pub(crate) fn wipe(&mut self, programs: &Programs) -> io::Result<()> {
        self.kill();
        let wiped = self.disk.wipe();
        if wiped.is_ok() {
            self.wiped_at = Some(fs::metadata(&self.log)?.len());
        }
        self.start(programs)?;
        wiped
    }

    /// Gives its folder back and starts it. Says whether the others refused it meanwhile.
    pub(crate) fn unwipe(&mut self, programs: &Programs) -> io::Result<Option<bool>> {
        let Some(from) = self.wiped_at.take() else { return Ok(None) };
        self.kill();
        let joined = self.log_since(from)?.contains("joined the cluster");
        self.disk.unwipe()?;
        self.start(programs)?;
        Ok(Some(!joined))
    }

    fn log_since(&self, from: u64) -> io::Result<String> {
        let mut file = File::open(&self.log)?;
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

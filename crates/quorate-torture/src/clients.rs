//! Client processes: thin clients, and runs of `quorate lock`.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::chance::Chance;
use crate::client::claims::{Claim, Wait, Wish};
use crate::history::{Recorder, What};
use crate::network::launch::Host;
use crate::share::Kind;
use crate::site::Programs;

/// What all clients have in common.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) programs: Programs,
    pub(crate) recorder: Recorder,
    /// The addresses of all sites.
    pub(crate) connect: String,
    pub(crate) storage: PathBuf,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) lease: Duration,
    pub(crate) stubborn: bool,
    /// The folder of logs.
    pub(crate) logs: PathBuf,
}

impl Common {
    fn log(&self, name: &str) -> io::Result<Stdio> {
        let path = self.logs.join(format!("{name}.log"));
        Ok(OpenOptions::new().create(true).append(true).open(path)?.into())
    }

    /// Records every line that a process prints, until it ends.
    fn listen(&self, output: impl Read + Send + 'static) -> thread::JoinHandle<()> {
        let recorder = self.recorder.clone();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                recorder.record_line(&line);
            }
        })
    }
}

/// A thin client. Each of its lives is a process with a name of its own.
#[derive(Debug)]
pub(crate) struct Client {
    number: usize,
    host: Host,
    seed: u64,
    life: u32,
    process: Option<Child>,
}

impl Client {
    pub(crate) fn new(number: usize, host: Host, seed: u64) -> Self {
        Self { number, host, seed, life: 0, process: None }
    }

    fn who(&self) -> String {
        format!("client-{}.{}", self.number + 1, self.life)
    }

    /// Starts it, if it does not run.
    pub(crate) fn start(&mut self, common: &Common) -> io::Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        self.life += 1;
        let mut command = self.host.command(&common.programs.torture, &common.programs.torture);
        command.args(["thin", "--who", &self.who(), "--connect", &common.connect]);
        command.args(["--offset", &self.host.offset_argument()]);
        command.args(["--seed", &self.seed.wrapping_add(self.life.into()).to_string()]);
        command.args(["--lease", &common.lease.as_millis().to_string()]);
        let kinds: Vec<&str> = common.kinds.iter().map(|kind| kind.name()).collect();
        command.args(["--kinds", &kinds.join(",")]).arg("--storage").arg(&common.storage);
        if common.stubborn {
            command.arg("--stubborn");
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(common.log(&format!("client-{}", self.number + 1))?);
        let mut child = command.spawn()?;
        if let Some(output) = child.stdout.take() {
            common.listen(output);
        }
        self.process = Some(child);
        Ok(())
    }

    /// Kills it. Its beliefs end before.
    pub(crate) fn kill(&mut self, recorder: &Recorder) {
        if let Some(mut process) = self.process.take() {
            recorder.record(&self.who(), What::Ended);
            process.kill().ok();
            process.wait().ok();
        }
    }

    pub(crate) fn pause(&self, pause: bool, recorder: &Recorder) {
        let pid = self.process.as_ref().and_then(|process| i32::try_from(process.id()).ok());
        let Some(pid) = pid else { return };
        recorder.record(&self.who(), if pause { What::Paused } else { What::Resumed });
        let signal = if pause { Signal::SIGSTOP } else { Signal::SIGCONT };
        kill(Pid::from_raw(pid), signal).ok();
    }

    /// Notices that it has ended by itself, and says how.
    pub(crate) fn check(&mut self) -> Option<(String, String)> {
        let status = self.process.as_mut()?.try_wait().ok()??;
        self.process = None;
        Some((self.who(), status.to_string()))
    }
}

/// A host that runs `quorate lock`, again and again.
#[derive(Debug)]
pub(crate) struct Commands {
    number: usize,
    host: Host,
    chance: Chance,
    runs: u32,
    process: Option<Child>,
}

impl Commands {
    pub(crate) fn new(number: usize, host: Host, seed: u64) -> Self {
        Self { number, host, chance: Chance::new(seed), runs: 0, process: None }
    }

    /// Starts the next one, if the one before has ended.
    pub(crate) fn check(&mut self, common: &Common) -> io::Result<()> {
        let ended = match &mut self.process {
            Some(process) => process.try_wait()?.is_some(),
            None => true,
        };
        if ended { self.start(common) } else { Ok(()) }
    }

    fn start(&mut self, common: &Common) -> io::Result<()> {
        let kind = *self.chance.pick(&common.kinds);
        let mut claim = Claim::draw(kind, common.lease, &mut self.chance);
        if claim.wait == Wait::Forever {
            claim.wait = Wait::Within(common.lease * 8);
        }
        self.runs += 1;
        let host = format!("command-{}", self.number + 1);
        let who = format!("{host}.{}", self.runs);
        let mut command = self.host.command(&common.programs.torture, &common.programs.quorate);
        command.args(claim.arguments()).args(["--connect", &common.connect, "--"]);
        command.arg(&common.programs.torture).args(["command", "--who", &who]);
        command.args(["--offset", &self.host.offset_argument(), "--kind", kind.name()]);
        command.args(["--stay", &claim.stay.as_millis().to_string()]);
        if claim.wish == Wish::Write(true) {
            command.arg("--write");
        }
        command.arg("--storage").arg(&common.storage);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(common.log(&host)?);
        let mut child = command.spawn()?;
        if let Some(output) = child.stdout.take() {
            common.listen(output);
        }
        self.process = Some(child);
        Ok(())
    }

    /// Kills `quorate lock`; its command dies with it.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().ok();
            process.wait().ok();
        }
    }
}

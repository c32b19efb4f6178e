//! The start of a process in a host of its own: it enters its namespaces, and becomes the program.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sched::{CloneFlags, setns, unshare};

use super::Isolation;
use super::router::host;
use super::rules::Node;

/// The flag of a time namespace, which nix does not name.
const NEW_TIME: i32 = 0x80;

/// Enters namespaces and runs a program in place of this one.
#[derive(Debug, clap::Args)]
pub(crate) struct Launch {
    #[arg(long)]
    network: Option<PathBuf>,
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// The control group that limits its disk.
    #[arg(long)]
    cgroup: Option<PathBuf>,
    #[arg(last = true)]
    program: Vec<OsString>,
}

impl Launch {
    /// Becomes the program; returns only if that fails.
    pub(crate) fn run(self) -> Result<(), String> {
        if let Some(cgroup) = &self.cgroup {
            fs::write(cgroup.join("cgroup.procs"), "0").map_err(|e| format!("cgroup: {e}"))?;
        }
        if let Some(network) = &self.network {
            let file = File::open(network).map_err(|error| format!("network: {error}"))?;
            setns(file, CloneFlags::CLONE_NEWNET).map_err(|error| format!("network: {error}"))?;
        }
        if self.offset > 0 {
            enter_time(Duration::from_nanos(self.offset))?;
        }
        let (program, arguments) = self.program.split_first().ok_or("no program")?;
        Err(format!("it cannot be started: {}", Command::new(program).args(arguments).exec()))
    }
}

fn enter_time(offset: Duration) -> Result<(), String> {
    unshare(CloneFlags::from_bits_retain(NEW_TIME)).map_err(|error| format!("time: {error}"))?;
    let (seconds, nanos) = (offset.as_secs(), offset.subsec_nanos());
    let offsets = format!("boottime {seconds} {nanos}\nmonotonic {seconds} {nanos}\n");
    fs::write("/proc/self/timens_offsets", offsets).map_err(|error| format!("time: {error}"))
}

/// Where a process runs: its node, and how far its clock is ahead.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) node: Node,
    pub(crate) isolation: Isolation,
    pub(crate) offset: Duration,
    pub(crate) cgroup: Option<PathBuf>,
}

impl Host {
    /// The offset of its clock in nanoseconds, as an argument.
    pub(crate) fn offset_argument(&self) -> String {
        self.offset.as_nanos().to_string()
    }

    /// A command that will run `program` there. The process that it starts is the program's own.
    pub(crate) fn command(&self, torture: &Path, program: &Path) -> Command {
        let mut command = Command::new(torture);
        command.arg("launch");
        if self.isolation.network {
            command.arg("--network").arg(format!("/run/netns/n{}", host(self.node)));
        }
        if self.isolation.time {
            command.args(["--offset", &self.offset_argument()]);
        }
        if let Some(cgroup) = &self.cgroup {
            command.arg("--cgroup").arg(cgroup);
        }
        command.arg("--").arg(program);
        command
    }
}

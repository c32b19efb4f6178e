//! Namespaces of the whole run: everything that it makes vanishes with it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use super::Verdict;
use crate::network::{self, Isolation};
use crate::options::Options;

/// Where control groups for disks are.
const GROUPS: &str = "/sys/fs/cgroup/blkio";
/// The variable that tells the inner process where its control groups are.
const GROUP_VARIABLE: &str = "QUORATE_TORTURE_GROUP";

/// The control group of this run, below which each site has one.
pub(super) fn group() -> PathBuf {
    env::var_os(GROUP_VARIABLE).map_or_else(|| PathBuf::from(GROUPS).join("none"), PathBuf::from)
}

/// Runs this program again in namespaces of its own, and says how that ended. The outer error
/// says why there are none.
pub(super) fn enter(options: &Options) -> Result<Result<Verdict, String>, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let namespaces = namespaces();
    let tried = Command::new("unshare").args(&namespaces).arg("true").stdin(Stdio::null()).output();
    let tried = tried.map_err(|error| format!("the program `unshare` is missing: {error}"))?;
    if !tried.status.success() {
        let said = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
        return Err(format!("neither root nor user namespaces: {said}"));
    }
    let group = PathBuf::from(GROUPS).join(format!("quorate-torture-{}", process::id()));
    let mut command = Command::new("unshare");
    command.args(&namespaces).arg(&program).args(options.arguments()).arg("--inside");
    command.arg("--out").arg(&options.out).env(GROUP_VARIABLE, &group);
    if options.strict {
        command.arg("--strict");
    }
    if let Some(quorate) = &options.quorate {
        command.arg("--quorate").arg(quorate);
    }
    let status = command.status().map_err(|error| error.to_string())?;
    remove(&group);
    Ok(match status.code() {
        Some(0) => Ok(Verdict::Clean),
        Some(1) => Ok(Verdict::Violated),
        Some(3) => Ok(Verdict::Incomplete),
        _ => Err(format!("the run ended early: {status}")),
    })
}

/// Removes control groups; all their processes have ended.
fn remove(group: &Path) {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        fs::remove_dir(entry.path()).ok();
    }
    fs::remove_dir(group).ok();
}

/// The arguments of unshare.
fn namespaces() -> Vec<&'static str> {
    let mut flags = vec!["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
    if !nix::unistd::geteuid().is_root() {
        flags.extend(["--user", "--map-root-user"]);
    }
    flags
}

/// Makes hosts, if this process may, and says what is missing.
pub(super) fn isolation(options: &Options, missing: &mut Vec<String>) -> Isolation {
    let mut isolation = Isolation { network: false, time: false };
    if !options.inside {
        missing.push("namespaces: sites share one network and one clock".into());
        return isolation;
    }
    match network::make_hosts(options.setting().nodes()) {
        Ok(()) => isolation.network = true,
        Err(error) => missing.push(format!("networks of their own: {error}")),
    }
    isolation.time = network::has_time_namespaces();
    if !isolation.time {
        missing.push("time namespaces: all clocks agree".into());
    }
    isolation
}
